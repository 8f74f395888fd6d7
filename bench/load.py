"""What one process holds: engine overhead per turn, acks under load, memory and idle CPU.

    python -m bench.load [--debates 30] [--seconds 5] [--spread 20] [--parked 1000] [--replicas 0]
                         [--cold] [--calls-at-once 64]

The workspace and its people run in one process, the bot in another, its models in a third: real
Bolt, real WebSocket, real SQLite on disk, the vendors' real SDKs, one protocol after the other, and
replies of 1,800 characters (`bench.vendor`), all in the same time. Debates begin evenly over the
spread, as people would ask, and all run at once. A bot runs for weeks, and streams most replies of
models it does not know yet: so each bot first holds a debate of quick replies by each protocol (of
N replicas each begins N, as they take one another's), of which nothing counts. `--cold` leaves
those out, and replies of 20 s or more need it.
Debates are parked in a bot of their own, with scripted models: they ask for nothing while they
wait. With replicas there are so many bots on one PostgreSQL, each with a share of the debates.
A commit is mostly a wait for the disk. Slack is faster here than it is: ten edits and twenty posts
a second. It stops by itself.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from bench.vendor import Manner, a_vendor
from bot.slack.ids import ActionId
from bot.slack.manifest import manifest
from bot.testing import key_of, socket_access
from core.settings import USUAL_CALLS_AT_ONCE
from slack_on_loopback import (
    QUICK,
    ChannelSpec,
    PersonRefusal,
    Workspace,
    WorkspaceConfig,
    run_workspace,
)
from tests.postgres import running_postgres

ROOT = Path(__file__).parents[1]
CHANNELS = 100
#: Bytes of what a bot tells in one line: the waits of 10,000 turns.
_LONGEST_LINE = 2**20
#: Seconds between two people who type or click.
PERSON_PAUSE = 0.25
#: Who they are by turns: one alone would be faster than the bot takes from a person.
PEOPLE = ("alex", "sam", "priya")
#: Seconds that everything may take, and as many more for each debate: 19 turns of 0.1 s of CPU.
PATIENCE, PATIENCE_BY_DEBATE = 300, 2


class Bot:
    def __init__(self, process: Process) -> None:
        self._process = process

    async def ask(self, **orders: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(orders).encode() + b"\n")
        return json.loads(await self._process.stdout.readline())


@asynccontextmanager
async def a_bot(
    workspace: Workspace, database: str, vendor: str, calls_at_once: int
) -> AsyncGenerator[Bot]:
    access = json.dumps(asdict(socket_access(workspace)))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.load_bot", access, database, vendor, str(calls_at_once)),
        cwd=ROOT,
        stdin=PIPE,
        stdout=PIPE,
        limit=_LONGEST_LINE,
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        yield Bot(process)
    finally:
        process.terminate()
        await process.wait()


def at(values: Sequence[float], percent: float) -> float:
    """A percentile; 0 if there are no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else 0.0


@dataclass
class Acknowledgements:
    #: What people did → seconds that each acknowledgement took.
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    #: What they did that Slack told them had failed: nobody acknowledged it in 3 s.
    missed: list[str] = field(default_factory=list[str])


async def acks(
    workspace: Workspace, channels: Sequence[str], until: asyncio.Event
) -> Acknowledgements:
    """Type and click until told to stop: at one pace, however long the bot takes to answer."""
    times = Acknowledgements()

    async def act(number: int) -> None:
        began = time.perf_counter()
        deed, work = _use(workspace, channels[number % len(channels)], number)
        seconds = times.seconds.setdefault(deed, [])
        try:
            await work
        except PersonRefusal as refused:
            if str(refused) == "no_such_element":
                return  # the debate has just ended
            times.missed.append(deed)
        seconds.append(time.perf_counter() - began)

    numbers = count(1)
    async with asyncio.TaskGroup() as people:
        while not until.is_set():
            people.create_task(act(next(numbers)))
            with suppress(TimeoutError):
                await asyncio.wait_for(until.wait(), PERSON_PAUSE)
    return times


