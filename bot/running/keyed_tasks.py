"""One supervised task per key, which restarts after errors and runs again when woken."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextvars import Context
from typing import Generic, TypeVar

from bot.log import logger
from core.errors import MootError

_log = logger(__name__)
#: Seconds before work that raised an error is restarted.
_RESTART_SECONDS = 1.0
K = TypeVar("K", bound=Hashable)


def log_failure(error: Exception, work: str) -> None:
    """Log an expected error in one line, and a fault of Moot with its traceback."""
    if isinstance(error, MootError | OSError | TimeoutError):
        reason = str(error) or type(error).__name__
        _log.warning("failed, beginning again", work=work, reason=reason)
    else:
        _log.error("failed, beginning again", work=work, exc_info=error)


class KeyedTasks(Generic[K]):
    """Runs `work(key)` for every key that was woken.

    A wake during the work runs it once more, so that none is missed.
    """

    def __init__(self, work: Callable[[K], Awaitable[None]]) -> None:
        self._work = work
        self._tasks: dict[K, asyncio.Task[None]] = {}
        self._news: set[K] = set()
        self._closing = False

    @property
    def keys(self) -> tuple[K, ...]:
        return tuple(self._tasks)

    def wake(self, key: K) -> None:
        if self._closing:
            return
        self._news.add(key)
        if key not in self._tasks:
            # A context of its own: log lines must not name the debate whose task woke this one.
            work = self._keep(key)
            self._tasks[key] = asyncio.create_task(work, name=f"{key}", context=Context())

    async def close(self, seconds: float) -> None:
        """Cancel all tasks, and wait at most `seconds` for them to clean up."""
        self._closing = True
        tasks = set(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    async def _keep(self, key: K) -> None:
        try:
            while key in self._news and not self._closing:
                self._news.discard(key)
                try:
                    await self._work(key)
                except Exception as error:  # noqa: BLE001 - whatever it was, the work must go on
                    log_failure(error, str(key))
                    self._news.add(key)
                    await asyncio.sleep(_RESTART_SECONDS)
        finally:
            del self._tasks[key]
