"""The offline engine at a model's pace: a demonstration that can be read, and steered, as it goes.

Without this a whole debate is over before its first posts are read: the engine needs milliseconds
for a turn, and Slack takes about one post a second in a channel. Then Stop, Pause, notes and
answers come too late, however quick a person is.
"""

import asyncio
import zlib
from collections.abc import Callable

from core.ports import Clock, ModelProvider
from core.request import ModelReply, ModelRequest

#: Seconds one answer takes at least and at most. The same question always takes as long.
SHORTEST, LONGEST = 2.0, 3.2
#: Answers under way at the same time: together about one a second, which is as many posts as
#: Slack takes in a channel.
AT_ONCE = 3


class PacedProvider:
    """A `ModelProvider` that answers as another one does, a few at a time, each after a while."""

    def __init__(self, provider: ModelProvider, clock: Clock) -> None:
        self.name = provider.name
        self._provider = provider
        self._clock = clock
        self._places = asyncio.Semaphore(AT_ONCE)

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        async with self._places:
            # The same request always takes the same time.
            prompt = "\n".join((request.system, *(part.text for part in request.parts)))
            share = (zlib.crc32(prompt.encode()) % 1000) / 1000
            await self._clock.sleep(SHORTEST + (LONGEST - SHORTEST) * share)
            return await self._provider.complete(request, on_first_token)

    async def close(self) -> None:
        await self._provider.close()
