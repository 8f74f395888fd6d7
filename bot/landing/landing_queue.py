"""The queues of what is sent outside Slack: one per receiver, in order, until landed or dead."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from bot.landing.receivers import LandedRecord, Landing, LandingFailed, Receiver, ReceiverClosed
from bot.log import logger
from bot.running.keyed_tasks import KeyedTaskRunner, KeyedTasks
from bot.store.landings import LandingLost, LandingRow, Landings, NewLanding
from core.errors import DebateUnknown, LogBroken
from core.events import Recorded, fold
from core.models import Debate, Turn
from core.ports import Clock, DebateStore, EventSink

_log = logger(__name__)

#: Seconds to wait after each failure in a row, most of a day in all; then it is a dead letter.
#: As the Standard Webhooks suggest: seconds at first, then hours
#: (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
WAITS: Sequence[float] = (5, 60, 300, 1800, 7200, 18_000, 50_400)
#: Longest pause a receiver can ask for, in seconds.
LONGEST_PAUSE = 86_400.0
#: Failures in a row after which people are told: shorter troubles pass by themselves.
TOLD_AFTER = 2


class LandingReporter(Protocol):
    """Tells people in a debate's thread what became of a landing. Telling twice tells once."""

    async def landed(self, receiver: str, landing: Landing, landed: LandedRecord) -> None:
        """Say where it is.

        Raises:
            StoreDown: Nothing was queued.
        """
        ...

    async def failed(
        self, receiver: Receiver, landing: Landing, why: str, *, again_after: float | None
    ) -> None:
        """Say what is undone and why, and when it is tried again; None: not by itself.

        Raises:
            StoreDown: Nothing was queued.
        """
        ...


async def _no_link(debate: Debate) -> str:  # noqa: ARG001 - takes what a real one takes
    """Know no address."""
    return ""


