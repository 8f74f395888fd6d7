"""Serves lanes: each by one process at a time, step after step, for as long as it has work."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TypeVar

from bot.log import logger
from bot.queue.rows import Posts
from bot.running.keyed_tasks import KeyedTasks, log_failure
from bot.store.leases import LaneLost, Leases

_log = logger(__name__)
T = TypeVar("T")

#: Brings a lane a step further: seconds until the next one; None: nothing is left to be done.
Step = Callable[[str], Awaitable[float | None]]
#: Seconds between two looks for what other processes have queued or left.
POLL_SECONDS = 0.5
#: Seconds that a call in hand may take when the worker stops, before it is left in doubt.
STOP_SECONDS = 3.0


class Worker:
    """Keeps lanes going. `wake` may be called from anywhere, and again."""

    def __init__(self, posts: Posts, leases: Leases, grace: float) -> None:
        """Serve nothing yet.

        Args:
            posts: The queue.
            leases: Which lanes this process may serve.
            grace: Seconds in which a call of a process that died may still be accepted.
        """
        self._posts, self._leases, self._grace = posts, leases, grace
        #: How a lane of a kind, with which its name begins, is brought further.
        self.steps: dict[str, Step] = {}
        self._tasks = KeyedTasks[str](self._serve)
        #: Set when there is news for a lane that waits.
        self._news: dict[str, asyncio.Event] = {}
        self._polling: asyncio.Task[None] | None = None

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes that are served here."""
        return tuple(self._news)

    async def start(self) -> None:
        """Go on with what an earlier process left; keeps trying while the database is down."""
        self._polling = asyncio.create_task(self._poll(), name="queue")

    async def close(self) -> None:
        """Stop after the calls in hand; the rest goes out next time."""
        if self._polling:
            self._polling.cancel()
            with suppress(asyncio.CancelledError):
                await self._polling
        await self._tasks.close(STOP_SECONDS + 1)
        await self._leases.close()

    def wake(self, lane: str) -> None:
        """There is something to do in this lane."""
        if lane.partition("/")[0] not in self.steps:
            return
        self._tasks.wake(lane)
        if lane in self._news:
            self._news[lane].set()

    async def wake_all(self) -> None:
        """Wake every lane with something to do that this process may serve.

        Raises:
            StoreDown: The database failed.
        """
        for lane in await self._posts.lanes_with_work(self._leases.owner):
            if lane not in self._news:
                self.wake(lane)

    async def _poll(self) -> None:
        """Look once; where other processes write to the database, now and then."""
        ready = False
        while not ready or self._leases.is_shared:
            try:
                if not ready:
                    await self._leases.start()
                await self.wake_all()
                ready = True
            except Exception as error:  # noqa: BLE001 - whatever it was, the work must go on
                log_failure(error, "queue")
            await asyncio.sleep(POLL_SECONDS)

    async def _serve(self, lane: str) -> None:
        kind = lane.partition("/")[0]
        left_by_itself = await self._leases.acquire(lane)
        if left_by_itself is None:
            return  # another process has it; this one looks again now and then
        news = self._news[lane] = asyncio.Event()
        try:
            if not left_by_itself and kind in {"edit", "pin"}:
                await asyncio.sleep(self._grace)  # an edit of the dead may be on its way
            while (seconds := await self._step(kind, lane)) is not None:
                # Rows of other processes wake nobody here.
                longest = POLL_SECONDS if self._leases.is_shared else seconds
                await _wait(news, min(seconds, longest))
        except LaneLost as error:
            _log.warning("let go", lane=lane, reason=str(error))
        finally:
            del self._news[lane]
            self._leases.rest(lane)

    async def _step(self, kind: str, lane: str) -> float | None:
        self._leases.check(lane)
        return await self.steps[kind](lane)


async def _wait(news: asyncio.Event, seconds: float) -> None:
    """Wait so long, or until there is news."""
    if seconds > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(news.wait(), seconds)
    news.clear()


async def with_grace(work: Coroutine[None, None, T]) -> T:
    """Let a call in hand, and its note, end by itself for a few seconds when we are to stop."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), STOP_SECONDS)
        raise
