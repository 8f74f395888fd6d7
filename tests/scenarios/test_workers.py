"""`moot run --workers 2` as an operator runs it: workers share, die, come back and end together."""

import asyncio
import os
import platform
import re
import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.listeners import answers
from bot.slack.access import SlackSilent
from bot.testing import key_of, quick_workspace
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import QUICK, PersonRefusal, Workspace, WorkspaceConfig, run_workspace
from tests.chaos.audit import Audit, audit
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.scenarios.test_http_mode import without_socket_mode
from tests.vendors.server import Vendor

CHANNEL = "architecture"
#: Seconds that everything may take on a busy machine.
PATIENCE = 60.0
#: Bytes of addresses that glibc keeps for a heap on machines of 64 bits.
HEAP = 64 * 2**20
CONFIG = replace(quick_workspace(), pace=replace(QUICK, ack_seconds=20.0))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]


class Site:
    """A machine on which Moot runs, and the people of one workspace."""

    def __init__(
        self, workspace: Workspace, machine: Machine, models: DrillModels, vendor: Vendor
    ) -> None:
        self.workspace = workspace
        self.machine = machine
        self.models = models
        #: Where the models are asked; its script can be changed.
        self.vendor = vendor

    async def ask(self, question: str, user: str = "dana") -> None:
        """Type a question until somebody hears it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await self.workspace.command(user, CHANNEL, "/debate", question)
                except PersonRefusal:
                    await asyncio.sleep(0.2)
                    continue
                told = [str(one["text"]) for one in self.workspace.ephemeral(user, CHANNEL)]
                # On a busy machine it may be told that it was too late: nothing was done.
                if not told or told[-1] not in {answers.TOO_SLOW, str(SlackSilent())}:
                    return

    async def decided(self, count: int) -> None:
        """Wait until so many debates are decided."""

        def all_decided() -> bool:
            messages = self.workspace.messages(CHANNEL)
            return sum(key_of(one).endswith("/headline") for one in messages) >= count

        await self.workspace.wait_for(all_decided, timeout=PATIENCE)

    async def until(self, is_so: Callable[[Sequence[Mapping[str, Any]]], bool]) -> None:
        """Wait until `/health` says so of its workers."""
        async with asyncio.timeout(PATIENCE):
            while not is_so((await self.machine.health()).get("workers", [])):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.1)

    async def seen(self) -> Audit:
        """What became of the debates."""
        location = self.machine.database or f"sqlite+aiosqlite:///{self.machine.file}"
        async with await Database.look_into(location) as database:
            store = SqlDebateStore(database)
            return await audit(store, self.workspace, [CHANNEL], self.models.asked)


def all_ready(workers: Sequence[Mapping[str, Any]]) -> bool:
    return [one["state"] for one in workers] == ["ready", "ready"]


@asynccontextmanager
async def at_work(
    folder: Path,
    database: str = "",
    *,
    workers: int = 2,
    http: bool = False,
    mcp: bool = False,
    config: WorkspaceConfig = CONFIG,
) -> AsyncGenerator[Site]:
    """Have `moot run` at work for as long as the block lasts; without a server on SQLite."""
    models = DrillModels(wait=0.3)
    async with run_workspace(config) as workspace, Vendor(models) as vendor:
        machine = Machine(folder / "machine", workspace, vendor.url, workers=workers, http=http)
        machine.database, machine.mcp = database, mcp
        try:
            await machine.start()
            yield Site(workspace, machine, models, vendor)
        finally:
            await machine.close()


async def test_two_workers_share_debates_and_one_page_tells_how_each_is(
    on_postgres: str, tmp_path: Path
) -> None:
    async with at_work(tmp_path, on_postgres) as site:
        await site.until(all_ready)
        assert site.workspace.sockets == 2
        await site.ask("Kafka or SQS?")
        await site.ask("Rust or Go?", "alex")
        await site.decided(2)
        health = await site.machine.health()
        heaps = [heaps_of_threads(pid) for pid in site.machine.pids().values()]
        code, _ = await site.machine.stop()
        found = await site.seen()
        lines = site.machine.logged()
    assert (health["code"], health["status"]) == (200, "ok")
    assert [(one["worker"], one["restarts"]) for one in health["workers"]] == [(1, 0), (2, 0)]
    assert code == 0
    assert (found.faults, found.debates) == ({}, 2)
    assert {one["worker"] for one in lines if one["event"] == "running"} == {1, 2}
    assert [one["worker"] for one in lines if one["event"] == "models"] == [1]
    assert heaps == [0, 0] or platform.libc_ver()[0] != "glibc"  # others lay memory out their way


async def test_workers_end_when_their_supervisor_is_killed_and_the_next_one_goes_on(
    on_postgres: str, tmp_path: Path
) -> None:
    async with at_work(tmp_path, on_postgres) as site:
        await site.until(all_ready)
        await site.ask("Kafka or SQS?")
        orphans = list(site.machine.pids().values())
        code, _ = await site.machine.stop(signal.SIGKILL)
        await site.machine.start()  # on the same port, as soon as the orphans let go of it
        await site.decided(1)
        async with asyncio.timeout(PATIENCE):
            while any(map(is_alive, orphans)):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.1)
        sockets = site.workspace.sockets
        await site.machine.stop()
        found = await site.seen()
    assert code == -signal.SIGKILL
    assert sockets == 2
    assert (found.faults, found.debates) == ({}, 1)


async def test_in_http_mode_workers_share_the_port_and_one_that_dies_loses_no_request(
    on_postgres: str, tmp_path: Path
) -> None:
    config = replace(CONFIG, manifest=without_socket_mode().manifest)
    async with at_work(tmp_path, on_postgres, http=True, config=config) as site:
        await site.until(all_ready)
        os.kill(site.machine.pids()[2], signal.SIGKILL)
        await site.until(lambda workers: bool(workers) and not all_ready(workers))
        for number, user in enumerate(("dana", "alex", "sam")):
            await site.workspace.command(user, CHANNEL, "/debate", f"Choice {number}: Rust or Go?")
        await site.until(all_ready)
        health = await site.machine.health()
        await site.decided(3)
        code, _ = await site.machine.stop()
        found = await site.seen()
    assert [(one["worker"], one["restarts"]) for one in health["workers"]] == [(1, 0), (2, 1)]
    assert code == 0
    assert (found.faults, found.debates) == ({}, 3)


async def test_a_token_that_slack_refuses_is_told_once_and_ends_everything(
    on_postgres: str, tmp_path: Path
) -> None:
    models = DrillModels(wait=0)
    async with run_workspace(CONFIG) as workspace, Vendor(models) as vendor:
        machine = Machine(tmp_path / "machine", workspace, vendor.url, workers=2)
        machine.database = on_postgres
        workspace.uninstall()
        said = await machine.moot("run")
    assert said.code == 4
    assert said.text.count("Error: ") == 1
    assert "giving up" in said.text
    assert "Traceback" not in said.text


def heaps_of_threads(pid: int) -> int:
    """Heaps of a process beside its first one: glibc keeps 64 MB of addresses for each."""
    maps = Path(f"/proc/{pid}/maps")
    lines = re.findall(r"(?m)^(\w+)-(\w+) (\S+)", maps.read_text() if maps.exists() else "")
    places = [(int(begin, 16), int(end, 16), rights) for begin, end, rights in lines]
    return sum(
        (used, free) == ("rw-p", "---p") and begin % HEAP == 0 and end == begin + HEAP
        for (begin, _, used), (_, end, free) in pairwise(places)
    )


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Nobody waits for one whose parent is gone where the tests are process 1.
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and re.search(r"^State:\s+Z", status.read_text(), re.MULTILINE))
