"""Leader first: of calls that share a beginning one goes ahead, and the others read its cache.

Calls made at the same moment all miss the vendor's cache. It costs one time-to-first-token per
phase and saves most of the money.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from core.ports import Clock
from core.values import Recent

#: Beginnings that are remembered.
_REMEMBERED = 1024
#: Seconds to wait for a leader: then the money saved is not worth the time.
_LONGEST_WAIT = 20.0


class CacheWarmup:
    def __init__(self, clock: Clock, *, longest_wait: float = _LONGEST_WAIT) -> None:
        self._longest_wait = longest_wait
        self._clock = clock
        #: Set when nobody leads the beginning any more.
        self._led: dict[str, asyncio.Event] = {}
        #: When the call was made whose prompt wrote it.
        self._warm: Recent[str, datetime] = Recent(_REMEMBERED)

    @asynccontextmanager
    async def turn(
        self, beginnings: Sequence[str], lifetime: float, *, leads: bool = True
    ) -> AsyncGenerator[Callable[[], None]]:
        """Wait until everything cached that this call can share is there.

        The keys of the beginnings come shortest first; an unused entry lives for `lifetime`
        seconds. A call that does not lead is waited for by nobody.

        Yields:
            What is to be called when the reply begins: others may wait for that.
        """
        leading = await self._lead(beginnings, lifetime, leads=leads)
        # The vendor's lifetime runs from when it is asked; a reply may take a minute.
        asked_at = self._clock.now()

        def began() -> None:
            for key in beginnings:
                self._warm[key] = asked_at
                self._release(key)

        try:
            yield began
        finally:
            # Whatever became of this call, the others go on.
            for key, event in leading.items():
                if self._led.get(key) is event:
                    self._release(key)

    async def _lead(
        self, beginnings: Sequence[str], lifetime: float, *, leads: bool
    ) -> dict[str, asyncio.Event]:
        """Wait for those who lead a beginning of ours, then take the lead of what is still cold.

        Nothing is taken while waiting, so that no two calls can wait for each other.
        """
        try:
            async with asyncio.timeout(self._longest_wait):
                while led := [self._led[key] for key in beginnings if key in self._led]:
                    await led[0].wait()
        except TimeoutError:
            return {}  # a leader that hangs must not hold up everybody
        if not leads:
            return {}
        oldest = self._clock.now() - timedelta(seconds=lifetime)
        warm = {key for key in beginnings if key in self._warm and self._warm[key] > oldest}
        leading = {key: asyncio.Event() for key in beginnings if key not in warm}
        self._led |= leading
        return leading

    def _release(self, key: str) -> None:
        if led := self._led.pop(key, None):
            led.set()
