"""The loop: start what is ready, record what comes back, publish it, ask again.

A run holds one debate by its run token. Results are recorded by the key of their turn before
anything builds on them, so resuming after a crash is the same loop over the same log, and a model
call whose answer is in the log is never made again.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol

import structlog

from core import schedule
from core.calling.spent import usage_of
from core.errors import (
    CapReached,
    ConfigurationBroken,
    KeyRefused,
    LimitReached,
    ProviderError,
    ReplyUnreadable,
)
from core.events import ClarificationsClosed, Event, Recorded, TimeRanOut, TurnFailed, apply
from core.models import Debate, Failure, FailureCause, Status, Turn, Usage
from core.ports import Clock, DebateStore, EventSink, RunToken

_log = structlog.get_logger(__name__)

#: An event and the debate right after it.
News = tuple[Debate, Recorded]
#: What a turn may fail with; everything else is a fault of ours and stops the run loudly.
TURN_ERRORS = (ProviderError, ReplyUnreadable, LimitReached, ConfigurationBroken)


class Work(NamedTuple):
    """A turn in hand."""

    turn: Turn
    task: asyncio.Task[None]


class TurnTaker(Protocol):
    """Takes one turn: asks whom it must and returns what came of it."""

    async def take(self, debate: Debate, turn: Turn) -> Event:
        """The outcome of the turn.

        Raises:
            ProviderError: No model could be asked.
            ReplyUnreadable: The reply cannot be used, even repaired.
            LimitReached: A cap forbids the call.
            ConfigurationBroken: The provider is not set up.
        """
        ...


class Engine:
    """Advances debates. One engine serves a whole process."""

    def __init__(
        self, *, store: DebateStore, turns: TurnTaker, sink: EventSink, clock: Clock
    ) -> None:
        self._store = store
        self._turns = turns
        self._sink = sink
        self._clock = clock
        self._runs: dict[str, _Run] = {}

    async def run(self, debate_id: str) -> Debate:
        """Advance the debate until it has ended or nothing is left to do for now.

        Every event is on disk before it is published and before anything builds on it. Calling it
        again for an ended debate publishes what was not published yet and returns.

        Raises:
            DebateUnknown: No such debate.
            RunLost: Another run has taken the debate over; this one has stopped working on it.
            StoreDown: The database failed; run again later.
        """
        token = await self._store.claim(debate_id)
        run = _Run(token, store=self._store, turns=self._turns, sink=self._sink, clock=self._clock)
        self._runs[debate_id] = run
        try:
            return await run.advance()
        finally:
            if self._runs.get(debate_id) is run:
                del self._runs[debate_id]
            await run.cancel()

    def wake(self, debate_id: str) -> bool:
        """Tell a running debate that its log has grown; False if it is not running here."""
        run = self._runs.get(debate_id)
        if run:
            run.wake()
        return run is not None


class _Run:
    """One debate being advanced."""

    def __init__(
        self,
        token: RunToken,
        *,
        store: DebateStore,
        turns: TurnTaker,
        sink: EventSink,
        clock: Clock,
    ) -> None:
        self._token = token
        self._store = store
        self._turns = turns
        self._sink = sink
        self._clock = clock
        self._working: dict[str, Work] = {}
        self._own: list[Recorded] = []
        self._woken = False
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Somebody else has added to the log."""
        self._woken = True
        self._changed.set()

    async def advance(self) -> Debate:
        debate, news = await self._load()
        while True:
            began = self._start_ready(debate)  # before publishing: models are the slow part
            await self._publish(news)
            if began:
                await self._sink.turns_began(debate, began)
            if debate.status is not Status.RUNNING:
                return debate
            if not self._working and await self._is_parked(debate):
                return debate
            await self._wait(debate)
            debate, news = await self._catch_up(debate)

    async def cancel(self) -> None:
        """Stop all work in hand; what is not in the log yet will be done again."""
        tasks = [work.task for work in self._working.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _load(self) -> tuple[Debate, Sequence[News]]:
        """Fold the log; news is what was not published before the last stop."""
        known = await self._store.published(self._token.debate_id)
        debate, news = await self._catch_up(None)
        return debate, [(then, recorded) for then, recorded in news if recorded.seq > known]

    async def _catch_up(self, debate: Debate | None) -> tuple[Debate, Sequence[News]]:
        """Fold what was added to the log: our results and what people did."""
        news: list[News] = []
        for recorded in await self._unread(debate.seq if debate else 0):
            debate = apply(debate, recorded)
            news.append((debate, recorded))
        if debate is None:
            raise ValueError(f"debate {self._token.debate_id} has no events")
        return debate, news

    async def _unread(self, seq: int) -> Sequence[Recorded]:
        """What follows in the log; read from the store only if it is not all our own."""
        own = sorted((r for r in self._own if r.seq > seq), key=lambda recorded: recorded.seq)
        self._own.clear()
        woken, self._woken = self._woken, False
        gapless = [r.seq for r in own] == list(range(seq + 1, seq + 1 + len(own)))
        if own and gapless and not woken:
            return own
        return await self._store.events(self._token.debate_id, after=seq)

    async def _publish(self, news: Sequence[News]) -> None:
        for debate, recorded in news:
            await self._sink.publish(debate, recorded)
        if news:
            await self._store.mark_published(self._token.debate_id, news[-1][1].seq)

    def _start_ready(self, debate: Debate) -> Sequence[Turn]:
        """Start what can be done now, drop what is no longer wanted; all in hand if any is new."""
        if self._working and _is_settling(debate):
            return ()
        ready = {turn.key: turn for turn in schedule.ready(debate)}
        for key in [key for key in self._working if key not in ready]:
            self._working.pop(key).task.cancel()
        fresh = [turn for key, turn in ready.items() if key not in self._working]
        for turn in fresh:
            task = asyncio.create_task(self._take(debate, turn), name=f"{debate.id}/{turn.key}")
            task.add_done_callback(lambda _: self._changed.set())
            self._working[turn.key] = Work(turn, task)
        return tuple(ready.values()) if fresh else ()

    async def _take(self, debate: Debate, turn: Turn) -> None:
        """Take one turn and record its outcome."""
        try:
            event = await self._turns.take(debate, turn)
        except TURN_ERRORS as error:
            failure = Failure(
                turn=turn, reason=str(error), usage=usage_of(error), cause=_cause(error)
            )
            event = TurnFailed(failure=failure)
            _log.warning("turn failed", debate=debate.id, turn=turn.key, reason=str(error))
        await self._append(event)

    async def _is_parked(self, debate: Debate) -> bool:
        """Whether only people or a time can bring the debate on; ends it if nothing can."""
        ending = schedule.conclusion(debate)
        overdue = schedule.overdue(debate, self._clock.now())
        if ending:
            await self._append(ending)
        elif overdue:
            await self._append(ClarificationsClosed(which=overdue))
        return not self._changed.is_set()

    async def _append(self, event: Event) -> None:
        appended = await self._store.append(
            self._token.debate_id, event, at=self._clock.now(), run=self._token
        )
        self._own.append(appended.recorded)
        self._changed.set()

    async def _wait(self, debate: Debate) -> None:
        """Until the log may have grown or a time is up; raise what a turn raised."""
        try:
            async with asyncio.timeout(self._seconds_left(debate)):
                await self._changed.wait()
        except TimeoutError:
            await self._enforce_limits(debate)
        self._changed.clear()
        for key in [key for key, work in self._working.items() if work.task.done()]:
            self._working.pop(key).task.result()

    def _seconds_left(self, debate: Debate) -> float:
        """Seconds until the next limit: of the debate, or of a round being worked on."""
        limits = debate.setup.limits
        rounds = {work.turn.round for work in self._working.values()} - {0}
        ends = [
            schedule.round_began(debate, number) + timedelta(seconds=limits.round_seconds)
            for number in rounds
            if not schedule.is_cut_short(debate)
        ]
        if not debate.out_of_time:
            ends.append(debate.started_at + timedelta(seconds=limits.debate_seconds))
        left = [(end - self._clock.now()).total_seconds() for end in ends]
        return max(0.0, min(left, default=limits.turn_seconds))

    async def _enforce_limits(self, debate: Debate) -> None:
        """The debate's time is up: on to the vote. A round's is: what is in hand has failed."""
        limits, now = debate.setup.limits, self._clock.now()
        if now >= debate.started_at + timedelta(seconds=limits.debate_seconds):
            await self._append(TimeRanOut())
            return
        for work in list(self._working.values()):
            began = schedule.round_began(debate, work.turn.round)
            if work.turn.round and now >= began + timedelta(seconds=limits.round_seconds):
                work.task.cancel()
                await self._append(TurnFailed(failure=_late(work.turn)))


def _is_settling(debate: Debate) -> bool:
    """Out of money, and nobody is in a hurry: what is in hand is paid for and waited for."""
    hurried = debate.stop or debate.out_of_time or debate.vote_called_by or debate.paused_by
    running = debate.status is Status.RUNNING and not debate.verdict
    return running and bool(debate.out_of_money) and not hurried


def _cause(error: Exception) -> FailureCause:
    """What a turn's failure says about the turns after it."""
    if isinstance(error, CapReached):
        return FailureCause.CAP
    unusable = isinstance(error, KeyRefused | ConfigurationBroken)
    return FailureCause.KEY if unusable else FailureCause.PASSING


def _late(turn: Turn) -> Failure:
    return Failure(turn=turn, reason="The round's time was up.", usage=Usage())
