"""Plugins' sinks: each behind a bounded queue of its own, so that none delays or ends a debate."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

from bot.log import logger
from core.debate.log import RecordedEvent
from core.debate.state import Debate
from core.debate.turn import Turn
from core.ports import EventSink

_log = logger(__name__)

#: Events that wait for a sink; those that come while so many wait are lost for it.
ROOM = 1000
#: Seconds a sink may take for one event.
PATIENCE = 30.0
#: Seconds that sinks have at the end for what they have not heard yet.
_LAST_WORDS = 5.0


class QueuedSink:
    """A plugin's sink, and what waits to be told to it while `run` runs."""

    def __init__(
        self, name: str, sink: EventSink, *, room: int = ROOM, patience: float = PATIENCE
    ) -> None:
        """`room` is in events, `patience` in seconds for one."""
        self.name = name
        #: Events it did not hear, because too many waited already.
        self.lost = 0
        #: How it failed last, as a clause; empty: it never did.
        self.fault = ""
        self._sink = sink
        self._queue = asyncio.Queue[Callable[[], Awaitable[None]]](room)
        self._patience = patience

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        self._put(partial(self._sink.publish, debate, recorded))

    async def turns_began(self, debate: Debate, turns: Sequence[Turn]) -> None:
        self._put(partial(self._sink.turns_began, debate, turns))

    def _put(self, tell: Callable[[], Awaitable[None]]) -> None:
        try:
            self._queue.put_nowait(tell)
        except asyncio.QueueFull:
            if not self.lost:
                _log.error("plugin is too slow", sink=self.name, waiting=self._queue.qsize())
            self.lost += 1

    async def run(self) -> None:
        while True:
            tell = await self._queue.get()
            try:
                async with asyncio.timeout(self._patience):
                    await tell()
            except TimeoutError:
                self._failed(f"it took longer than {self._patience:g} s", None)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever another's code does
                # Not its text, which may hold what was said in a debate: doctors show this.
                self._failed(f"it raised {type(error).__name__}", error)
            finally:
                self._queue.task_done()

    async def heard_all(self) -> None:
        await self._queue.join()

    def _failed(self, cause: str, error: BaseException | None) -> None:
        # The traceback once for a cause: a sink may fail at every event.
        traceback = error if cause != self.fault else None
        self.fault = cause
        _log.error("plugin failed", sink=self.name, reason=cause, exc_info=traceback)


@asynccontextmanager
async def listening(plugins: Sequence[QueuedSink]) -> AsyncGenerator[None]:
    tasks = [asyncio.create_task(plugin.run(), name=f"plugin/{plugin.name}") for plugin in plugins]
    try:
        yield
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await asyncio.gather(*(plugin.heard_all() for plugin in plugins))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
