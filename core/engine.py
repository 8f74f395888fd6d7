"""The loop: start what is ready, record what comes back, publish it, ask again.

A run holds one debate by its run token. Results are recorded by the key of their turn before
anything builds on them, so resuming after a crash is the same loop over the same log, and a model
call whose answer is in the log is never made again.
"""

import asyncio
from datetime import timedelta
from typing import Protocol

import structlog

from core.calling.spent import usage_of
from core.errors import LimitReached, ProviderError, ReplyUnreadable
from core.events import Event, TimeRanOut, TurnFailed, apply, fold
from core.formats import registry
from core.models import Debate, Failure, Status, Turn
from core.ports import Clock, DebateStore, EventSink, RunToken

_log = structlog.get_logger(__name__)

#: What a turn may fail with; everything else is a fault of ours and stops the run loudly.
TURN_ERRORS = (ProviderError, ReplyUnreadable, LimitReached)


class TurnTaker(Protocol):
    """Takes one turn: asks whom it must and returns what came of it."""

    async def take(self, debate: Debate, turn: Turn) -> Event:
        """The outcome of the turn.

        Raises:
            ProviderError: No model could be asked.
            ReplyUnreadable: The reply cannot be used, even repaired.
            LimitReached: A cap forbids the call.
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
            run.changed.set()
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
        self._working: dict[str, asyncio.Task[None]] = {}
        self.changed = asyncio.Event()

    async def advance(self) -> Debate:
        debate = await self._load()
        while debate.status is Status.RUNNING:
            await self._start_ready(debate)
            if not self._working and not await self._end(debate) and not self.changed.is_set():
                return debate  # parked: it waits for people or for a time
            await self._wait(debate)
            debate = await self._catch_up(debate)
        return debate

    async def cancel(self) -> None:
        """Stop all work in hand; what is not in the log yet will be done again."""
        for task in self._working.values():
            task.cancel()
        await asyncio.gather(*self._working.values(), return_exceptions=True)

    async def _load(self) -> Debate:
        """Fold the log; publish what was not published before the last stop."""
        log = await self._store.events(self._token.debate_id)
        known = await self._store.published(self._token.debate_id)
        seen = [recorded for recorded in log if recorded.seq <= known]
        if len(seen) == len(log):
            return fold(log)
        return await self._catch_up(fold(seen) if seen else None)

    async def _catch_up(self, debate: Debate | None) -> Debate:
        """Fold and publish what was added to the log: our results and what people did."""
        after = debate.seq if debate else 0
        log = await self._store.events(self._token.debate_id, after=after)
        for recorded in log:
            debate = apply(debate, recorded)
            await self._sink.publish(debate, recorded)
        if debate is None:
            raise ValueError(f"debate {self._token.debate_id} has no events")
        if log:
            await self._store.mark_published(debate.id, debate.seq)
        return debate

    async def _start_ready(self, debate: Debate) -> None:
        """Start what can be done now, drop what is no longer wanted."""
        ready = {turn.key: turn for turn in registry.ready(debate)}
        for key in [key for key in self._working if key not in ready]:
            self._working.pop(key).cancel()
        fresh = [turn for key, turn in ready.items() if key not in self._working]
        for turn in fresh:
            task = asyncio.create_task(self._take(debate, turn), name=f"{debate.id}/{turn.key}")
            task.add_done_callback(lambda _: self.changed.set())
            self._working[turn.key] = task
        if fresh:
            await self._sink.turns_began(debate, tuple(ready.values()))

    async def _take(self, debate: Debate, turn: Turn) -> None:
        """Take one turn and record its outcome."""
        try:
            event = await self._turns.take(debate, turn)
        except TURN_ERRORS as error:
            failure = Failure(turn=turn, reason=str(error), usage=usage_of(error))
            event = TurnFailed(failure=failure)
            _log.warning("turn failed", debate=debate.id, turn=turn.key, reason=str(error))
        await self._append(event)

    async def _end(self, debate: Debate) -> bool:
        """Record how the debate ended, if it has."""
        ending = registry.conclusion(debate)
        if ending:
            await self._append(ending)
        return ending is not None

    async def _append(self, event: Event) -> None:
        await self._store.append(
            self._token.debate_id, event, at=self._clock.now(), run=self._token
        )
        self.changed.set()

    async def _wait(self, debate: Debate) -> None:
        """Until the log may have grown or the debate's time is up; raise what a turn raised."""
        try:
            async with asyncio.timeout(self._seconds_left(debate)):
                await self.changed.wait()
        except TimeoutError:
            await self._append(TimeRanOut())
        self.changed.clear()
        for key in [key for key, task in self._working.items() if task.done()]:
            self._working.pop(key).result()

    def _seconds_left(self, debate: Debate) -> float | None:
        """Seconds until the debate's time is up; None when it is up already."""
        if debate.out_of_time:
            return None
        limit = timedelta(seconds=debate.setup.limits.debate_seconds)
        return max(0.0, (debate.started_at + limit - self._clock.now()).total_seconds())
