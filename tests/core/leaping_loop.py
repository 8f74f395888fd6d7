"""An event loop without waiting: where all wait for a timer, its time leaps to that timer.

Seconds in a test are exact then, however slow the machine is, and cost nothing. For tests that wait
for nothing else: threads, processes and sockets take real time, of which this loop knows nothing.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from core.clock import SystemClock


class LeapingLoop(asyncio.SelectorEventLoop):
    """Begins at the time that it is."""

    def __init__(self) -> None:
        self._now = time.monotonic()
        super().__init__(_LeapingSelector(self._leap))

    def time(self) -> float:
        """Seconds that only a leap changes."""
        return self._now

    def _leap(self, seconds: float) -> None:
        self._now += seconds


class _LeapingSelector(selectors.SelectSelector):
    def __init__(self, leap: Callable[[float], None]) -> None:
        super().__init__()
        self._leap = leap

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0 if timeout else timeout)
        if timeout and not found:  # nothing is to be done before a timer is due
            self._leap(timeout)
        return found


class LoopClock(SystemClock):
    """The time of the event loop that runs, as a date: now, at the loop's beginning."""

    _zero = SystemClock().now() - timedelta(seconds=time.monotonic())

    def now(self) -> datetime:
        """What the loop's time stands for."""
        return self._zero + timedelta(seconds=asyncio.get_running_loop().time())
