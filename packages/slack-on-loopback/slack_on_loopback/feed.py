"""Live events for open pages, and a signal for waiting callers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from slack_on_loopback.json_values import Json

_GLANCE_SECONDS = 0.05


@dataclass(eq=False, slots=True)
class Viewer:
    """One open page."""

    user: str
    queue: asyncio.Queue[Json] = field(default_factory=asyncio.Queue[Json])


@dataclass(slots=True)
class PageFeed:
    """Sends each event to the viewers who may see it."""

    viewers: list[Viewer] = field(default_factory=list[Viewer])
    #: Set from the first viewer on.
    watched: asyncio.Event = field(default_factory=asyncio.Event)

    def join(self, user: str) -> Viewer:
        viewer = Viewer(user)
        self.viewers.append(viewer)
        self.watched.set()
        return viewer

    def leave(self, viewer: Viewer) -> None:
        self.viewers.remove(viewer)

    def tell(self, event: Json, may_see: Callable[[str], bool]) -> None:
        """Queue an event for every viewer who may see it."""
        for viewer in self.viewers:
            if may_see(viewer.user):
                viewer.queue.put_nowait(event)

    def tell_each(self, event_for: Callable[[str], Json]) -> None:
        """Queue a different event for each viewer."""
        for viewer in self.viewers:
            viewer.queue.put_nowait(event_for(viewer.user))

    def tell_user(self, user: str, event: Json) -> None:
        """Queue an event for one user's pages."""
        self.tell(event, lambda viewer: viewer == user)


@dataclass(slots=True)
class ChangeSignal:
    """Wakes all waiting callers after a change."""

    waiting: list[asyncio.Future[None]] = field(default_factory=list[asyncio.Future[None]])

    def notify(self) -> None:
        """Wake all waiting callers."""
        waiting, self.waiting = self.waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def until(self, predicate: Callable[[], object], seconds: float) -> None:
        """Wait until the predicate is true; check it after every change.

        Changes outside the workspace give no signal, so it also checks at intervals.

        Raises:
            TimeoutError: it was not true in time.
        """
        async with asyncio.timeout(seconds):
            while not predicate():
                future = asyncio.get_running_loop().create_future()
                self.waiting.append(future)
                await asyncio.wait([future], timeout=_GLANCE_SECONDS)
