"""Under which conditions models are asked, and what one question has cost so far."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from core.capabilities import Price, Record
from core.llm.budget import Budget
from core.llm.prices import Prices
from core.ports import Clock
from core.retry import RetryPolicy
from core.usage import Cap, SentPart, Usage


class ModelRef(NamedTuple):
    provider: str
    model: str


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    #: For all tries, fallbacks and the repair together.
    seconds: float = 180.0
    #: Bounds on money; each attempt's worst case must fit under all of them.
    caps: Sequence[Cap] = ()
    #: Models to ask, in order, when the agent's own cannot be asked.
    fallbacks: Sequence[ModelRef] = ()
    #: Where the prompt came from; written into the call.
    prompt_source: str = "built-in"
    #: Raise `ModelsAway` where all models are away; else the question fails.
    patient: bool = False


USUAL_OPTIONS = CallOptions()


@dataclass(frozen=True, kw_only=True)
class CallScope:
    #: Bounds on money, besides those of each question.
    caps: Sequence[Cap] = ()
    #: Who asks, unrecognisable; for vendors that want to tell people apart.
    user: str = ""
    #: Told what each attempt cost as soon as it has ended, also when it was cancelled.
    book: Callable[[Usage], None] | None = None
    #: Reserves money for each attempt; None: nobody else draws on the caps.
    budget: Budget | None = None
    #: Awaited right before each attempt; raises if whoever asks may no longer.
    prove: Callable[[], Awaitable[None]] | None = None
    #: Whether patient questions are; else they fail where all models are away.
    waits: bool = True


#: A wait is random up to a bound that doubles.
USUAL_RETRIES = RetryPolicy(tries=5, first_wait=2.0, longest_wait=30.0, jitter=1.0)
#: Attempts under way at the same time, per provider that serves models of one's own machine: they
#: take one after the other, and who waits for a reply that others hold up gives it up.
LOCAL_PARALLEL = 8


@dataclass(frozen=True, kw_only=True)
class Tables:
    #: Records laid over the built-in table of capabilities.
    models: Sequence[Record] = ()
    #: Prices that win over the public list; a key is `provider/model` or the model's name.
    prices: Prices = field(default_factory=dict[str, Price])


NO_TABLES = Tables()


class CallUsage:
    def __init__(
        self,
        options: CallOptions,
        temperature: float | None,
        clock: Clock,
        book: Callable[[Usage], None] | None = None,
    ) -> None:
        self.options = options
        self._book = book
        self.temperature = temperature
        self.usage = Usage()
        #: The model that was to answer and why it does not; empty while it does.
        self.stands_in: tuple[str, str] = ("", "")
        #: The newest attempt's prompt.
        self.sent: tuple[SentPart, ...] = ()
        self._clock = clock
        self._began = clock.now()
        self._limits: list[asyncio.Timeout] = []

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[None]:
        """Raise `TimeoutError` after so many seconds, those spent waiting for a slot apart."""
        async with asyncio.timeout(seconds) as limit:
            self._limits.append(limit)
            try:
                yield
            finally:
                self._limits.remove(limit)

    @asynccontextmanager
    async def slot(self, slots: asyncio.Semaphore) -> AsyncGenerator[None]:
        """Hold a slot; no limit of time runs while others hold them all."""
        loop, now = asyncio.get_running_loop(), self._clock.now()
        left = [(limit, (limit.when() or loop.time()) - loop.time()) for limit in self._limits]
        for limit, _ in left:
            limit.reschedule(None)
        await slots.acquire()
        try:
            self._began += self._clock.now() - now
            for limit, seconds in left:
                limit.reschedule(loop.time() + seconds)
            yield
        finally:
            slots.release()

    def add(self, usage: Usage) -> None:
        self.usage += usage
        if self._book:
            self._book(usage)

    @property
    def seconds(self) -> float:
        return (self._clock.now() - self._began).total_seconds()

    @property
    def seconds_left(self) -> float:
        return self.options.seconds - self.seconds
