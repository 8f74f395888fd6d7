"""Where faults are tried: a workspace, model servers, and `moot run` as a process of its own."""

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import httpx2

from bot.slack.manifest import manifest
from bot.testing import key_of
from core.events import apply
from core.models import Debate, Status
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import QUICK, PersonRefusal, Workspace, WorkspaceConfig, run_workspace
from tests.chaos.audit import Audit, audit
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.postgres import PostgresForTests
from tests.vendors.server import Script, Vendor

CHANNEL, ELSEWHERE = "architecture", "general"
QUESTION = "Kafka or PostgreSQL as our job queue?"
#: Slack waits so many seconds for an answer: nobody may be held up for longer.
SLACK_WAITS = 3.0
#: On a machine with more to do than it has cores everybody waits longer, but not for ever longer.
_BUSIEST = 3.0
_UNHEARD = "nobody heard it"
#: Seconds that everything may take to come to its end on a busy machine.
_PATIENCE = 150.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of trying a fault again."""

    now: str
    mended: bool


@dataclass(frozen=True)
class Ground:
    """What a fault is tried on."""

    #: An empty one of its own.
    folder: Path
    postgres: PostgresForTests


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault that was found once."""

    number: int
    what: str
    #: What was seen then.
    before: str
    attempt: Callable[[Ground], Awaitable[Seen]]


@dataclass(frozen=True, kw_only=True)
class Stand:
    """People of a workspace, and the machine on which Moot runs."""

    workspace: Workspace
    machine: Machine
    models: DrillModels

    async def ask(
        self, question: str = QUESTION, user: str = "dana", channel: str = CHANNEL
    ) -> str:
        """Type a question until somebody hears it; return the board's timestamp."""
        known = set(self.boards(channel))
        async with asyncio.timeout(_PATIENCE):
            while "begins" not in await self.typed(question, user, channel):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        fresh = await self.until(
            lambda: [board for board in self.boards(channel) if board not in known]
        )
        return fresh[-1]

    async def typed(self, words: str, user: str = "dana", channel: str = CHANNEL) -> str:
        """Type `/debate` and these words; return what is told at once."""
        before = len(self.workspace.ephemeral(user, channel))
        try:
            await self.workspace.command(user, channel, "/debate", words)
        except PersonRefusal as refusal:
            return f"{_UNHEARD}: {refusal}"
        return " ".join(
            str(one["text"]) for one in self.workspace.ephemeral(user, channel)[before:]
        )

    async def typed_until_heard(self, words: str, user: str) -> str:
        """Type it again for as long as Slack says that it failed; return what is told then.

        A process that got no time on a busy machine refuses commands, like one that was frozen.
        """
        async with asyncio.timeout(_PATIENCE):
            while (told := await self.typed(words, user)).startswith(_UNHEARD):  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        return told

    def boards(self, channel: str = CHANNEL) -> Sequence[str]:
        """Timestamps of the boards in a channel."""
        messages = self.workspace.messages(channel)
        return [str(message["ts"]) for message in messages if key_of(message).endswith("/board")]

    async def until(self, look: Callable[[], Any]) -> Any:
        """Wait until something is to be seen in the workspace."""
        return await self.workspace.wait_for(look, timeout=_PATIENCE)

    async def decided(self, count: int = 1) -> None:
        """Wait until so many decisions stand in the channels."""

        def are_decided() -> bool:
            every = (*self.workspace.messages(CHANNEL), *self.workspace.messages(ELSEWHERE))
            return sum(one.get("subtype") == "thread_broadcast" for one in every) >= count

        await self.until(are_decided)

    async def at_rest(self) -> Audit:
        """Wait until every debate has ended and nothing is on its way to Slack; compare the two.

        What never comes is a fault in what is returned.
        """
        ends = time.monotonic() + _PATIENCE
        while True:
            sent = re.search(r"moot_outbox_depth 0", await self.machine.figures())
            found = await self._audited() if sent else None
            if found and ((not found.unfinished and not found.lost) or time.monotonic() > ends):
                return found
            assert time.monotonic() < ends, self.machine.log[-2000:]
            await asyncio.sleep(0.3)

    async def debates(self) -> Sequence[Debate]:
        """All debates as they stand in the log."""
        found: list[Debate] = []
        async with await Database.look_into(self.location) as database:
            store = SqlDebateStore(database)
            for entry in await store.find(DebateFilter(limit=1000)):
                debate: Debate | None = None
                for recorded in await store.events(entry.debate_id):
                    debate = apply(debate, recorded)
                assert debate is not None
                found.append(debate)
        return found

    async def ended(self) -> Sequence[Debate]:
        """Wait until no debate runs any more, however it ended; return all."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                found = await self.debates()
                if all(one.status is not Status.RUNNING for one in found):
                    return found
                await asyncio.sleep(0.3)

    @property
    def location(self) -> str:
        """The database's address."""
        return self.machine.database or f"sqlite+aiosqlite:///{self.machine.file}"

    async def _audited(self) -> Audit:
        async with await Database.look_into(self.location) as database:
            store = SqlDebateStore(database)
            return await audit(store, self.workspace, [CHANNEL, ELSEWHERE], self.models.asked)


