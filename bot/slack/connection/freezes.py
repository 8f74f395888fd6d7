"""Notices that this process stood still: what people did meanwhile is not done after all.

Slack waits three seconds for an answer to a command or a click, then tells who did it that it
failed, and they do it again. A process that was frozen (SIGSTOP, a machine that sleeps or moves)
finds the first one on its connection when it goes on. Both would be done.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bot.log import logger

_log = logger(__name__)

#: Seconds between two looks at the clock.
_LOOK = 0.25
#: Seconds of standing still after which Slack has given up what came when it began.
FROZEN_SECONDS = 3.0
#: Seconds afterwards in which what waited on connections is read.
SETTLING_SECONDS = 1.0


@dataclass
class Freezes:
    """Looks at the clock for as long as its block lasts."""

    #: Seconds of standing still after which what waited is refused.
    frozen_seconds: float = FROZEN_SECONDS
    _looked_at: float = field(default=0.0, init=False)
    _settled_at: float = field(default=0.0, init=False)
    _next: asyncio.TimerHandle | None = field(default=None, init=False)

    @contextmanager
    def watched(self) -> Generator[None]:
        """Look again and again."""
        self._looked_at = asyncio.get_running_loop().time()
        self._look()
        try:
            yield
        finally:
            if self._next:
                self._next.cancel()

    def has_waited(self) -> bool:
        """Whether what has just been read may have waited for longer than Slack does."""
        self._note()  # before the next look, if that is late, too
        return asyncio.get_running_loop().time() < self._settled_at

    def _look(self) -> None:
        self._note()
        self._next = asyncio.get_running_loop().call_later(_LOOK, self._look)

    def _note(self) -> None:
        now = asyncio.get_running_loop().time()
        stood_still, self._looked_at = now - self._looked_at, now
        if stood_still > self.frozen_seconds:
            self._settled_at = now + SETTLING_SECONDS
            _log.warning("this process stood still", seconds=round(stood_still, 1))
