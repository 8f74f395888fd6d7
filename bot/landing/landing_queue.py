"""Deliveries outside Slack: each receiver has a lane of the queue, which is delivered in order."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.landing.receivers import LandedRecord, Landing, LandingFailed, Receiver, ReceiverClosed
from bot.log import logger
from bot.queue.landings import Landings, new_landing
from bot.queue.outbox import Outbox
from bot.queue.rows import LANDING, PostRow, PostState
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate
from core.debate.turn import Turn
from core.errors import DebateUnknown, LogBroken
from core.ports import DebateStore

_log = logger(__name__)

#: Seconds to wait after each failed attempt; after the last one the landing is a dead letter.
#: From seconds to hours, as Standard Webhooks recommend
#: (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
WAITS: Sequence[float] = (5, 60, 300, 1800, 7200, 18_000, 50_400)
#: Longest pause that a receiver can request, in seconds.
LONGEST_PAUSE = 86_400.0
#: Failed attempts after which people are told; short failures are not reported.
REPORTED_AFTER = 2


class LandingReporter(Protocol):
    """Reports the result of a landing in a debate's thread. A repeated report has no effect."""

    async def report_landing(
        self, receiver: str, landing: Landing, record: LandedRecord, /
    ) -> None: ...

    async def report_failure(
        self, receiver: Receiver, landing: Landing, reason: str, /, *, again_after: float | None
    ) -> None:
        """`again_after` are seconds to the next attempt; None: there is none."""
        ...


@dataclass
class LandingQueue:
    """An `EventSink` that brings events to receivers. Methods raise `StoreDown`."""

    outbox: Outbox
    store: DebateStore
    receivers: Mapping[str, Receiver]
    tell: LandingReporter
    #: Returns the address of a debate's thread; empty if there is none.
    thread_link: Callable[[Debate], Awaitable[str]]
    #: Called after every attempt with "landed", "failed" or "dead".
    on_outcome: Callable[[str], None]
    landings: Landings = field(init=False)

    def __post_init__(self) -> None:
        self.landings = Landings(self.outbox.posts.database)
        self.outbox.steps[LANDING] = self._step

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        """Queue an event for every receiver that wants it; an event is queued only once."""
        rows = [
            new_landing(name, debate.id, recorded.seq)
            for name, receiver in self.receivers.items()
            if receiver.wants(debate, recorded)
        ]
        if rows:
            await self.outbox.post(rows)

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Does nothing: receivers get recorded events only."""

    async def retry(self) -> int:
        """Send dead letters and waiting landings now; return their number."""
        lanes = await self.landings.retry()
        for lane in lanes:
            self.outbox.wake(lane)
        return len(lanes)

    async def _step(self, lane: str) -> float | None:
        """Try to deliver a receiver's next landing; see `bot.queue.outbox.Step`."""
        receiver = self.receivers.get(lane.partition("/")[2])
        waiting = await self.landings.next_for(lane) if receiver else None
        if receiver is None or waiting is None:
            return None
        if waiting.due_in > 0:
            return waiting.due_in
        leases = self.outbox.outgoing.leases
        row = await self.outbox.posts.claim(waiting, leases.owner)
        if row is None:
            await leases.confirm(lane)
            return 0.0
        try:
            landing = await self._landing(row)
        except (DebateUnknown, LogBroken) as error:
            # Without a readable debate there is no thread for a report; `moot doctor` reports it.
            await self._settle(row, PostState.FAILED, "dead", error=str(error))
            return 0.0
        try:
            record = await receiver.deliver(landing)
        except LandingFailed as error:
            await self._handle_failure(receiver, row, landing, error)
        except Exception as error:  # noqa: BLE001 - else later landings would wait for ever
            _log.error("a receiver failed", receiver=receiver.name, exc_info=error)
            text = f"It failed unexpectedly ({type(error).__name__}); see the log."
            await self._handle_failure(receiver, row, landing, LandingFailed(text))
        else:
            if receiver.failure_text:
                await self.tell.report_landing(receiver.name, landing, record)
            await self._settle(row, PostState.SENT, "landed", ts=record.place)
        return 0.0

    async def _landing(self, row: PostRow) -> Landing:
        debate_id, seq = row.debate_id or "", row.wanted_seq
        log = await self.store.events(debate_id)
        entries = [entry for entry in log if entry.seq <= seq]
        if not entries or entries[-1].seq != seq:
            raise DebateUnknown(f"Debate {debate_id} has no event {seq}.")
        # Includes the time: after a restore, another event may have the same number.
        name = f"{debate_id}/{seq}/{entries[-1].at.isoformat()}"
        debate = fold(entries)
        return Landing(
            id=f"msg_{hashlib.sha256(name.encode()).hexdigest()[:32]}",
            recorded=entries[-1],
            debate=debate,
            newest=fold(log),
            link=await self.thread_link(debate),
            places=await self.landings.places(row.lane),
        )

    async def _handle_failure(
        self, receiver: Receiver, row: PostRow, landing: Landing, error: LandingFailed
    ) -> None:
        reason = str(error)
        _log.warning("not landed", receiver=receiver.name, debate=row.debate_id, reason=reason)
        state, wait = PostState.FAILED, None
        if isinstance(error, ReceiverClosed):
            state, wait = PostState.GONE, 0.0  # waits until the receiver is opened again
        elif not error.is_final and row.attempts <= len(WAITS):
            pause = min(error.after or 0.0, LONGEST_PAUSE)
            state, wait = PostState.WAITING, max(WAITS[row.attempts - 1], pause)
        if receiver.failure_text and (wait is None or row.attempts == REPORTED_AFTER):
            await self.tell.report_failure(receiver, landing, reason, again_after=wait)
        outcome = "dead" if wait is None else "failed"
        await self._settle(row, state, outcome, error=reason, after=wait or 0.0)

    async def _settle(self, row: PostRow, state: PostState, outcome: str, **values: Any) -> None:
        """Record the result, unless another process took over or the debate was deleted."""
        if await self.outbox.posts.settle(row, state, **values):
            self.on_outcome(outcome)
        else:
            _log.warning("let go", lane=row.lane, debate=row.debate_id)
