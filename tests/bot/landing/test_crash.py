"""The process dies in the midst of a delivery, and several replicas share the queues."""

import asyncio
import os
import sys
from asyncio.subprocess import Process, create_subprocess_exec
from collections import Counter
from pathlib import Path

import pytest

import core.store.tables
from bot.landing.landing_queue import LandingQueue
from bot.running.debate_runner import Heartbeat
from bot.running.replica_debates import PostgresCluster
from bot.store.landings import Landings
from bot.store.tables import prepare
from core.clock import SystemClock
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.testing import ManualClock
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
        async with asyncio.timeout(300):
            await shop.arrived.wait()
        killed.kill()
        await killed.wait()
        first = git(server.bare, "rev-parse", BRANCH)
        shop.awake.set()
        server.answers.set()
        again = await start(database, shop.url, server.url)
        assert await asyncio.wait_for(again.wait(), 300) == 0

        assert git(server.bare, "rev-parse", BRANCH) == first
        assert server.pushes == 1
    seen = Counter(headers["webhook-id"] for headers, _ in shop.seen)
    assert sorted(seen.values()) == [1, 1, 2]
    assert len({body for _, body in shop.seen}) == 3
    assert list(dict.fromkeys(shop.types)) == [
        "debate.started",
        "debate.decided",
        "debate.accepted",
    ]


@pytest.mark.slow
async def test_replicas_share_the_queues_and_each_message_is_sent_once_in_order(
    on_postgres: str,
) -> None:
    beat = Heartbeat(rescue=2, heartbeat=1, stalled=5, poll=1)
    clusters = [PostgresCluster(on_postgres, beat) for _ in range(2)]
    async with open_shop() as shop, await Database.open(on_postgres) as database:
        await core.store.tables.prepare(database)
        await prepare(database)
        offices = list[Office]()
        for cluster in clusters:
            queue = LandingQueue(
                landings=Landings(database),
                store=SqlDebateStore(database),
                receivers={"shop": receiver(a_webhook(shop.url))},
                clock=SystemClock(),
                supervise=cluster.receivers,
            )
            offices.append(Office(queue.store, ManualClock(), queue.landings, queue))
            cluster.remind(queue.look_for_work)
            await cluster.start()
        one, other = offices
        await asyncio.gather(one.debated(), other.debated(debate_id=SECOND))
        await other.decide()
        await one.decide(debate_id=SECOND)
        async with asyncio.timeout(300):
            while (await one.landings.backlog()).waiting:
                await one.queue.clock.sleep(0.05)
        for office, cluster in zip(offices, clusters, strict=True):
            await office.queue.close()
            await cluster.close()

    told = [(message["data"]["debate"], message["type"].split(".")[1]) for message in shop.taken]
    for debate in (FIRST, SECOND):
        assert [what for of, what in told if of == debate] == ["started", "decided", "accepted"]
    assert len(shop.seen) == len(told) == 6
