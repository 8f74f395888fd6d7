"""Which models a bench's turns asked, when, and which waited for another call's first token."""

import asyncio
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from bench.vendor import in_own_time
from core.clock import SystemClock
from core.ports import ModelProvider
from core.request import ModelReply, ModelRequest


class Asked(NamedTuple):
    """A question to a model, on the clock of the log."""

    began: datetime
    #: When the first token of its reply was read.
    first_token: datetime
    #: When its reply was read, whole.
    ended: datetime


class Calls:
    """The calls of a process, by debate and key of the turn, and how long their replies take."""

    def __init__(self) -> None:
        self.by_debate = defaultdict[str, dict[str, Asked]](dict)
        #: How many times as long as the vendor's manner says.
        self.times = 1.0


class WatchedProvider:
    """A provider, and when each turn asked it: engines name the task of a turn by its key."""

    def __init__(self, provider: ModelProvider, calls: Calls) -> None:
        self._provider = provider
        self._calls = calls
        self.name = provider.name

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        """Ask, and note when."""
        task = asyncio.current_task()
        assert task is not None
        debate_id, _, key = task.get_name().partition("/")
        first = list[datetime]()

        def begun() -> None:
            first.append(SystemClock().now())
            on_first_token()

        if self._calls.times != 1.0:
            request = in_own_time(request, self._calls.times)
        began = SystemClock().now()
        reply = await self._provider.complete(request, begun)
        asked = Asked(began, first[0], SystemClock().now())
        self._calls.by_debate[debate_id][key] = asked
        return reply

    async def close(self) -> None:
        """Free its connections."""
        await self._provider.close()


def for_first_tokens(calls: Collection[Asked], since: datetime, until: datetime) -> timedelta:
    """How long a call that could be made at `since` and was made at `until` waited for others.

    Which call leads which, only `core.llm.cache_warmup` knows. But a call that follows is let go by
    the first token of a stream in the same debate. So the time counts in which one was silent whose
    first token was there when the call was made: a call that waited for nothing would have been
    made before it. It is that long at most, as not every reply leads others; and a first token is
    there when this process has read it.
    """
    waited, reached = timedelta(), since
    for led in sorted(call for call in calls if call.first_token <= until):
        silent_from = max(reached, led.began)
        if led.first_token > silent_from:
            waited += led.first_token - silent_from
            reached = led.first_token
    return waited


def for_first_tokens_in_chain(
    last: int, log: Sequence[tuple[str, datetime]], calls: Mapping[str, Asked]
) -> timedelta:
    """How long a debate's longest chain of turns waited for others' first tokens.

    Each turn of it was asked right after the one before was recorded.

    Args:
        last: Where in the log its last turn is.
        log: Keys of what was recorded, and when.
        calls: By key of the turn. What is recorded without one, as a tally, takes no time.
    """
    times, waited = [at for _, at in log], timedelta()
    while last >= 0:
        if asked := calls.get(log[last][0]):
            last = bisect(times, asked.began, hi=last)
            waited += for_first_tokens(calls.values(), times[last - 1], asked.began)
        last -= 1
    return waited
