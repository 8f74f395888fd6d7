"""The engine loop: start ready turns, record their outcomes, have them told, repeat.

A run holds one debate by its run token. Results are recorded by the key of their turn before
anything builds on them, so resuming after a crash is the same loop over the same log, and a model
call whose answer is in the log is never made again.

Reason: the loop, and what it starts, lets go of and waits for, are read together.
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
from core.debate.turn import BESIDE, ENGINE, JUDGE, Turn
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

#: Seconds for which a run believes that it still holds its debate: far less than another process
#: waits before it takes over what a frozen one holds.
PROOF_SECONDS = 1.0
#: Seconds that the database may take to say so: less than until others take over, too.
ASKING_SECONDS = 10.0
#: Seconds that the outcome of a turn which is let go may take to be recorded.
RECORDING_SECONDS = 5.0
#: Seconds that summaries still being made may take when all else of a debate is done.
SUMMARY_GRACE = 15.0


class RunningTurn(NamedTuple):
    turn: Turn
    task: asyncio.Task[None]
    #: Whether it may be offered again where its models are away.
    waits: bool


class WaitingTurn(NamedTuple):
    turn: Turn
    since: datetime
    until: datetime


class TurnTaker(Protocol):
    """Takes turns; `core.acts.take.Turns.take` says what is asked of it.

    Every error but `ModelsAway` and `CallFailed` is a fault of ours and stops the run loudly.
    """

    async def take(
        self,
        debate: Debate,
        turn: Turn,
        book: Callable[[Usage], None],
        *,
        prove: Callable[[], Awaitable[None]],
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

        Every event is on disk before it is published and before anything builds on it. Calling it
        again for an ended debate publishes what was not published yet and returns.

        Raises:
            DebateUnknown: No such debate.
            RunLost: Another run has taken the debate over; this one has stopped working on it.
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
        """Tell a running debate that its log has grown; False if it is not running here."""
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
        #: What calls spent that were given up, until it is booked.
        self._dropped = Usage()
        #: What this run has written since its last step, by number.
        self._own: dict[int, RecordedEvent] = {}
        self._woken = False
        self._changed = asyncio.Event()
        self._telling = SinkFeed(
            store=engine.store,
            sink=engine.sink,
            prove=self._prove,
            published=published,
            on_end=self._changed.set,
        )
        #: The debate as this run last saw it.
        self._debate: Debate | None = None
        #: Since when only summaries keep the debate from its end.
        self._ending_since: datetime | None = None
        #: When the database last said that this run holds the debate.
        self._proven_at = self._began

    def wake(self) -> None:
        """Note that the log has grown; the next step reads it from the store."""
        self._woken = True
        self._changed.set()

    async def advance(self) -> Debate:
        while True:
            debate, is_idle = await self._step()
            if is_idle and not self._changed.is_set() and self._telling.is_done():
                return debate
            await self._wait(debate)

    async def _step(self) -> tuple[Debate, bool]:
        """Do one step. Returns the debate after it and whether nothing is left to do for now."""
        debate, news = await self._catch_up()
        began = await self._start_ready(debate)
        if news or began:
            self._telling.tell(news, debate, began)
        if self._own:  # recorded meanwhile, as what was let go: the next step builds on it
            return debate, False
        usage, self._dropped = self._dropped, Usage()
        if usage.attempts:  # what given-up calls have spent, also where the debate has just ended
            await self._append(CallsDropped(usage=usage, origin=str(debate.seq)))
        is_busy = bool(self._in_foreground() or self._waiting_turns())
        if debate.status is not Status.RUNNING or is_busy:
            self._ending_since = None  # it goes on: the next end waits for summaries anew
        if debate.status is not Status.RUNNING:
            return debate, not self._in_foreground()  # people may ask about it
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
        """Record the end of a debate, or of the time for answers, where either has come.

        Nobody waits for a summary: only people or a time can bring the debate on.
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
        """Stop telling and all running turns; those without an outcome in the log run again later.

        All are told to stop before anything is waited for, so that nothing of it goes on where
        this is cancelled as well.
        """
        self._telling.stop()
        await self._drop(list(self._working))
        await self._telling.wait_until_stopped()
        # Else the two would keep each other, and the debate, until cycles are looked for.
        del self._telling

    async def _drop(self, keys: Sequence[str]) -> None:
        tasks = [self._working.pop(key).task for key in keys]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _catch_up(self) -> tuple[Debate, Sequence[FoldedEvent]]:
        debate = self._debate
        seq = debate.seq if debate else 0
        added: Sequence[RecordedEvent] = [self._own[at] for at in sorted(self._own) if at > seq]
        self._own.clear()
        woken, self._woken = self._woken, False
        is_gapless = not added or added[-1].seq == seq + len(added)
        if woken or debate is None or not is_gapless:  # not all that follows is this run's own
            added = await self._store.all_events(self._token.debate_id, after=seq)
        news: list[FoldedEvent] = []
        for recorded in added:
            debate = apply(debate, recorded)
            news.append(FoldedEvent(debate, recorded))
        if debate is None:
            raise LogBroken(f"The log of debate {self._token.debate_id} is empty.")
        self._debate = debate
        return debate, news

    async def _start_ready(self, debate: Debate) -> Sequence[Turn]:
        """Start ready turns and cancel unwanted ones. Returns all ready turns if any is new.

        What runs beside the debate is finished, but for what nobody reads any more, and not begun
        at the end.
        """
        if self._in_foreground() and _finishes_first(debate):
            return ()
        ready = {turn.key: turn for turn in schedule.ready(debate)}
        if schedule.conclusion(debate):
            ready = {}
        self._waiting = {key: turn for key, turn in self._waiting.items() if key in ready}
        await self._drop(self._obsolete_turns(debate, ready))
        recorded = {entry.event.key for entry in self._own.values()}  # while they were dropped
        now, has_new = self._clock.now(), False
        for key, turn in ready.items():
            waits, waiting = self._waits(debate, turn), self._waiting.get(key)
            is_put_off = waits and waiting is not None and waiting.until > now
            if key in self._working or key in recorded or is_put_off:
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
        # Once the judge writes, nobody would read the summary that is made for it.
        return [
            turn.key
            for turn in turns
            if debate.paused_by or turn.act not in BESIDE or turn.agent == JUDGE
        ]

    def _waits(self, debate: Debate, turn: Turn) -> bool:
        """Whether a turn waits for models that are away: as long as it may take, or an outage."""
        now, waiting = self._clock.now(), self._waiting.get(turn.key)
        waited = (now - waiting.since).total_seconds() if waiting else 0.0
        is_over = waited >= debate.setup.limits.turn_seconds and not debate.outage
        return schedule.waits_for_models(debate, turn.act) and not is_over

    async def _take(self, debate: Debate, turn: Turn, *, waits: bool) -> None:
        """Take one turn and record its outcome; or offer it again when its models may be back."""
        spent: list[Usage] = []
        is_answered = False
        try:
            event = await self._turns.take(
                debate, turn, spent.append, prove=self._prove, waits=waits
            )
            is_answered = bool(spent)  # what no model was asked says nothing about one
        except ModelsAway as error:
            self._dropped = sum(spent, start=self._dropped)
            self._put_off(turn, error.until)
            await self._note_presence(turn.agent, away=str(error))
            return
        except CallFailed as error:
            now = self._debate or debate
            if isinstance(error, ProviderDown | ProviderBusy) and now.outage and waits:
                # Its time is up, but nothing is concluded by an outage: it is taken anew.
                self._dropped += error.usage
                self._put_off(turn, None)
                return
            event = _failure_event(turn, error)
            _log.warning("turn failed", debate=debate.id, turn=turn.key, reason=str(error))
        except asyncio.CancelledError:
            self._dropped = sum(spent, start=self._dropped)
            raise
        writing = asyncio.ensure_future(self._record(event, turn.agent if is_answered else ""))
        try:
            self._note(await asyncio.shield(writing))
        except asyncio.CancelledError:
            # Let go on the way to the log: what came of it is kept, for it is paid for.
            await asyncio.wait([writing], timeout=RECORDING_SECONDS)
            if writing.done() and not writing.exception():
                self._note(writing.result())
            else:
                writing.cancel()
                self._dropped = sum(spent, start=self._dropped)
            raise

    async def _record(self, event: Event, answered: str) -> RecordedEvent:
        recorded = await self._write(event)
        if answered:  # once the outcome is noted the turn is obsolete, and let go
            await self._note_presence(answered, away="")
        return recorded

    def _put_off(self, turn: Turn, until: datetime | None) -> None:
        """Have the turn offered again, at once or at that time; in an outage no time of it runs."""
        now, before = self._clock.now(), self._waiting.get(turn.key)
        if self._debate and self._debate.outage:
            before = None
        since = before.since if before else now
        self._waiting[turn.key] = WaitingTurn(turn, since, until or now)
        self._changed.set()

    async def _note_presence(self, agent: str, *, away: str) -> None:
        """Record that an agent's model went away, and why, or is back; other turns may wait for it.

        Turns that see the same at the same time write the same event: its key has the log's number.
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
        appended = await self._store.append(
            self._token.debate_id, event, at=asked_at, run=self._token
        )
        self._proven_at = asked_at
        return appended.recorded

    def _note(self, recorded: RecordedEvent) -> None:
        self._own[recorded.seq] = recorded
        self._changed.set()

    async def _prove(self) -> None:
        """Make sure that this run holds the debate: it may have been frozen, and taken over."""
        good_for = PROOF_SECONDS
        # Below zero: the clock was set back.
        while not 0 <= (self._clock.now() - self._proven_at).total_seconds() < good_for:
            asked_at = self._clock.now()
            await self._store.check_run(self._token)
            self._proven_at = asked_at
            # A busy database may take longer; frozen on the way, this asks again.
            good_for = ASKING_SECONDS

    async def _wait(self, debate: Debate) -> None:
        """Wait until the log may have grown or a time limit is reached; raise a turn's error."""
        waits = [seconds for seconds, _ in self._limits(debate)]
        now, due = self._clock.now(), schedule.due(debate)
        # The time to answer ends despite summaries under way, but not during turns that the debate
        # waits for; these wake this loop.
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
        self._telling.is_done()  # raises what telling has raised
        for key in [key for key, work in self._working.items() if work.task.done()]:
            self._working.pop(key).task.result()

    def _limits(self, debate: Debate) -> Iterator[tuple[float, TimeRanOut | TurnFailed]]:
        """Seconds until each time limit, and what happens then. In an outage no other time runs."""
        limits, now = debate.setup.limits, self._clock.now()
        if debate.status is not Status.RUNNING:
            return
        if debate.outage_at:
            waited = (now - debate.outage_at).total_seconds()
            yield limits.outage_seconds - waited, TimeRanOut(of_outage=True)
            return
        # Before this run began, nobody worked.
        since = max(0.0, (now - max(debate.now, self._began)).total_seconds())
        if not debate.out_of_time and not debate.verdict:
            yield limits.debate_seconds - debate.work_seconds - since, TimeRanOut()
        for turn in (entry.turn for entry in (*self._in_foreground(), *self._waiting_turns())):
            # Questions, vote and verdict do not count against a round's time.
            if turn.round and turn.agent != ENGINE and not schedule.is_ending(turn):
                remaining = limits.round_seconds - schedule.working_time(debate, turn.round) - since
                yield remaining, _late(turn, "The round's time was up.")
        if self._ending_since:  # only summaries and the shadow answer keep it from its end
            remaining = self._summary_grace - (now - self._ending_since).total_seconds()
            late = f"It was not there {duration(self._summary_grace)} after all else was done."
            for work in self._working.values():
                yield remaining, _late(work.turn, late)

    async def _enforce_limits(self, debate: Debate) -> None:
        events = [event for seconds, event in self._limits(debate) if seconds <= 0]
        if events and isinstance(events[0], TimeRanOut):
            await self._append(events[0])
            return
        late = [event.key for event in events]
        await self._drop([key for key in late if key in self._working])
        for event in events:
            await self._append(event)

    def _in_foreground(self) -> Sequence[RunningTurn]:
        return [work for work in self._working.values() if work.turn.act not in BESIDE]

    def _waiting_turns(self) -> Sequence[WaitingTurn]:
        return [turn for key, turn in self._waiting.items() if key not in self._working]


def _finishes_first(debate: Debate) -> bool:
    """Whether what is in hand is waited for: it is paid for, money is out, and nobody hurries."""
    hurried = debate.stop or debate.out_of_time or debate.vote_called_by or debate.paused_by
    running = debate.status is Status.RUNNING and not debate.verdict
    return bool(running and debate.out_of_money and not hurried)


def _late(turn: Turn, reason: str) -> TurnFailed:
    return TurnFailed(failure=Failure(turn=turn, reason=reason, usage=Usage()))


def _failure_event(turn: Turn, error: CallFailed) -> TurnFailed:
    cause = FailureCause.PASSING
    if isinstance(error, CapReached):
        cause = FailureCause.CAP
    elif isinstance(error, KeyRefused | ProviderMissing):
        cause = FailureCause.KEY
    failure = Failure(turn=turn, reason=str(error), usage=error.usage, cause=cause)
    return TurnFailed(failure=failure)