def _use(workspace: Workspace, channel: str, number: int) -> tuple[str, Awaitable[None]]:
    """A command, or a click on Stop of somebody else's board, by turns; what it is called."""
    boards = [
        message for message in workspace.messages(channel) if key_of(message).endswith("/board")
    ]
    person = PEOPLE[number // 2 % len(PEOPLE)]
    if number % 2 and boards:
        stop = ActionId.STOP.value
        return "clicks on Stop", workspace.click(person, channel, boards[-1]["ts"], stop)
    return "lists", workspace.command(person, channel, "/debate", "list")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How much to measure; times are seconds."""

    debates: int = 30
    #: Of each reply.
    seconds: float = 5.0
    spread: float = 20.0
    parked: int = 1000
    #: Bots on one PostgreSQL; none: one bot on SQLite.
    replicas: int = 0
    #: Whether the first debates count, too.
    cold: bool = False
    #: By vendor, as the setting of that name; a debate waits where as many are under way.
    calls_at_once: int = USUAL_CALLS_AT_ONCE


@dataclass(frozen=True, kw_only=True)
class Load:
    debates: int
    #: Debates that ran at the same time, at most.
    most: int
    turns: int
    taken: float
    #: Share of one CPU that the bots' processes took.
    cpu: float
    #: Posts that were still to be sent when the last debate ended.
    unsent: int
    replies: int
    #: Per debate: time per turn of its longest chain that was not the model's.
    overhead: Sequence[float]
    #: What people did → how long each of it waited for its acknowledgement.
    acks: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    #: What was not acknowledged in time.
    missed: Sequence[str] = ()

    @property
    def all_acks(self) -> Sequence[float]:
        return [seconds for ack in self.acks.values() for seconds in ack]

    @property
    def cpu_per_turn(self) -> float:
        return self.cpu * self.taken / self.turns


@dataclass(frozen=True, kw_only=True)
class ParkedCost:
    parked: int
    kilobytes: float
    #: Share of one CPU while nothing happens.
    cpu: float


async def load(wish: Wish) -> Load:
    """Hold debates while people type and click."""
    async with _an_office(wish) as (workspace, bots, places):
        if not wish.cold:
            # As many by each protocol as there are bots, which take one another's.
            await asyncio.gather(*(bot.ask(warm_up=len(bots), **places) for bot in bots))
        over = asyncio.Event()
        people = asyncio.create_task(acks(workspace, places["channels"], over))
        options: dict[str, Any] = {
            "debates": wish.debates,
            "spread": wish.spread,
            "seconds": wish.seconds,
        }
        options |= {"step": len(bots), **places}
        answers = (bot.ask(first=number, **options) for number, bot in enumerate(bots))
        figures = await asyncio.gather(*answers)
        over.set()
        used = await people
    return Load(
        debates=sum(figures["debates"] for figures in figures),
        most=sum(figures["most"] for figures in figures),
        turns=sum(figures["turns"] for figures in figures),
        taken=max(figures["taken"] for figures in figures),
        cpu=sum(figures["cpu"] for figures in figures),
        unsent=max(figures["unsent"] for figures in figures),
        replies=sum(figures["replies"] for figures in figures),
        overhead=[seconds for figures in figures for seconds in figures["overhead"]],
        acks=used.seconds,
        missed=used.missed,
    )


async def park(wish: Wish) -> ParkedCost:
    """Have debates wait for people."""
    async with _an_office(wish) as (_, bots, places):
        return ParkedCost(**await bots[0].ask(park=wish.parked, **places))


@asynccontextmanager
async def _an_office(
    wish: Wish,
) -> AsyncGenerator[tuple[Workspace, Sequence[Bot], dict[str, Any]]]:
    names = [f"team-{number}" for number in range(CHANNELS)]
    config = WorkspaceConfig(
        channels=tuple(ChannelSpec(name, with_bot=True) for name in names),
        manifest=manifest(),
        pace=QUICK,
    )
    async with AsyncExitStack() as stack:
        database = stack.enter_context(_a_database(shared=bool(wish.replicas)))
        workspace = await stack.enter_async_context(run_workspace(config))
        vendor = await stack.enter_async_context(a_vendor(Manner(seconds=wish.seconds)))
        bots = [
            await stack.enter_async_context(a_bot(workspace, database, vendor, wish.calls_at_once))
            for _ in range(max(1, wish.replicas))
        ]
        await stack.enter_async_context(
            asyncio.timeout(PATIENCE + PATIENCE_BY_DEBATE * max(wish.debates, wish.parked))
        )
        ids = [workspace.channel(name).id for name in names]
        yield workspace, bots, {"channels": ids, "team": workspace.state.team_id}


@contextmanager
def _a_database(*, shared: bool) -> Generator[str]:
    if shared:
        with running_postgres(flushes=True) as server:  # as SQLite does
            yield server.fresh_database()
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "moot.db")


def in_words(load: Load) -> str:
    overhead, acks = load.overhead, load.all_acks
    return (
        f"{load.debates} debates, at most {load.most} at once, {load.turns} turns in"
        f" {load.taken:.0f} s, CPU {load.cpu:.0%}, {load.cpu_per_turn * 1000:.1f} ms of it per"
        f" turn, {load.unsent} posts still to be sent; {load.replies} replies\n"
        f"overhead per turn, by debate: p50 {at(overhead, 50) * 1000:.0f} ms,"
        f" p99 {at(overhead, 99) * 1000:.0f} ms\n"
        f"acknowledgement of {len(acks)} commands and clicks: p50 {at(acks, 50) * 1000:.0f} ms,"
        f" p99 {at(acks, 99) * 1000:.0f} ms; {len(load.missed)} not within 3 s"
        + "".join(
            f"\nof {len(seconds)} {deed}: p50 {at(seconds, 50) * 1000:.0f},"
            f" p99 {at(seconds, 99) * 1000:.0f} ms; {load.missed.count(deed)} not within 3 s"
            for deed, seconds in load.acks.items()
        )
    )


def parked_in_words(parked: ParkedCost) -> str:
    return (
        f"{parked.parked} parked debates: {parked.kilobytes:.1f} KB of memory each,"
        f" idle CPU {parked.cpu:.2%}"
    )


def machine() -> str:
    busy = os.getloadavg()[0]
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, load {busy:.1f} before,"
        f" Python {platform.python_version()}"
    )


async def measure(wish: Wish) -> None:
    """Measure and print."""
    where = f"{wish.replicas} bots on PostgreSQL" if wish.replicas else "SQLite on disk"
    print(f"{machine()}, {where}", flush=True)
    if wish.debates:
        print(in_words(await load(wish)), flush=True)
    if wish.parked:
        print(parked_in_words(await park(wish)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=Wish.debates)
    parser.add_argument("--seconds", type=float, default=Wish.seconds, help="of each reply")
    parser.add_argument("--spread", type=float, default=Wish.spread, help="for the beginnings")
    parser.add_argument("--parked", type=int, default=Wish.parked)
    parser.add_argument("--replicas", type=int, default=Wish.replicas, help="on PostgreSQL")
    parser.add_argument("--cold", action="store_true", help="count the first debates, too")
    parser.add_argument("--calls-at-once", type=int, default=Wish.calls_at_once, help="by vendor")
    wish = Wish(**vars(parser.parse_args()))
    asyncio.run(measure(wish))


if __name__ == "__main__":
    main()
