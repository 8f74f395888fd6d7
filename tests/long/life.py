"""A long life: people debate all the time, Slack and models fail now and then, nothing may grow."""

import asyncio
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bot.slack.ids import ActionId
from bot.slack.manifest import manifest
from bot.testing import key_of
from core.store.database import Database
from core.store.debates import SqlDebateStore
from slack_on_loopback import (
    QUICK,
    ChannelSpec,
    PersonRefusal,
    UserSpec,
    Workspace,
    WorkspaceConfig,
    run_workspace,
)
from tests.chaos.audit import Audit, audit
from tests.drill.machine import Machine
from tests.drill.models import DrillModels
from tests.vendors.server import Vendor

_CHANNELS = tuple(f"team-{number}" for number in range(12))
_PEOPLE = tuple(f"person-{number}" for number in range(40))
#: Seconds that everything may take to come to its end afterwards.
_PATIENCE = 300.0
#: Shares of debates that people stop, and that get a note.
_STOPPED, _NOTED = 0.1, 0.3


@dataclass(frozen=True, kw_only=True)
class Life:
    """How long, and how much goes on."""

    hours: float
    #: Seconds between two debates.
    every: float
    #: Samples that are taken, evenly spread.
    rows: int


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Figures of the process at one time; sizes in bytes."""

    hours: float
    debates: int
    memory: int
    files: int
    tasks: int
    waiting: int
    #: The file with its write-ahead log; 0 on a server.
    database: int


async def live(life: Life, folder: Path, database: str, tell: Callable[[Sample], None]) -> Audit:
    """Have people debate for so long; return what became of it all.

    Args:
        life: How long.
        folder: For the database, and for the log.
        database: A server's; empty: a file.
        tell: Told of each sample.
    """
    config = WorkspaceConfig(
        channels=tuple(ChannelSpec(name, with_bot=True) for name in _CHANNELS),
        users=tuple(UserSpec(name, "Somebody") for name in _PEOPLE),
        manifest=manifest(),
        pace=replace(QUICK, ack_seconds=10.0),
    )
    models = DrillModels(wait=0.2)
    async with run_workspace(config) as workspace, Vendor(models) as vendor:
        machine = Machine(folder / "machine", workspace, vendor.url)
        machine.database = database
        try:
            await machine.start()
            people = asyncio.create_task(_people(workspace, life))
            await _watch(machine, people, life, tell)
            await people
            await _calm(machine)
            await machine.stop()
        finally:
            await machine.close()
        location = database or f"sqlite+aiosqlite:///{machine.copied_file()}"
        async with await Database.look_into(location) as there:
            store = SqlDebateStore(there)
            found = await audit(store, workspace, _CHANNELS, models.asked)
            # One that was stopped before anything was said has no verdict.
            return replace(found, unfinished=len(await store.unfinished()))


async def _people(workspace: Workspace, life: Life) -> None:
    """Ask, stop, write notes; have Slack fail for a while, now and then."""
    dice, number = random.Random(1), 0
    ends = time.monotonic() + life.hours * 3600
    while time.monotonic() < ends:
        number += 1
        person, channel = dice.choice(_PEOPLE), dice.choice(_CHANNELS)
        if number % 20 == 0:
            await workspace.cut_sockets()
        if number % 10 == 0:
            workspace.faults.drop_after("chat.postMessage", times=2)
            workspace.faults.server_error("chat.update", times=2)
            workspace.faults.rate_limit("chat.postMessage", seconds=1, times=1)
        known = set(map(key_of, workspace.messages(channel)))
        with suppress(PersonRefusal):  # nobody was connected, or there are enough debates there
            await workspace.command(person, channel, "/debate", f"Choice {number}: queue or table?")
        await asyncio.sleep(life.every)
        with suppress(PersonRefusal):
            fresh = [
                message
                for message in workspace.messages(channel)
                if key_of(message) not in known and key_of(message).endswith("/board")
            ]
            if fresh and dice.random() < _NOTED:
                await workspace.say(person, channel, "We are only two people.", fresh[0]["ts"])
            if fresh and dice.random() < _STOPPED:
                await workspace.click(person, channel, fresh[0]["ts"], ActionId.STOP.value)


async def _watch(
    machine: Machine, people: asyncio.Task[None], life: Life, tell: Callable[[Sample], None]
) -> None:
    began, pause = time.monotonic(), life.hours * 3600 / life.rows
    while not people.done():
        await asyncio.wait([people], timeout=pause)
        tell(await _sample(machine, (time.monotonic() - began) / 3600))


async def _sample(machine: Machine, hours: float) -> Sample:
    text = await machine.figures()

    def total(name: str) -> int:
        found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE)
        return round(sum(map(float, found)))

    files = () if machine.database else machine.disk.glob("moot.db*")
    return Sample(
        hours=hours,
        debates=total("moot_debates_started_total"),
        memory=total("process_resident_memory_bytes"),
        files=total("process_open_fds"),
        tasks=total("moot_tasks"),
        waiting=total("moot_outbox_depth"),
        database=sum(file.stat().st_size for file in files),
    )


async def _calm(machine: Machine) -> None:
    """Wait until nothing runs and nothing is to be sent."""
    with suppress(TimeoutError):  # the audit says what is missing
        async with asyncio.timeout(_PATIENCE):
            quiet = 0
            while quiet < 5:
                await asyncio.sleep(1)
                text = await machine.figures()
                busy = re.search(r"(?m)^moot_(debates_running|outbox_depth) [1-9]", text)
                quiet = 0 if busy or not text else quiet + 1
