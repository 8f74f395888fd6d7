"""Cache warm-up: of calls that share a prompt prefix, one goes first and fills the vendor's cache.

Calls made at the same moment would all miss the cache. The warm-up costs one time-to-first-token
per phase and saves most of the price of the prompts.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from core.ports import Clock
from core.values import Recent

#: Prefixes whose cache times are kept.
_REMEMBERED = 1024
#: Longest wait for a leader, in seconds: a longer one is not worth the money.
_LONGEST_WAIT = 20.0


class CacheWarmup:
    def __init__(self, clock: Clock, *, longest_wait: float = _LONGEST_WAIT) -> None:
        self._longest_wait = longest_wait
        self._clock = clock
        #: By prefix that a call is writing to the cache; set when the call has begun or ended.
        self._leaders: dict[str, asyncio.Event] = {}
        #: When each prefix was last sent and so written to the cache.
        self._written_at: Recent[str, datetime] = Recent(_REMEMBERED)

    @asynccontextmanager
    async def call(
        self, prefixes: Sequence[str], lifetime: float, *, leads: bool = True
    ) -> AsyncGenerator[Callable[[], None]]:
        """Wait until the prefixes that this call shares with others are in the cache.

        `prefixes` are keys, the shortest prefix first. The vendor drops an unused entry after
        `lifetime` seconds. No other call waits for one with `leads=False`.

        Yields:
            A function to call at the first token; waiting calls then start.
        """
        leading = await self._lead(prefixes, lifetime, leads=leads)
        # The lifetime of a cache entry begins with the request; a reply may take a minute.
        asked_at = self._clock.now()

        def began() -> None:
            for key in prefixes:
                self._written_at[key] = asked_at
                self._release(key)

        try:
            yield began
        finally:
            # The others start also if this call failed.
            for key, event in leading.items():
                if self._leaders.get(key) is event:
                    self._release(key)

    async def _lead(
        self, prefixes: Sequence[str], lifetime: float, *, leads: bool
    ) -> dict[str, asyncio.Event]:
        """Wait for the leaders of these prefixes, then lead those that are not in the cache.

        Returns the events of the prefixes that this call leads. A waiting call leads none, so two
        calls cannot wait for each other.
        """
        try:
            async with asyncio.timeout(self._longest_wait):
                while leaders := [self._leaders[key] for key in prefixes if key in self._leaders]:
                    await leaders[0].wait()
        except TimeoutError:
            return {}  # a stalled leader must not block the others
        if not leads:
            return {}
        oldest = self._clock.now() - timedelta(seconds=lifetime)
        cached = {
            key for key in prefixes if key in self._written_at and self._written_at[key] > oldest
        }
        leading = {key: asyncio.Event() for key in prefixes if key not in cached}
        self._leaders |= leading
        return leading

    def _release(self, key: str) -> None:
        if leader := self._leaders.pop(key, None):
            leader.set()
