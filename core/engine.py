"""The engine loop: start ready turns, record their outcomes, publish them to the sink, repeat.

A run holds one debate by its run token. An outcome is recorded under the key of its turn before the
loop continues, so resuming after a crash is the same loop over the same log, and a model call whose
reply is in the log is never made again.

Reason: the loop and the turns that it starts, cancels and waits for are read together.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

import structlog

from core.debate.contributions import Failure, FailureCause
from core.debate.debate_events import (
    CallsDropped,
    ClarificationsClosed,
    ModelCameBack,
    ModelWentAway,
    OutageBegan,
    OutageEnded,
    TimeRanOut,
)
from core.debate.log import Event, RecordedEvent, apply
from core.debate.state import Debate, Status
from core.debate.turn import BACKGROUND_ACTS, ENGINE, JUDGE, Turn
from core.debate.turn_events import TurnFailed
from core.errors import (
    CallFailed,
    CapReached,
    KeyRefused,
    LogBroken,
    ModelsAway,
    ProviderBusy,
    ProviderDown,
    ProviderMissing,
)
from core.figures import duration
from core.ports import Clock, DebateStore, EventSink, RunToken
from core.rules import schedule
from core.telling import FoldedEvent, SinkFeed
from core.usage import Usage

_log = structlog.get_logger(__name__)

#: Seconds for which a run relies on its last check that it holds its debate: far less than another
#: process waits before it takes over the debates of a frozen one.
PROOF_SECONDS = 1.0
#: Seconds that this check may take in a busy database; also less than the time until a takeover.
ASKING_SECONDS = 10.0
#: Seconds to record the outcome of a turn that is cancelled.
RECORDING_SECONDS = 5.0
#: Seconds to wait for unfinished summaries when the rest of a debate is done.
SUMMARY_GRACE = 15.0


class RunningTurn(NamedTuple):
    turn: Turn
    task: asyncio.Task[None]
    #: Whether the turn is tried again later if its models are unavailable.
    waits: bool


class WaitingTurn(NamedTuple):
    turn: Turn
    since: datetime
    until: datetime


class TurnTaker(Protocol):
    """Takes turns; `core.acts.take.Turns.take` documents the arguments.

    Every error except `ModelsAway` and `CallFailed` is a bug and ends the run.
    """

    async def take(
        self,
        debate: Debate,
        turn: Turn,
        book: Callable[[Usage], None],
        *,
        check_lease: Callable[[], Awaitable[None]],
        waits: bool,
    ) -> Event: ...


@dataclass(kw_only=True, eq=False)
class Engine:
    """Advances debates. One engine serves a whole process."""

    store: DebateStore
    turns: TurnTaker
    sink: EventSink
    clock: Clock
    #: Seconds; see `SUMMARY_GRACE`.
    summary_grace: float = SUMMARY_GRACE
    _runs: dict[str, "_Run"] = field(
        default_factory=lambda: dict[str, _Run](),  # noqa: PLW0108 - its class stands below
        init=False,
        repr=False,
    )

    async def run(self, debate_id: str) -> Debate:
        """Advance the debate until it has ended or nothing is left to do for now.

        Every event is durable before it is published and before the debate goes on from it. For an
        ended debate this publishes the events that are not published yet.

        Raises:
            DebateUnknown: There is no such debate.
            RunLost: Another run has taken the debate over.
            StoreDown: The database failed; run again later.
        """
        token = await self.store.claim(debate_id)
        run = _Run(self, token, published=await self.store.published_seq(debate_id))
        self._runs[debate_id] = run
        try:
            return await run.advance()
        finally:
            if self._runs.get(debate_id) is run:
                del self._runs[debate_id]
            await run.cancel()

    def wake(self, debate_id: str) -> bool:
        """Notify the run of a debate that its log has grown. Return False if none runs here."""
        run = self._runs.get(debate_id)
        if run:
            run.wake()
        return run is not None


class _Run:
    def __init__(self, engine: Engine, token: RunToken, *, published: int) -> None:
        self._summary_grace = engine.summary_grace
        self._token = token
        self._store, self._turns, self._clock = engine.store, engine.turns, engine.clock
        self._began = engine.clock.now()
        self._working: dict[str, RunningTurn] = {}
        self._waiting: dict[str, WaitingTurn] = {}
        #: Usage of cancelled calls that is not recorded yet.
        self._dropped = Usage()
        #: Events that this run has written since its last step, by `seq`.
        self._own: dict[int, RecordedEvent] = {}
        self._woken = False
        self._changed = asyncio.Event()
        self._telling = SinkFeed(
            store=engine.store,
            sink=engine.sink,
            check_lease=self._check_lease,
            published=published,
            on_end=self._changed.set,
        )
        #: The debate after the last step.
        self._debate: Debate | None = None
        #: Since when the end only waits for summaries.
        self._ending_since: datetime | None = None
        #: When the database last confirmed that this run holds the debate.
        self._proven_at = self._began

    def wake(self) -> None:
        """Mark the log as grown; the next step reads it from the store."""
        self._woken = True
        self._changed.set()

    async def advance(self) -> Debate:
        while True:
            debate, is_idle = await self._step()
            if is_idle and not self._changed.is_set() and self._telling.is_done():
                return debate
            await self._wait(debate)

    async def _step(self) -> tuple[Debate, bool]:
        """Do one step. Return the debate after it and whether nothing is left to do for now."""
        debate, events = await self._catch_up()
        started_turns = await self._start_ready(debate)
        if events or started_turns:
            self._telling.publish_later(events, debate, started_turns)
        if self._own:  # outcomes of cancelled turns were recorded meanwhile: do another step
            return debate, False
        usage, self._dropped = self._dropped, Usage()
        if usage.attempts:  # record the usage of cancelled calls, even if the debate has just ended
            await self._append(CallsDropped(usage=usage, origin=str(debate.seq)))
        is_busy = bool(self._in_foreground() or self._waiting_turns())
        if debate.status is not Status.RUNNING or is_busy:
            self._ending_since = None  # the grace for summaries begins anew at the next end
        if debate.status is not Status.RUNNING:
            return debate, not self._in_foreground()  # answers to follow-up questions may be left
        outage = schedule.outage(debate)
        if outage and not debate.outage:
            await self._append(OutageBegan(reason=outage, origin=str(debate.seq)))
        elif debate.outage and not outage:
            await self._append(OutageEnded(origin=str(debate.seq)))
        if is_busy:
            return debate, False
        await self._end_or_close(debate)
        return debate, not self._working

    async def _end_or_close(self, debate: Debate) -> None:
        """Record the end of a debate, or of the time for answers, if it is due.

        Called when no turn but summaries is running, so only people or a time limit can continue
        the debate.
        """
        ending = schedule.conclusion(debate)
        overdue = schedule.overdue(debate, self._clock.now())
        if ending and self._working:
            self._ending_since = self._ending_since or self._clock.now()
            return
        self._ending_since = None
        if ending:
            await self._append(ending)
        elif overdue:
            await self._append(ClarificationsClosed(which=overdue))

    async def cancel(self) -> None:
        """Stop the sink's feed and all running turns. Turns without an outcome run again later.

        Everything is cancelled before anything is awaited, so that nothing goes on running even if
        this call is cancelled as well.
        """
        self._telling.stop()
        await self._drop(list(self._working))
        await self._telling.wait_until_stopped()
        # Break the reference cycle, which would keep the debate in memory until garbage collection.
        del self._telling

    async def _drop(self, keys: Sequence[str]) -> None:
        tasks = [self._working.pop(key).task for key in keys]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _catch_up(self) -> tuple[Debate, Sequence[FoldedEvent]]:
        debate = self._debate
        seq = debate.seq if debate else 0
        new_events: Sequence[RecordedEvent] = [
            self._own[number] for number in sorted(self._own) if number > seq
        ]
        self._own.clear()
        woken, self._woken = self._woken, False
        is_gapless = not new_events or new_events[-1].seq == seq + len(new_events)
        if woken or debate is None or not is_gapless:  # others may have written to the log
            new_events = await self._store.all_events(self._token.debate_id, after=seq)
        folded_events: list[FoldedEvent] = []
        for recorded in new_events:
            debate = apply(debate, recorded)
            folded_events.append(FoldedEvent(debate, recorded))
        if debate is None:
            raise LogBroken(f"The log of debate {self._token.debate_id} is empty.")
        self._debate = debate
        return debate, folded_events

    async def _start_ready(self, debate: Debate) -> Sequence[Turn]:
        """Start ready turns and cancel obsolete ones. Return all ready turns if any is new.

        Background turns (summaries) are finished unless nobody reads their result any more, and
        are not started at the end of the debate.
        """
        if self._in_foreground() and _finishes_first(debate):
            return ()
        ready = {turn.key: turn for turn in schedule.ready(debate)}
        if schedule.conclusion(debate):
            ready = {}
        self._waiting = {key: turn for key, turn in self._waiting.items() if key in ready}
        await self._drop(self._obsolete_turns(debate, ready))
        # Outcomes may have been recorded while the obsolete turns were cancelled.
        recorded = {entry.event.key for entry in self._own.values()}
        now, has_new = self._clock.now(), False
        for key, turn in ready.items():
            waits, waiting = self._waits(debate, turn), self._waiting.get(key)
            is_postponed = waits and waiting is not None and waiting.until > now
            if key in self._working or key in recorded or is_postponed:
                continue
            taking = self._take(debate, turn, waits=waits)
            task = asyncio.create_task(taking, name=f"{debate.id}/{key}")
            task.add_done_callback(lambda _: self._changed.set())
            self._working[key] = RunningTurn(turn, task, waits)
            has_new = True
        return tuple(ready.values()) if has_new else ()

    def _obsolete_turns(self, debate: Debate, ready: Collection[str]) -> Sequence[str]:
        turns = [
            work.turn
            for key, work in self._working.items()
            if key not in ready
            or (
                work.waits
                and work.turn.agent in debate.unavailable_agents
                and not self._waits(debate, work.turn)
            )
        ]
        # When the judge already writes, nobody would read a summary for the judge.
        return [
            turn.key
            for turn in turns
            if debate.paused_by or turn.act not in BACKGROUND_ACTS or turn.agent == JUDGE
        ]

    def _waits(self, debate: Debate, turn: Turn) -> bool:
        """Whether a turn waits for unavailable models: until its time limit, or in an outage."""
        now, waiting = self._clock.now(), self._waiting.get(turn.key)
        waiting_seconds = (now - waiting.since).total_seconds() if waiting else 0.0
        is_over = waiting_seconds >= debate.setup.limits.turn_seconds and not debate.outage
        return schedule.waits_for_models(debate, turn.act) and not is_over

    async def _take(self, debate: Debate, turn: Turn, *, waits: bool) -> None:
        """Take one turn and record its outcome, or postpone it if its models are unavailable."""
        usages: list[Usage] = []
        is_answered = False
        try:
            event = await self._turns.take(
                debate, turn, usages.append, check_lease=self._check_lease, waits=waits
            )
            is_answered = bool(usages)  # a turn without a model call does not show that one works
        except ModelsAway as error:
            self._dropped = sum(usages, start=self._dropped)
            self._postpone(turn, error.until)
            await self._note_presence(turn.agent, away=str(error))
            return
        except CallFailed as error:
            current = self._debate or debate
            if isinstance(error, ProviderDown | ProviderBusy) and current.outage and waits:
                # Its time is up, but a turn does not fail because of an outage: take it again.
                self._dropped += error.usage
                self._postpone(turn, None)
                return
            cause = FailureCause.PASSING
            if isinstance(error, CapReached):
                cause = FailureCause.CAP
            elif isinstance(error, KeyRefused | ProviderMissing):
                cause = FailureCause.KEY
            failure = Failure(turn=turn, reason=str(error), usage=error.usage, cause=cause)
            event = TurnFailed(failure=failure)
            _log.warning("turn failed", debate=debate.id, turn=turn.key, reason=str(error))
        except asyncio.CancelledError:
            self._dropped = sum(usages, start=self._dropped)
            raise
        writing = asyncio.ensure_future(self._record(event, turn.agent if is_answered else ""))
        try:
            self._note(await asyncio.shield(writing))
        except asyncio.CancelledError:
            # Cancelled while its outcome is being written: keep the outcome, it is paid for.
            await asyncio.wait([writing], timeout=RECORDING_SECONDS)
            if writing.done() and not writing.exception():
                self._note(writing.result())
            else:
                writing.cancel()
                self._dropped = sum(usages, start=self._dropped)
            raise

    async def _record(self, event: Event, agent: str) -> RecordedEvent:
        """Record an outcome. `agent`: whose model replied; empty: none."""
        recorded = await self._write(event)
        if agent:  # before the outcome is noted: the next step cancels the turn as obsolete
            await self._note_presence(agent, away="")
        return recorded

    def _postpone(self, turn: Turn, until: datetime | None) -> None:
        """Take the turn again, at once or at that time. In an outage its waiting time restarts."""
        now, previous = self._clock.now(), self._waiting.get(turn.key)
        if self._debate and self._debate.outage:
            previous = None
        since = previous.since if previous else now
        self._waiting[turn.key] = WaitingTurn(turn, since, until or now)
        self._changed.set()

    async def _note_presence(self, agent: str, *, away: str) -> None:
        """Record that an agent's model is unavailable (`away`: the reason) or available again.

        Concurrent turns that notice it write the same event, because its key has the log's number.
        """
        debate = self._debate
        if debate is None or bool(away) == (agent in debate.unavailable_agents):
            return
        if away:
            _log.warning("model away", debate=debate.id, agent=agent, reason=away)
            await self._append(ModelWentAway(agent=agent, reason=away, origin=str(debate.seq)))
            return
        now = self._clock.now()
        self._waiting = {key: turn._replace(until=now) for key, turn in self._waiting.items()}
        await self._append(ModelCameBack(agent=agent, origin=str(debate.seq)))

    async def _append(self, event: Event) -> None:
        self._note(await self._write(event))

    async def _write(self, event: Event) -> RecordedEvent:
        asked_at = self._clock.now()
        result = await self._store.append(
            self._token.debate_id, event, at=asked_at, run=self._token
        )
        self._proven_at = asked_at
        return result.recorded

    def _note(self, recorded: RecordedEvent) -> None:
        self._own[recorded.seq] = recorded
        self._changed.set()

    async def _check_lease(self) -> None:
        """Check that this run still holds the debate: another process may have taken it over."""
        good_for = PROOF_SECONDS
        # Negative if the clock was set back.
        while not 0 <= (self._clock.now() - self._proven_at).total_seconds() < good_for:
            asked_at = self._clock.now()
            await self._store.check_run(self._token)
            self._proven_at = asked_at
            # A busy database may take longer. If the process was frozen meanwhile, check again.
            good_for = ASKING_SECONDS

    async def _wait(self, debate: Debate) -> None:
        """Wait until the log may have grown or a time limit is reached. Raise a turn's error."""
        waits = [seconds for seconds, _ in self._limits(debate)]
        now, due = self._clock.now(), schedule.due(debate)
        # The time for answers ends while summaries are running, but not while other turns are;
        # those wake this loop when they end.
        if due and debate.status is Status.RUNNING and not self._in_foreground():
            waits.append((due - now).total_seconds())
        waits += [(waiting.until - now).total_seconds() for waiting in self._waiting_turns()]
        try:
            longest = debate.setup.limits.turn_seconds
            async with asyncio.timeout(max(0.0, min(waits, default=longest))):
                await self._changed.wait()
        except TimeoutError:
            self._woken = True  # other processes may have written
            await self._enforce_limits(debate)
        self._changed.clear()
        self._telling.is_done()  # raises an error of the sink
        for key in [key for key, work in self._working.items() if work.task.done()]:
            self._working.pop(key).task.result()

    def _limits(self, debate: Debate) -> Iterator[tuple[float, TimeRanOut | TurnFailed]]:
        """Yield the seconds until each time limit, with its event. An outage stops other limits."""
        limits, now = debate.setup.limits, self._clock.now()
        if debate.status is not Status.RUNNING:
            return
        if debate.outage_at:
            outage_time = (now - debate.outage_at).total_seconds()
            yield limits.outage_seconds - outage_time, TimeRanOut(of_outage=True)
            return
        # Time before this run began does not count: no process worked on the debate.
        since = max(0.0, (now - max(debate.now, self._began)).total_seconds())
        if not debate.out_of_time and not debate.verdict:
            yield limits.debate_seconds - debate.work_seconds - since, TimeRanOut()
        for turn in (entry.turn for entry in (*self._in_foreground(), *self._waiting_turns())):
            # Questions, vote and verdict have no time limit of a round.
            if turn.round and turn.agent != ENGINE and not schedule.is_ending(turn):
                remaining = limits.round_seconds - schedule.working_time(debate, turn.round) - since
                yield remaining, _late(turn, "The round's time was up.")
        if self._ending_since:  # the end waits for summaries and the shadow answer
            remaining = self._summary_grace - (now - self._ending_since).total_seconds()
            reason = f"It was not there {duration(self._summary_grace)} after all else was done."
            for work in self._working.values():
                yield remaining, _late(work.turn, reason)

    async def _enforce_limits(self, debate: Debate) -> None:
        events = [event for seconds, event in self._limits(debate) if seconds <= 0]
        if events and isinstance(events[0], TimeRanOut):
            await self._append(events[0])
            return
        keys = [event.key for event in events]
        await self._drop([key for key in keys if key in self._working])
        for event in events:
            await self._append(event)

    def _in_foreground(self) -> Sequence[RunningTurn]:
        return [work for work in self._working.values() if work.turn.act not in BACKGROUND_ACTS]

    def _waiting_turns(self) -> Sequence[WaitingTurn]:
        return [turn for key, turn in self._waiting.items() if key not in self._working]


def _finishes_first(debate: Debate) -> bool:
    """Whether to wait for running turns: the money is used up, and nothing else ends the debate."""
    ends_early = debate.stop or debate.out_of_time or debate.vote_called_by or debate.paused_by
    is_running = debate.status is Status.RUNNING and not debate.verdict
    return bool(is_running and debate.out_of_money and not ends_early)


def _late(turn: Turn, reason: str) -> TurnFailed:
    return TurnFailed(failure=Failure(turn=turn, reason=reason, usage=Usage()))