@dataclass
class LandingQueue:
    """Brings events to receivers. `put` may be called from anywhere, and again."""

    landings: Landings
    store: DebateStore
    receivers: Mapping[str, Receiver]
    clock: Clock
    tell: LandingReporter | None = None
    #: Finds the address of a debate's thread; empty: there is none.
    link_of: Callable[[Debate], Awaitable[str]] = _no_link
    #: Told of every attempt: "landed", "failed" or "dead".
    on_outcome: Callable[[str], None] = lambda _outcome: None
    #: Makes what keeps the queues going: in this process, or shared with others.
    supervise: Callable[[Callable[[str], Awaitable[None]]], KeyedTaskRunner[str]] = KeyedTasks
    #: Seconds after which what waits looks whether somebody asked to try again.
    look_seconds: float = 5.0

    def __post_init__(self) -> None:
        self._queues = self.supervise(self._serve)
        self._taking_up = KeyedTasks[str](lambda _: self.look_for_work())

    async def put(self, debate: Debate, recorded: Recorded) -> None:
        """Queue an event for every receiver that wants it; what is known already is left alone.

        Raises:
            StoreDown: Nothing was queued.
        """
        names = [
            name for name, receiver in self.receivers.items() if receiver.wants(debate, recorded)
        ]
        if not names:
            return
        now = self.clock.now()
        await self.landings.enqueue(
            [
                NewLanding(receiver=name, debate_id=debate.id, seq=recorded.seq, queued_at=now)
                for name in names
            ]
        )
        for name in names:
            self._queues.wake(name)

    async def retry(self, which: int | str | None = None) -> int:
        """Send dead letters again, and what waits at once; how many.

        Raises:
            StoreDown: Nothing was changed.
        """
        count = await self.landings.retry(which)
        await self.look_for_work()
        return count

    async def start(self) -> None:
        """Go on with what an earlier process left; keeps trying while the database is down."""
        self._taking_up.wake("landings")

    async def close(self) -> None:
        """Stop; what is under way is tried again next time, with the same id."""
        await self._taking_up.close(1)
        await self._queues.close(2)

    async def look_for_work(self) -> None:
        """Wake every receiver with something to get.

        Raises:
            StoreDown: The database failed.
        """
        for name in await self.landings.receivers_with_work():
            if name in self.receivers:
                self._queues.wake(name)

    async def _serve(self, name: str) -> None:
        """Send a receiver what waits for it, one after the other."""
        receiver = self.receivers.get(name)
        while receiver and (row := await self.landings.next_for(name)) is not None:
            # Not longer than it can be: the clock may have been set back.
            due = row.not_before or self.clock.now()
            left = min((due - self.clock.now()).total_seconds(), LONGEST_PAUSE)
            if left > 0:
                await self.clock.sleep(min(left, self.look_seconds))
                continue
            try:
                await self._attempt(receiver, row)
            except LandingLost as error:
                _log.warning("let go", receiver=name, reason=str(error))
                again = await self.landings.next_for(name)
                if again and again.id == row.id:
                    return  # another process is at it; else its debate was deleted

    async def _attempt(self, receiver: Receiver, waiting: LandingRow) -> None:
        row = await self.landings.begin(waiting)
        try:
            landing = await self._landing(row)
        except (DebateUnknown, LogBroken) as error:
            # Nobody can be told in a thread of it; doctor says it.
            await self.landings.bury(row, str(error))
            self.on_outcome("dead")
            return
        try:
            landed = await receiver.deliver(landing)
        except LandingFailed as error:
            await self._failed(receiver, row, landing, error)
        except Exception as error:  # noqa: BLE001 - or what comes after it would wait for ever
            _log.error("a receiver failed", receiver=receiver.name, exc_info=error)
            words = f"It failed unexpectedly ({type(error).__name__}); the log says more."
            await self._failed(receiver, row, landing, LandingFailed(words))
        else:
            if self.tell and receiver.undone:
                await self.tell.landed(receiver.name, landing, landed)
            await self.landings.land(row, landed.place)
            self.on_outcome("landed")

    async def _landing(self, row: LandingRow) -> Landing:
        log = await self.store.events(row.debate_id)
        upto = [entry for entry in log if entry.seq <= row.seq]
        if not upto or upto[-1].seq != row.seq:
            raise DebateUnknown(f"Debate {row.debate_id} has no event {row.seq}.")
        # With its time: after a restore another event may have the same number.
        name = f"{row.debate_id}/{row.seq}/{upto[-1].at.isoformat()}"
        debate = fold(upto)
        return Landing(
            id=f"msg_{hashlib.sha256(name.encode()).hexdigest()[:32]}",
            recorded=upto[-1],
            debate=debate,
            newest=fold(log),
            link=await self.link_of(debate),
            places=await self.landings.places(row.receiver),
        )

    async def _failed(
        self, receiver: Receiver, row: LandingRow, landing: Landing, error: LandingFailed
    ) -> None:
        """Try again later, or give it up."""
        why, name = str(error), receiver.name
        _log.warning("not landed", receiver=name, debate=row.debate_id, reason=why)
        wait: float | None = None
        if isinstance(error, ReceiverClosed):
            await self.landings.close_receiver(name, why)
            wait = 0.0  # it waits as long as the receiver is closed
        elif not error.is_final and row.failures < len(WAITS):
            asked = min(error.after or 0.0, LONGEST_PAUSE)
            wait = max(WAITS[row.failures], asked)
        is_due = wait is None or row.failures + 1 == TOLD_AFTER
        if self.tell and receiver.undone and is_due:
            await self.tell.failed(receiver, landing, why, again_after=wait)
        if wait is None:
            await self.landings.bury(row, why)
        else:
            await self.landings.postpone(row, self.clock.now() + timedelta(seconds=wait), why)
        self.on_outcome("dead" if wait is None else "failed")


@dataclass
class LandingSink:
    """An `EventSink` before another one: queues what receivers want."""

    sink: EventSink
    queue: LandingQueue

    async def publish(self, debate: Debate, recorded: Recorded) -> None:
        """Publish, then queue."""
        await self.sink.publish(debate, recorded)
        await self.queue.put(debate, recorded)

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        """Pass it on."""
        await self.sink.turns_began(debate, turns)
