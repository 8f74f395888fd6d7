"""Publishes the events of one debate to a sink, in order, while the debate goes on."""

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

#: The position in the log is stored when all events are published, and at the latest after this
#: many events: after a crash those are published again.
MOST_AGAIN = 20


class Sinks:
    """Combines several sinks. Each gets an event after the sinks before it have accepted it."""

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
    #: All turns in progress, if there is a new one.
    began: Sequence[Turn]


class SinkFeed:
    """Publishes the events of one run to the sink, one after the other.

    The run does not wait for the sink.
    """

    def __init__(
        self,
        *,
        store: DebateStore,
        sink: EventSink,
        check_lease: Callable[[], Awaitable[None]],
        published: int,
        on_end: Callable[[], None],
    ) -> None:
        """Start nothing yet; `publish_later` adds events.

        Args:
            store: Stores the position up to which events are published.
            sink: Receives the events.
            check_lease: Awaited before each event; raises if the run no longer holds the debate.
            published: An earlier run published the events up to this `seq`.
            on_end: Called when all events are published, or publishing has failed.
        """
        self._store, self._sink, self._check_lease, self._on_end = store, sink, check_lease, on_end
        #: The `seq` of the last published event, and the last `seq` that is stored.
        self._published_seq = self._stored_seq = published
        self._steps = deque[_Step]()
        self._task: asyncio.Task[None] | None = None

    def publish_later(
        self, news: Sequence[FoldedEvent], debate: Debate, began: Sequence[Turn]
    ) -> None:
        """Queue these events, then the turns in progress, for the sink. Returns at once."""
        self._steps.append(_Step(news, debate, began))
        if self.is_done():
            self._task = asyncio.create_task(self._publish(), name=f"{debate.id}/telling")
            self._task.add_done_callback(lambda _: self._on_end())

    def is_done(self) -> bool:
        """Whether all is published. Raises an error of the sink, the database or `check_lease`."""
        if self._task and self._task.done():
            self._task.result()
        return self._task is None or self._task.done()

    def stop(self) -> None:
        """Stop publishing. The next run publishes the remaining events."""
        if self._task:
            self._task.cancel()

    async def wait_until_stopped(self) -> None:
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _publish(self) -> None:
        while self._steps:
            news, debate, began = self._steps.popleft()
            for state, recorded in news:
                if recorded.seq > self._published_seq:
                    await self._publish_event(state, recorded)
            if began:
                visible = debate
                if debate.setup.sealed:
                    log = await self._store.events(debate.id)
                    visible = fold(entry for entry in log if entry.seq <= debate.seq)
                await self._check_lease()
                await self._sink.turns_began(visible, began)
            if not self._steps:
                await self._note(debate)

    async def _publish_event(self, debate: Debate, recorded: RecordedEvent) -> None:
        """Publish an event without withheld content; after a reveal, publish the whole log."""
        if self._published_seq - self._stored_seq >= MOST_AGAIN:
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
            await self._check_lease()
            await self._sink.publish(*folded)
        self._published_seq = recorded.seq

    async def _note(self, debate: Debate) -> None:
        # A follow-up question without an answer stays unpublished, so that a restart resumes it.
        owes = debate.status is not Status.RUNNING and schedule.follow_up_turns(debate)
        if self._published_seq > self._stored_seq and not owes:
            await self._store.mark_published(debate.id, self._published_seq)
            self._stored_seq = self._published_seq
