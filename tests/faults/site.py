"""A site: a workspace, model servers, and one or more processes of `moot run`."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot.queue.rows import Posts
from bot.testing import PATIENT_PACE, key_of, quick_workspace
from core.debate.log import fold
from core.debate.state import Debate
from core.errors import StoreError
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import PersonRefusal, Workspace, WorkspaceConfig, run_workspace
from tests.faults.audit import Audit, audit
from tests.faults.machine import Machine
from tests.faults.models import MarkedModels
from tests.postgres import PostgresForTests
from tests.vendors.server import Vendor

CHANNEL, ELSEWHERE = "architecture", "general"
#: Seconds that everything may take on a busy machine.
PATIENCE = 300.0
#: Processes share the machine, so their acknowledgements may be slow.
CONFIG = replace(quick_workspace(), pace=PATIENT_PACE)


@dataclass(kw_only=True)
class Site:
    """People of one workspace, and the machines on which Moot runs for them."""

    workspace: Workspace
    #: The first; those that joined it share its database.
    machine: Machine
    models: MarkedModels
    #: Where the models are asked; its script can be changed.
    vendor: Vendor
    channels: Sequence[str] = (CHANNEL, ELSEWHERE)
    others: list[Machine] = field(default_factory=list[Machine])
    #: Keys of posts that Slack refuses, or refuses to edit, for good.
    refused: frozenset[str] = frozenset()
    #: None: the database is a file.
    server: PostgresForTests | None = None

    @property
    def machines(self) -> Sequence[Machine]:
        return (self.machine, *self.others)

    async def join(self) -> Machine:
        place = self.machine.folder.with_name(f"{self.machine.folder.name}-{len(self.others) + 2}")
        machine = Machine(
            place,
            self.workspace,
            self.machine.models,
            database=self.machine.database,
            turn_seconds=self.machine.turn_seconds,
            cap=self.machine.cap,
        )
        self.others.append(machine)
        await machine.start()
        return machine

    async def typed(self, words: str, user: str = "dana", channel: str = CHANNEL) -> str:
        before = len(self.workspace.ephemeral(user, channel))
        try:
            await self.workspace.command(user, channel, "/debate", words)
        except PersonRefusal as refusal:
            return f"Nobody heard it: {refusal}"
        answers = self.workspace.ephemeral(user, channel)[before:]
        return " ".join(str(message["text"]) for message in answers)

    async def ask(self, question: str, user: str = "dana", channel: str = CHANNEL) -> str:
        before = set(self.boards(channel))
        async with asyncio.timeout(PATIENCE):
            while "begins" not in await self.typed(question, user, channel):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        return (await self.until(lambda: [*set(self.boards(channel)) - before]))[-1]

    def boards(self, channel: str = CHANNEL) -> Sequence[str]:
        messages = self.workspace.messages(channel)
        return [str(message["ts"]) for message in messages if key_of(message).endswith("/board")]

    async def until(self, look: Callable[[], Any]) -> Any:
        async with asyncio.timeout(PATIENCE):
            while not (sight := look()):  # noqa: ASYNC110 - other processes
                await asyncio.sleep(0.1)
        return sight

    async def decided(self, count: int = 1) -> None:
        def are_decided() -> bool:
            messages = [
                message for channel in self.channels for message in self.workspace.messages(channel)
            ]
            return sum(entry.get("subtype") == "thread_broadcast" for entry in messages) >= count

        await self.until(are_decided)

    async def debates(self) -> Sequence[Debate]:
        async with await Database.open_read_only(self.machine.location) as database:
            store = SqlDebateStore(database)
            entries = await store.find(DebateFilter(limit=1000))
            return [fold(await store.events(entry.debate_id)) for entry in entries]

    async def audited(self) -> Audit:
        return (await self.look())[0]

    async def at_rest(self, debates: int = 1) -> Audit:
        """Wait until this many debates have ended and no post is queued; return the audit.

        What never comes is a fault in what is returned.
        """
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                report, waiting = await self.look()
            except StoreError:  # a copy that was made while somebody wrote
                report, waiting = None, 1
            under_way = report and report.unfinished + report.lost + report.stale + waiting
            if report and not under_way and report.debates >= debates:
                return report
            if time.monotonic() > ends:
                return await self.audited()
            await asyncio.sleep(0.3)

    async def stop(self) -> None:
        for machine in self.machines:
            if machine.process:
                await machine.stop()

    async def look(self) -> tuple[Audit, int]:
        async with await Database.open_read_only(self.machine.location) as database:
            # A clock that is not ours cannot say what came first.
            requests = {} if self.machine.has_clock else self.models.asked
            cap = self.machine.cap
            report = await audit(
                database,
                self.workspace,
                self.channels,
                requests,
                cap=cap,
                refused=self.refused,
            )
            return report, await Posts(database).backlog()


@asynccontextmanager
async def at_work(
    folder: Path,
    database: str = "",
    *,
    config: WorkspaceConfig = CONFIG,
    channels: Sequence[str] = (CHANNEL, ELSEWHERE),
    wait: float = 0.3,
    prepare: Callable[[Machine], Awaitable[None]] | None = None,
    **of_machine: Any,
) -> AsyncGenerator[Site]:
    models = MarkedModels(wait=wait)
    async with run_workspace(config) as workspace, Vendor(models) as vendor:
        machine = Machine(
            folder / "machine", workspace, vendor.url, database=database, **of_machine
        )
        site = Site(
            workspace=workspace, machine=machine, models=models, vendor=vendor, channels=channels
        )
        try:
            if prepare:
                await prepare(machine)
            await machine.start()
            yield site
        finally:
            for each in site.machines:
                await each.close()
