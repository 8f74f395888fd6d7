"""Telling a sink what happened in one debate, in order, while the debate goes on."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from core.events import Recorded
from core.lane import Lane
from core.models import Debate, Status, Turn
from core.ports import DebateStore, EventSink
from core.rules import schedule


class News(NamedTuple):
    """An event and the debate right after it."""

    debate: Debate
    recorded: Recorded


class _Step(NamedTuple):
    """What one step of a debate has to tell."""

    news: Sequence[News]
    #: The debate after it.
    debate: Debate
    #: All turns in hand, if there is a new one.
    began: Sequence[Turn]


class Telling:
    """Tells the sink what happens in one run of a debate, one event after the other.

    The run does not wait for it: replies that come meanwhile are built upon at once. How far it has
    come is written down when there is nothing more to tell.
    """

    def __init__(
        self,
        *,
        store: DebateStore,
        sink: EventSink,
        lane: Lane,
        published: int,
        on_failure: Callable[[], None],
    ) -> None:
        """Begin with nothing to tell.

        Args:
            store: Where it is written down how far events were told.
            sink: Who is told.
            lane: Where each event waits to be told.
            published: Events up to this one were told before the last stop.
            on_failure: Called when the sink or the database has failed; `check` says how.
        """
        self._store = store
        self._sink = sink
        self._lane = lane
        self._published = published
        self._on_failure = on_failure
        self._steps = deque[_Step]()
        self._task: asyncio.Task[None] | None = None

    def tell(self, news: Sequence[News], debate: Debate, began: Sequence[Turn]) -> None:
        """Have the sink told of these events, then of the turns in hand; returns at once."""
        self._steps.append(_Step(news, debate, began))
        if self._task is None or self._task.done():
            self.check()
            self._task = asyncio.create_task(self._tell(), name=f"{debate.id}/telling")
            self._task.add_done_callback(self._tell_if_it_failed)

    def check(self) -> None:
        """Raise what the sink or the database has raised, if it has."""
        if self._task and self._task.done():
            self._task.result()

    async def done(self) -> None:
        """Wait until the sink was told of everything; raise what it or the database raises."""
        if self._task:
            await self._task

    async def cancel(self) -> None:
        """Tell no more; what was not told comes again when the debate is taken up."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _tell_if_it_failed(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception():
            self._on_failure()

    async def _tell(self) -> None:
        reached = self._published
        while self._steps:
            news, debate, began = self._steps.popleft()
            for then, recorded in news:
                if recorded.seq > reached:
                    await self._lane.enter()
                    await self._sink.publish(then, recorded)
                    reached = recorded.seq
            if began:
                await self._sink.turns_began(debate, began)
            # What is owed an answer counts as news until it has it, so that it outlives a crash.
            owes = debate.status is not Status.RUNNING and schedule.unanswered(debate)
            if not self._steps and reached > self._published and not owes:
                await self._store.mark_published(debate.id, reached)
                self._published = reached
