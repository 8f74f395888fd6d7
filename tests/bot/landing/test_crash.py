"""The process dies in the midst of a delivery, and several replicas share the queues."""

import asyncio
import os
import sys
from asyncio.subprocess import Process, create_subprocess_exec
from collections import Counter
from pathlib import Path

import pytest

import core.store.tables
from bot.store.tables import prepare
from core.store.database import Database
from core.store.debates import SqlDebateStore
from tests.bot.landing import delivering
from tests.bot.landing.git_server import git, running_git_server
from tests.bot.landing.office import FIRST, SECOND, Office
from tests.bot.landing.test_webhooks import a_webhook, open_shop, receiver
from tests.frame.files import ROOT

BRANCH = f"moot/{FIRST}"


async def start(*words: str) -> Process:
    path = os.pathsep.join([str(ROOT), str(ROOT / "packages" / "slack-on-loopback")])
    environment = {"PATH": os.defpath, "PYTHONPATH": path}
    return await create_subprocess_exec(
        sys.executable, str(delivering.__file__), *words, env=environment
    )


@pytest.mark.slow
async def test_a_process_killed_while_it_delivers_loses_nothing_and_pushes_nothing_twice(
    tmp_path: Path,
) -> None:
    database = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with open_shop() as shop, running_git_server(tmp_path) as server:
        shop.awake.clear()
        server.answers.clear()
        killed = await start(database, shop.url, server.url, "begin")
        # The webhook has its request and the repository its commit; Moot knows of neither.
        await asyncio.wait_for(server.pushed.wait(), 300)
        await asyncio.wait_for(shop.arrived.wait(), 300)
        killed.kill()
        await killed.wait()
        first = git(server.bare, "rev-parse", BRANCH)
        shop.awake.set()
        server.answers.set()
        again = await start(database, shop.url, server.url)
        assert await asyncio.wait_for(again.wait(), 300) == 0

        assert git(server.bare, "rev-parse", BRANCH) == first
        assert server.pushes == 1
    counts = Counter(headers["webhook-id"] for headers, _ in shop.seen)
    assert sorted(counts.values()) == [1, 1, 2]
    assert len({body for _, body in shop.seen}) == 3
    names = ["debate.started", "debate.decided", "debate.accepted"]
    assert list(dict.fromkeys(shop.types)) == names


@pytest.mark.slow
async def test_replicas_share_the_queues_and_each_message_is_sent_once_in_order(
    on_postgres: str,
) -> None:
    async with open_shop() as shop, await Database.open(on_postgres) as database:
        await core.store.tables.prepare(database)
        await prepare(database)
        store, shops = SqlDebateStore(database), [receiver(a_webhook(shop.url))]
        here, there = (Office(database, shops, store, owner) for owner in ("this", "that"))
        for office in (here, there):
            await office.queue.outbox.start()
        await asyncio.gather(here.debated(), there.debated(debate_id=SECOND))
        await there.decide()
        await here.decide(debate_id=SECOND)
        await here.settle()
        for office in (here, there):
            await office.queue.outbox.close()

    for debate in (FIRST, SECOND):
        told = [message["type"] for message in shop.taken if message["data"]["debate"] == debate]
        assert told == ["debate.started", "debate.decided", "debate.accepted"]
    assert len(shop.seen) == 6
