"""Capacity of one process: overhead per turn, acknowledgements, memory, idle CPU.

    python -m bench.load [--debates 30] [--seconds 5] [--spread 20] [--parked 1000] [--replicas 0]
                         [--cold] [--calls-at-once 64]

The local Slack and its people run in one process, the bot in another, its models (`bench.vendor`)
in a third: real Bolt, WebSocket and vendors' SDKs, SQLite on disk, replies of 1,800 characters over
one protocol after the other. Debates start evenly over the spread and run at the same time.
Before the measurement each bot runs a debate with quick replies over each protocol, because a bot
in use has learnt its models; `--cold` skips this, and replies of 20 s or more need it.
Parked debates run in a separate bot with scripted models. With replicas, that many bots share one
PostgreSQL and the debates. The local Slack is faster than Slack: ten edits and twenty posts a
second.
"""

import argparse
import asyncio
import json
import os
import platform
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from bench.vendor import ROOT, ReplyPace, a_process, a_vendor
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

CHANNELS = 100
#: Bytes of the longest answer of a bot, in one line: the overhead of 10,000 turns.
_LONGEST_LINE = 2**20
#: Seconds between two people who type or click.
PERSON_PAUSE = 0.25
#: They take turns, because the bot limits the rate of one person.
PEOPLE = ("alex", "sam", "priya")
#: Time limit in seconds, and its part per debate: 19 turns of 0.1 s of CPU.
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
    arguments = ("-m", "bench.load_bot", access, database, vendor, str(calls_at_once))
    pipes = {"stdin": PIPE, "stdout": PIPE, "limit": _LONGEST_LINE}
    async with a_process(*arguments, cwd=ROOT, **pipes) as process:
        assert process.stdout is not None
        await process.stdout.readline()
        yield Bot(process)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else 0.0


@dataclass
class Acknowledgements:
    #: Of commands and clicks.
    seconds: list[float] = field(default_factory=list[float])
    #: Commands and clicks without an acknowledgement within 3 s.
    missed: int = 0


async def use_slack(
    workspace: Workspace, channels: Sequence[str], end: asyncio.Event
) -> Acknowledgements:
    """Type and click at a fixed rate until the end, however long the bot takes to answer."""
    acks = Acknowledgements()

    async def act(number: int) -> None:
        """Type a command, or click Stop on somebody else's board, by turns."""
        channel, person = channels[number % len(channels)], PEOPLE[number // 2 % len(PEOPLE)]
        messages = workspace.messages(channel)
        boards = [message for message in messages if key_of(message).endswith("/board")]
        began = time.perf_counter()
        try:
            if number % 2 and boards:
                await workspace.click(person, channel, boards[-1]["ts"], ActionId.STOP.value)
            else:
                await workspace.command(person, channel, "/debate", "list")
        except PersonRefusal as refusal:
            if str(refusal) == "no_such_element":
                return  # the debate has just ended
            acks.missed += 1
        acks.seconds.append(time.perf_counter() - began)

    numbers = count(1)
    async with asyncio.TaskGroup() as people:
        while not end.is_set():
            people.create_task(act(next(numbers)))
            with suppress(TimeoutError):
                await asyncio.wait_for(end.wait(), PERSON_PAUSE)
    return acks


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The size of the measurement; times are seconds."""

    debates: int = 30
    #: Of each reply.
    seconds: float = 5.0
    spread: float = 20.0
    parked: int = 1000
    #: Bots on one PostgreSQL; 0: one bot on SQLite.
    replicas: int = 0
    #: Whether the first debates are measured, too.
    cold: bool = False
    #: Per vendor, the setting of that name.
    calls_at_once: int = USUAL_CALLS_AT_ONCE


@dataclass(frozen=True, kw_only=True)
class Load:
    debates: int
    turns: int
    seconds: float
    #: Share of one CPU that the bots' processes used.
    cpu: float
    #: Per debate: seconds per turn of its longest chain, without the model's.
    overhead: Sequence[float]
    acks: Acknowledgements

    @property
    def cpu_per_turn(self) -> float:
        return self.cpu * self.seconds / self.turns


@dataclass(frozen=True, kw_only=True)
class ParkedCost:
    parked: int
    kilobytes: float
    #: Share of one CPU in use while all debates wait.
    cpu: float


async def load(wish: Wish) -> Load:
    """Run debates while people type and click."""
    async with _an_office(wish) as (workspace, bots, places):
        if not wish.cold:
            await asyncio.gather(*(bot.ask(warm_up=len(bots), **places) for bot in bots))
        end = asyncio.Event()
        people = asyncio.create_task(use_slack(workspace, places["channels"], end))
        options: dict[str, Any] = {"debates": wish.debates, "step": len(bots), **places}
        options |= {"spread": wish.spread, "seconds": wish.seconds}
        answers = (bot.ask(first=number, **options) for number, bot in enumerate(bots))
        figures = await asyncio.gather(*answers)
        end.set()
        acks = await people
    return Load(
        debates=wish.debates,
        turns=sum(figures["turns"] for figures in figures),
        seconds=max(figures["seconds"] for figures in figures),
        cpu=sum(figures["cpu"] for figures in figures),
        overhead=[seconds for figures in figures for seconds in figures["overhead"]],
        acks=acks,
    )


async def park(wish: Wish) -> ParkedCost:
    """Start debates that wait for people."""
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
        vendor = await stack.enter_async_context(a_vendor(ReplyPace(seconds=wish.seconds)))
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


def load_text(load: Load) -> str:
    overhead, acks = load.overhead, load.acks.seconds
    return (
        f"{load.debates} debates, {load.turns} turns in {load.seconds:.0f} s,"
        f" CPU {load.cpu:.0%}, {load.cpu_per_turn * 1000:.1f} ms of it per turn\n"
        f"overhead per turn, by debate: p50 {percentile(overhead, 50) * 1000:.0f} ms,"
        f" p99 {percentile(overhead, 99) * 1000:.0f} ms\n"
        f"acknowledgement of {len(acks)} commands and clicks:"
        f" p50 {percentile(acks, 50) * 1000:.0f} ms, p99 {percentile(acks, 99) * 1000:.0f} ms;"
        f" {load.acks.missed} not within 3 s"
    )


def machine() -> str:
    busy = os.getloadavg()[0]
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, load {busy:.1f} before,"
        f" Python {platform.python_version()}"
    )


async def measure(wish: Wish) -> None:
    """Measure and print."""
    database = f"{wish.replicas} bots on PostgreSQL" if wish.replicas else "SQLite on disk"
    print(f"{machine()}, {database}", flush=True)
    if wish.debates:
        print(load_text(await load(wish)), flush=True)
    if wish.parked:
        parked = await park(wish)
        print(
            f"{parked.parked} parked debates: {parked.kilobytes:.1f} KB of memory each,"
            f" idle CPU {parked.cpu:.2%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=Wish.debates)
    parser.add_argument("--seconds", type=float, default=Wish.seconds, help="of each reply")
    parser.add_argument("--spread", type=float, default=Wish.spread, help="of the starts")
    parser.add_argument("--parked", type=int, default=Wish.parked)
    parser.add_argument("--replicas", type=int, default=Wish.replicas, help="on PostgreSQL")
    parser.add_argument("--cold", action="store_true", help="count the first debates, too")
    parser.add_argument("--calls-at-once", type=int, default=Wish.calls_at_once, help="by vendor")
    asyncio.run(measure(Wish(**vars(parser.parse_args()))))


if __name__ == "__main__":
    main()
