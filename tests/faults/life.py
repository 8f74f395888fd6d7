"""A long run: continuous debates, with faults of Slack and models; no resource may grow."""

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
from slack_on_loopback import QUICK, ChannelSpec, PersonRefusal, UserSpec, WorkspaceConfig
from tests.faults.audit import Audit
from tests.faults.machine import Machine
from tests.faults.site import Site, at_work

_CHANNELS = tuple(f"team-{number}" for number in range(12))
_PEOPLE = tuple(f"person-{number}" for number in range(40))
#: Shares of debates that people stop, and that get a note.
_STOPPED, _NOTED = 0.1, 0.3
HEAD = (
    "| hours | debates | memory | open files | tasks | posts waiting | database | by debate |\n"
    "|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, kw_only=True)
class Life:
    hours: float
    #: Seconds between two debates.
    every: float
    #: Number of samples, evenly spread.
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

    def __str__(self) -> str:
        size, share = "–", "–"
        if self.database and self.debates:
            size = f"{self.database / 1e6:.1f} MB"
            share = f"{self.database / self.debates / 1e3:.0f} KB"
        memory = f"{self.memory / 1e6:.0f} MB"
        cells = (f"{self.hours:.2f}", self.debates, memory, self.files, self.tasks, self.waiting)
        return "| " + " | ".join(map(str, (*cells, size, share))) + " |"


async def live(life: Life, folder: Path, database: str, tell: Callable[[Sample], None]) -> Audit:
    """Run debates for the given time; return the audit.

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
    async with at_work(folder, database, config=config, channels=_CHANNELS, wait=0.2) as site:
        people = asyncio.create_task(_people(site, life))
        began, pause = time.monotonic(), life.hours * 3600 / life.rows
        while not people.done():
            await asyncio.wait([people], timeout=pause)
            tell(await _sample(site.machine, (time.monotonic() - began) / 3600))
        await people
        await site.at_rest()
        await site.stop()
        # A debate that was stopped before its first turn has no verdict.
        return replace(await site.audited(), failed=0)


async def _people(site: Site, life: Life) -> None:
    dice, number, workspace = random.Random(1), 0, site.workspace
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
        before = set(site.boards(channel))
        await site.typed(f"Choice {number}: queue or table?", person, channel)
        await asyncio.sleep(life.every)
        fresh = [board for board in site.boards(channel) if board not in before]
        with suppress(PersonRefusal):  # nobody was connected
            if fresh and dice.random() < _NOTED:
                await workspace.say(person, channel, "We are only two people.", fresh[0])
            if fresh and dice.random() < _STOPPED:
                await workspace.click(person, channel, fresh[0], ActionId.STOP.value)


async def _sample(machine: Machine, hours: float) -> Sample:
    text = await machine.figures()

    def total(name: str) -> int:
        figures = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE)
        return round(sum(map(float, figures)))

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
