"""Telling a sink what happened in one debate, in order, while the debate goes on."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from core.debate.log import RecordedEvent, apply, fold
from core.debate.people_events import BallotsRevealed
from core.debate.state import Debate, Status
from core.debate.turn import Turn
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
        on_end: Callable[[], None],
    ) -> None:
        """Begin with nothing to tell.

        Args:
            store: Where it is written down how far events were told.
            sink: Who is told.
            prove: Awaited before each event; raises if the run no longer holds the debate.
            published: Events up to this one were told by an earlier run.
            on_end: Called whenever there is nothing more to tell, or telling has failed.
        """
        self._store, self._sink, self._prove, self._on_end = store, sink, prove, on_end
        #: Up to which event the sink was told, and up to which that is written down.
        self._told = self._noted = published
        self._steps = deque[_Step]()
        self._task: asyncio.Task[None] | None = None

    def tell(self, news: Sequence[FoldedEvent], debate: Debate, began: Sequence[Turn]) -> None:
        """Have the sink told of these events, then of the turns in hand; returns at once."""
        self._steps.append(_Step(news, debate, began))
        if self.is_done():
            self._task = asyncio.create_task(self._tell(), name=f"{debate.id}/telling")
            self._task.add_done_callback(lambda _: self._on_end())

    def is_done(self) -> bool:
        """Whether everything was told; raises what the sink, the database or `prove` has raised."""
        if self._task and self._task.done():
            self._task.result()
        return self._task is None or self._task.done()

    def stop(self) -> None:
        """Tell no more from now on; what was not told comes when the debate is taken up again."""
        if self._task:
            self._task.cancel()

    async def wait_until_stopped(self) -> None:
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _tell(self) -> None:
        while self._steps:
            news, debate, began = self._steps.popleft()
            for state, recorded in news:
                if recorded.seq > self._told:
                    await self._tell_event(state, recorded)
            if began:
                shown = debate
                if debate.setup.sealed:
                    log = await self._store.events(debate.id)
                    shown = fold(entry for entry in log if entry.seq <= debate.seq)
                await self._prove()
                await self._sink.turns_began(shown, began)
            if not self._steps:
                await self._note(debate)

    async def _tell_event(self, debate: Debate, recorded: RecordedEvent) -> None:
        """Tell an event as it may be read; with the reveal of a sealed debate, the whole log."""
        if self._told - self._noted >= MOST_AGAIN:
            await self._note(debate)
        news = [FoldedEvent(debate, recorded)]
        if debate.setup.sealed:
            state, news = None, list[FoldedEvent]()
            for entry in (await self._store.events(debate.id))[: recorded.seq]:
                state = apply(state, entry)
                news.append(FoldedEvent(state, entry))
            if not isinstance(recorded.event, BallotsRevealed):
                news = news[-1:]
        for folded in news:
            await self._prove()
            await self._sink.publish(*folded)
        self._told = recorded.seq

    async def _note(self, debate: Debate) -> None:
        # What is owed an answer counts as news until it has it, so that it outlives a crash.
        owes = debate.status is not Status.RUNNING and schedule.follow_up_turns(debate)
        if self._told > self._noted and not owes:
            await self._store.mark_published(debate.id, self._told)
            self._noted = self._told