@asynccontextmanager
async def a_stand(
    folder: Path,
    *,
    script: Script | None = None,
    wait: float = 0.3,
    config: WorkspaceConfig | None = None,
    prepare: Callable[[Machine], Awaitable[None] | None] = lambda _: None,
    **of_machine: Any,
) -> AsyncGenerator[Stand]:
    """Have `moot run` at work for as long as the block lasts.

    Args:
        folder: An empty one for everything that is written.
        script: What models answer; None: something good.
        wait: Seconds that a good answer takes.
        config: The workspace.
        prepare: Changes the machine before Moot is started on it.
        of_machine: Fields of `Machine`.
    """
    models = DrillModels(wait=wait)
    async with (
        run_workspace(config or a_workspace()) as workspace,
        Vendor(script or models) as vendor,
    ):
        machine = Machine(folder / "machine", workspace, vendor.url, **of_machine)
        try:
            if waiting := prepare(machine):
                await waiting
            await machine.start()
            yield Stand(workspace=workspace, machine=machine, models=models)
        finally:
            await machine.close()


def a_workspace(*, socket_mode: bool = True, **pace: Any) -> WorkspaceConfig:
    """Moot's own, where Slack is quick but has this pace."""
    wanted = manifest()
    settings = {**wanted["settings"], "socket_mode_enabled": socket_mode}
    patient = {
        "ack_seconds": 20.0,
        **pace,
    }  # how soon one process of many answers is not the matter
    return WorkspaceConfig(
        manifest={**wanted, "settings": settings}, pace=replace(QUICK, **patient)
    )


def settings_with(machine: Machine, **changes: str) -> None:
    """Replace lines of the settings file, by their key, or add them."""
    path = machine.folder / "moot.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    for key, value in changes.items():
        lines = [line for line in lines if not line.startswith(f"{key}:")] + [f"{key}: {value}"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Waits:
    """Knocks at Moot's own server all the time: how long it let somebody wait at most."""

    def __init__(self, url: str) -> None:
        self.url = url
        #: Seconds.
        self.longest = 0.0
        self._knocking: asyncio.Task[None] | None = None

    @property
    def are_short(self) -> bool:
        """Whether nobody was held up for longer than Slack waits, on a machine that is not busy."""
        busy = os.getloadavg()[0] / (os.cpu_count() or 1)
        return self.longest < SLACK_WAITS * min(max(1.0, busy), _BUSIEST)

    async def __aenter__(self) -> Self:
        self._knocking = asyncio.create_task(self._knock())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._knocking is not None
        if not self._knocking.done():
            self._knocking.cancel()
        with suppress(asyncio.CancelledError):
            await self._knocking

    async def _knock(self) -> None:
        async with httpx2.AsyncClient(timeout=120) as client:
            while True:
                began = time.monotonic()
                try:
                    await client.get(f"{self.url}/ready")
                    await asyncio.sleep(0.02)
                finally:
                    self.longest = max(self.longest, time.monotonic() - began - 0.02)
