"""An event loop with simulated time: when all tasks wait for timers, time leaps to the next timer.

Times in a test are exact on every machine and take no real time. Time does not advance while a
thread works. Not for tests that wait for processes or sockets, which take real time.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import datetime, timedelta
from typing import TypeVar, TypeVarTuple, Unpack

from core.clock import SystemClock

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class LeapingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time starts at the real time."""

    def __init__(self) -> None:
        self._now = time.monotonic()
        #: Calls that threads work on.
        self._in_threads = 0
        super().__init__(_LeapingSelector(self._leap))

    def time(self) -> float:
        """Return the simulated time in seconds."""
        return self._now

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        """Stop the simulated time until the thread has finished."""
        self._in_threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done_in_thread)
        return future

    def _done_in_thread(self, _: asyncio.Future[T]) -> None:
        self._in_threads -= 1

    def _leap(self, seconds: float) -> bool:
        if not self._in_threads:
            self._now += seconds
        return not self._in_threads


class _LeapingSelector(selectors.SelectSelector):
    def __init__(self, leap: Callable[[float], bool]) -> None:
        super().__init__()
        self._leap = leap

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0 if timeout else timeout)
        # Nothing is to be done before a timer is due, or a thread has done its work.
        if timeout and not events and not self._leap(timeout):
            return super().select()
        return events


class LoopClock(SystemClock):
    """A clock that shows the simulated time of the running event loop as a date."""

    _zero = SystemClock().now() - timedelta(seconds=time.monotonic())

    def now(self) -> datetime:
        """Return the simulated time as a date."""
        return self._zero + timedelta(seconds=asyncio.get_running_loop().time())
