"""Debates in a storm: replicas are killed at random, Slack refuses, delays and drops answers."""

import asyncio
import random
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from bot.slack.manifest import manifest
from bot.testing import key_of
from core.ports import DebateFilter
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
from tests.chaos.audit import Audit, audit, marks_of
from tests.chaos.crew import Crew, a_crew
from tests.chaos.models import CountingModels, counting_models

#: Seconds a call of a model takes.
_LATENCY = 0.3
#: The bot takes no more than five at once.
_DEBATES_PER_CHANNEL = 3
#: Replicas that die at least, however slowly others take their places.
_FEWEST = 2
#: Seconds between two kills: at least and at most.
_PAUSES = (1.0, 2.0)
#: Seconds that calm may take to bring everything to its end.
_PATIENCE = 240.0
#: Seconds without a post after which nothing more is expected.
_QUIET = 4.0


@dataclass(frozen=True, kw_only=True)
class Storm:
    """How bad it gets."""

    debates: int
    #: How long replicas are killed; then everything may come to its end.
    seconds: float
    #: SQLite allows one.
    replicas: int = 1
    seed: int = 1


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What it came to."""

    audit: Audit
    kills: int
    calls: int
    #: Calls whose answer is in a log.
    recorded: int
    #: How old each whole answer was, in seconds, when the replica died that it had been given to
    #: and that had not recorded it; oldest last.
    thrown_away: Sequence[float]
    seconds: float

    @property
    def repeated_in_flight(self) -> int:
        """Calls that were made again because nobody was there for their answer."""
        return self.calls - self.recorded

    def __str__(self) -> str:
        found = self.audit
        repeats = f"{found.recorded_repeats} of recorded ones, {self.repeated_in_flight} in flight"
        return "\n".join(
            (
                f"{found.debates} debates, {self.kills} kills, {self.seconds:.0f} s",
                f"posts: {found.posts}, lost {found.lost}, doubled {found.doubled}",
                f"threads out of order: {found.displaced}",
                f"debates not concluded: {found.unfinished}",
                f"model calls: {self.calls}, made again {repeats}",
                f"whole answers asked for again: {len(self.thrown_away)}{self._ages()}",
            )
        )

    def _ages(self) -> str:
        """How old they were."""
        if not self.thrown_away:
            return ""
        middle, oldest = self.thrown_away[len(self.thrown_away) // 2], self.thrown_away[-1]
        return f", {1000 * middle:.0f} ms old at the median, {1000 * oldest:.0f} ms at most"


async def blow(storm: Storm, location: str, folder: Path) -> Outcome:
    """Hold the debates in the storm, wait for calm, and look at what became of them.

    Args:
        storm: How bad it gets.
        location: The database.
        folder: Where the replicas' log goes.
    """
    names = channels_for(storm.debates)
    config = WorkspaceConfig(
        channels=tuple(ChannelSpec(name, with_bot=True) for name in names),
        users=tuple(UserSpec(asker(number), "Somebody") for number in range(storm.debates)),
        manifest=manifest(),
        pace=QUICK,
        seed=storm.seed,
    )
    began = time.monotonic()
    async with (
        run_workspace(config) as workspace,
        counting_models(_LATENCY) as models,
        a_crew(workspace, location, models.address, folder / "replicas.log") as crew,
    ):
        await asyncio.gather(*(crew.join() for _ in range(storm.replicas)))
        spoil(workspace)
        asking = asyncio.create_task(ask(workspace, names, storm.debates))
        kills = await _kill(crew, storm)
        await asking
        workspace.faults.clear()
        with suppress(TimeoutError):  # the audit says what is missing
            await calm(workspace, names)
        for replica in list(crew.alive):
            await crew.kill(replica, signal.SIGTERM)
        found, recorded = await _reckon(crew, names, models.asked)
        seconds = time.monotonic() - began
        return Outcome(
            audit=found,
            kills=kills,
            calls=models.calls,
            recorded=recorded,
            thrown_away=thrown_away(models, crew.deaths),
            seconds=seconds,
        )


def channels_for(debates: int) -> Sequence[str]:
    """Names of as many channels as so many debates need."""
    return [f"team-{number}" for number in range(-(-debates // _DEBATES_PER_CHANNEL))]


def thrown_away(models: CountingModels, deaths: Mapping[int, float]) -> Sequence[float]:
    """Ages of answers that were whole when a replica died, and were asked for again afterwards."""
    return sorted(
        deaths[replica] - at
        for mark, answers in models.answered.items()
        for replica, at in answers
        if at < deaths.get(replica, 0) < max(models.asked[mark])
    )


def spoil(workspace: Workspace) -> None:
    """Have Slack refuse now and then, answer late or never."""
    faults = workspace.faults
    faults.drop_after("chat.postMessage", times=None, probability=0.03)
    faults.drop_before("chat.postMessage", times=None, probability=0.03)
    faults.drop_after("chat.update", times=None, probability=0.03)
    faults.server_error("chat.postMessage", times=None, probability=0.02)
    faults.delay("chat.postMessage", 0.3, times=None, probability=0.05)


async def ask(workspace: Workspace, channels: Sequence[str], debates: int) -> None:
    """Ask every question until somebody hears it. One heard by a dying bot is asked twice."""
    for number in range(debates):
        if number % 5 == 0:
            workspace.faults.rate_limit("chat.postMessage", seconds=1, times=2)
        channel = channels[number % len(channels)]
        for attempt in count(1):
            # Every question is another one, so that no two debates ask the same of a model.
            if await _is_heard(workspace, channel, number, f"{number}.{attempt}"):
                break
            await asyncio.sleep(0.2)


async def _is_heard(workspace: Workspace, channel: str, number: int, choice: str) -> bool:
    question = f"Choice {choice}: queue or table?"
    try:
        await workspace.command(asker(number), channel, "/debate", question)
    except PersonRefusal:
        return False
    return True


def asker(number: int) -> str:
    """Everybody asks one question."""
    return f"person-{number}"


async def _kill(crew: Crew, storm: Storm) -> int:
    """Kill a replica every second or two, two at least, and start another; return how many died."""
    dice = random.Random(storm.seed)
    ends = time.monotonic() + storm.seconds
    kills = 0
    while time.monotonic() < ends or kills < _FEWEST:
        await asyncio.sleep(dice.uniform(*_PAUSES))
        await crew.kill(dice.choice(crew.alive))
        kills += 1
        await crew.join()
    return kills


async def calm(workspace: Workspace, channels: Sequence[str]) -> None:
    """Wait until every debate is decided in Slack and nothing is posted any more."""
    seen, since = -1, time.monotonic()
    async with asyncio.timeout(_PATIENCE):
        while time.monotonic() - since < _QUIET or _undecided(workspace, channels):
            await asyncio.sleep(0.2)
            posted = len(workspace.calls.of("chat.postMessage"))
            if posted != seen:
                seen, since = posted, time.monotonic()


def _undecided(workspace: Workspace, channels: Sequence[str]) -> int:
    """Boards without a decision in the channel."""
    messages = [message for channel in channels for message in workspace.messages(channel)]
    boards = {message["ts"] for message in messages if key_of(message).endswith("/board")}
    decided = {
        message["thread_ts"] for message in messages if message.get("subtype") == "thread_broadcast"
    }
    return len(boards - decided)


async def _reckon(
    crew: Crew, channels: Sequence[str], asked: Mapping[str, Sequence[float]]
) -> tuple[Audit, int]:
    """Look at what became of everything, and how many answers are in the logs."""
    async with await Database.open(crew.database) as database:
        store = SqlDebateStore(database)
        entries = await store.find(DebateFilter(limit=1000))
        logs = [await store.events(entry.debate_id) for entry in entries]
        marks = {mark for log in logs for one in log for mark in marks_of(one)}
        return await audit(store, crew.workspace, channels, asked), len(marks & asked.keys())
