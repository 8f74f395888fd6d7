"""Telling a sink what happened in one debate, in order, while the debate goes on."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from core.debate.log import RecordedEvent, apply, fold
from core.debate.people_events import BallotsRevealed
from core.debate.state import Debate, Status
from core.debate.turn import Turn
from core.errors import StoreError
from core.ports import DebateStore, EventSink
from core.rules import schedule

#: How far the sink was told is written down when there is nothing more to tell, and at the latest
#: after so many events: after a crash they are told again.
MOST_AGAIN = 20


class Sinks:
    """An `EventSink` of several: each hears what those before it have taken."""

    def __init__(self, *sinks: EventSink) -> None:
        self._sinks = sinks

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        for sink in self._sinks:
            await sink.publish(debate, recorded)

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        for sink in self._sinks:
            await sink.turns_began(debate, turns)


class FoldedEvent(NamedTuple):
    debate: Debate
    recorded: RecordedEvent


class _Step(NamedTuple):
    news: Sequence[FoldedEvent]
    debate: Debate
    #: All turns in hand, if there is a new one.
    began: Sequence[Turn]


class SinkFeed:
    """Tells the sink what happens in one run of a debate, one event after the other.

    The run does not wait for it: replies that come meanwhile are built upon at once.
    """

    def __init__(
        self,
        *,
        store: DebateStore,
        sink: EventSink,
        prove: Callable[[], Awaitable[None]],
        published: int,
        on_end: Callable[[asyncio.Task[None]], None],
    ) -> None:
        """Begin with nothing to tell.

        Args:
            store: Where it is written down how far events were told.
            sink: Who is told.
            prove: Awaited before each event; raises if the run no longer holds the debate.
            published: Events up to this one were told by an earlier run.
            on_end: Called whenever there is nothing more to tell, or telling has failed.
        """
        self._store = store
        self._sink = sink
        self._prove = prove
        #: Up to which event the sink was told, and up to which that is written down.
        self._told = self._noted = published
        self._on_end = on_end
        self._steps = deque[_Step]()
        self._task: asyncio.Task[None] | None = None

    def tell(self, news: Sequence[FoldedEvent], debate: Debate, began: Sequence[Turn]) -> None:
        """Have the sink told of these events, then of the turns in hand; returns at once."""
        self._steps.append(_Step(news, debate, began))
        if self._task is None or self._task.done():
            self.check()
            self._task = asyncio.create_task(self._tell(), name=f"{debate.id}/telling")
            self._task.add_done_callback(self._on_end)

    def check(self) -> None:
        """Raise what the sink, the database or `prove` has raised, if one of them has."""
        if self._task and self._task.done():
            self._task.result()

    async def wait_until_done(self, *, unless: asyncio.Event, seconds: float | None = None) -> bool:
        """Wait until the sink was told of everything; False if `unless` or the time came first."""
        if self._task:
            interrupted = asyncio.create_task(unless.wait())
            try:
                await asyncio.wait(
                    (self._task, interrupted),
                    timeout=seconds,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            finally:
                interrupted.cancel()
            self.check()
        return not unless.is_set() and (self._task is None or self._task.done())

    def stop(self) -> None:
        """Tell no more from now on; what was not told comes when the debate is taken up again."""
        if self._task:
            self._task.cancel()

    async def wait_until_stopped(self) -> None:
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _tell(self) -> None:
        while self._steps:
            step = self._steps.popleft()
            try:
                await self._tell_step(step)
            except Exception:
                with suppress(StoreError):  # what went wrong first is what is raised
                    await self._note(step.debate)
                raise
            if not self._steps:
                await self._note(step.debate)

    async def _tell_step(self, step: _Step) -> None:
        for debate, recorded in step.news:
            if recorded.seq <= self._told:
                continue
            if self._told - self._noted >= MOST_AGAIN:
                await self._note(debate)
            for folded in await self._readable_events(debate, recorded):
                await self._prove()
                await self._sink.publish(*folded)
            self._told = recorded.seq
        if step.began:
            debate = step.debate
            if debate.setup.sealed:
                log = await self._store.events(debate.id)
                debate = fold(entry for entry in log if entry.seq <= step.debate.seq)
            await self._prove()
            await self._sink.turns_began(debate, step.began)

    async def _readable_events(
        self, debate: Debate, recorded: RecordedEvent
    ) -> Sequence[FoldedEvent]:
        """The event as sinks may read it; with the reveal of a sealed debate, the whole log."""
        if not debate.setup.sealed:
            return [FoldedEvent(debate, recorded)]
        news, state = list[FoldedEvent](), None
        for entry in (await self._store.events(debate.id))[: recorded.seq]:
            state = apply(state, entry)
            news.append(FoldedEvent(state, entry))
        return news if isinstance(recorded.event, BallotsRevealed) else news[-1:]

    async def _note(self, debate: Debate) -> None:
        # What is owed an answer counts as news until it has it, so that it outlives a crash.
        owes = debate.status is not Status.RUNNING and schedule.follow_up_turns(debate)
        if self._told > self._noted and not owes:
            await self._store.mark_published(debate.id, self._told)
            self._noted = self._told
