"""The one place models are asked: caps, cache leader, tries, reading, one repair, usage."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from core.errors import (
    CapReached,
    ConfigurationBroken,
    KeyRefused,
    LimitReached,
    MootError,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ReplyUnreadable,
    ReplyUnusable,
)
from core.llm.budget_holds import BudgetHolds
from core.llm.cache_warmup import CacheWarmup
from core.llm.call_options import (
    NO_TABLES,
    USUAL_OPTIONS,
    USUAL_RETRY_POLICY,
    CallOptions,
    CallUsage,
    ModelRef,
    RetryPolicy,
    Tables,
)
from core.llm.prices import Cap, price
from core.llm.rate_limit_waits import RateLimitWaits
from core.llm.sizes import Measure
from core.llm.spent import usage_of, with_call, with_usage
from core.llm.structured import Check, answer_form, read_answer, repair_parts
from core.models import Agent, Call, Usage
from core.ports import Clock, ModelProvider
from core.request import ModelReply, ModelRequest
from core.transcript.words import duration
from core.turns.replies import writable

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class Answer(NamedTuple, Generic[T]):
    """What came back, and how. `value, call = await calls.ask(...)`."""

    value: T
    call: Call


class ModelCalls:
    """Asks models on behalf of agents."""

    def __init__(
        self,
        providers: Mapping[str, ModelProvider],
        clock: Clock,
        *,
        tables: Tables = NO_TABLES,
        patience: RetryPolicy = USUAL_RETRY_POLICY,
        jitter: Callable[[], float] = random.random,  # noqa: S311 - no secret: spreads tries over time
    ) -> None:
        """Keep what is needed to ask.

        Args:
            providers: By the name agents call them.
            clock: Time for waits and latencies.
            tables: Settings' capabilities and prices.
            patience: How to repeat.
            jitter: A random share between 0 and 1 of each wait.
        """
        self._providers = providers
        self._clock = clock
        self._prices = tables.prices
        self._measure = Measure(tables.models)
        self._patience = patience
        self._jitter = jitter
        self._ledger = BudgetHolds()
        self._leaders = CacheWarmup(clock)
        self._pauses = RateLimitWaits(clock)
        self._slots = {name: asyncio.Semaphore(patience.parallel) for name in providers}
        self._caps: Sequence[Cap] = ()
        self._user = ""

    def under(self, caps: Sequence[Cap], *, user: str = "") -> "ModelCalls":
        """The same calls with the same books, each bounded by these caps too.

        Args:
            caps: Bounds on money.
            user: Who asks, unrecognisable; for vendors that want to tell people apart.
        """
        bounded = copy(self)
        vars(bounded).update(_caps=tuple(caps), _user=user)
        return bounded

    async def ask(
        self, request: ModelRequest, agent: Agent, terms: CallOptions = USUAL_OPTIONS
    ) -> Answer[str]:
        """Ask for text.

        Args:
            request: What to ask; its model and temperature are replaced by the agent's.
            agent: Who asks.
            terms: Time, money, fallbacks.

        Raises:
            LimitReached: A cap on money could be passed, or the prompt does not fit the model.
            ProviderError: No model could be asked; `usage_of(error)` is what that cost.
            ConfigurationBroken: The agent's provider is not set up.
        """
        async with self._tab(terms, agent) as tab:
            come = await self._reply(self._for(agent, request), agent, tab)
            return Answer(come[1].text, self._call(*come, tab))

    async def ask_for(
        self,
        request: ModelRequest,
        agent: Agent,
        answer_type: type[M],
        *,
        check: Check[M] | None = None,
        terms: CallOptions = USUAL_OPTIONS,
    ) -> Answer[M]:
        """Ask for a structured answer; one repair names what is wrong with the first.

        Args:
            request: What to ask; the form of the answer is made from `answer_type`.
            agent: Who asks.
            answer_type: A flat model: text, numbers, booleans, lists, objects.
            check: Says in a sentence what is wrong with a value, or None.
            terms: Time, money, fallbacks.

        Raises:
            ReplyUnreadable: Not even the repair could be read; `call_of(error)` is the call.
            LimitReached: A cap on money could be passed, or the prompt does not fit the model.
            ProviderError: No model could be asked; `usage_of(error)` is what that cost.
            ConfigurationBroken: The agent's provider is not set up.
        """
        request = replace(self._for(agent, request), answer=answer_form(answer_type))
        async with self._tab(terms, agent) as tab:
            come = await self._reply(request, agent, tab)
            reply = come[1]
            try:
                value = read_answer(reply.text, answer_type, check)
            except ReplyUnreadable as error:
                parts = (*request.parts, *repair_parts(reply.text, str(error)))
                come = await self._reply(replace(request, parts=parts), agent, tab)
                value = self._read_or_give_up(come, tab, answer_type, check)
            return Answer(value, self._call(*come, tab))

    async def close(self) -> None:
        """Close all providers."""
        for provider in self._providers.values():
            await provider.close()

    @asynccontextmanager
    async def _tab(self, terms: CallOptions, agent: Agent) -> AsyncGenerator[CallUsage]:
        """A tab for one question; errors carry what is on it, and time runs out by it."""
        terms = replace(terms, caps=(*self._caps, *terms.caps))
        tab = CallUsage(terms, agent.temperature, self._clock)
        try:
            async with asyncio.timeout(terms.seconds):
                yield tab
        except TimeoutError:
            late = ProviderDown(f"No answer within {duration(terms.seconds)}.")
            raise with_usage(late, tab.usage) from None
        except (MootError, asyncio.CancelledError) as error:
            with_usage(error, tab.usage)
            raise

    async def _reply(
        self, request: ModelRequest, agent: Agent, tab: CallUsage
    ) -> tuple[ModelRef, ModelReply]:
        """The reply of the agent's own model, or of the first fallback that can be asked."""
        own = ModelRef(agent.provider, agent.model)
        failed: list[MootError] = []
        refs = (own, *tab.terms.fallbacks)
        for place, ref in enumerate(refs):
            share = tab.seconds_left / (len(refs) - place)  # a model that hangs leaves time
            try:
                reply = await self._within(share, ref, request, tab)
            except CapReached:
                raise
            except (ProviderError, ConfigurationBroken, LimitReached) as error:
                failed.append(error)  # another model may be up, set up, or hold more
            else:
                tab.stands_in = ("/".join(own), str(failed[0])) if failed else ("", "")
                return ref, reply
        raise _telling(failed)

    async def _within(
        self, seconds: float, ref: ModelRef, request: ModelRequest, tab: CallUsage
    ) -> ModelReply:
        """The reply of one model, if it comes in its share of the time."""
        try:
            async with asyncio.timeout(seconds):
                return await self._tried(ref, request, tab)
        except TimeoutError:
            raise ProviderDown(f"No answer within {duration(seconds)}.") from None

    async def _tried(self, ref: ModelRef, request: ModelRequest, tab: CallUsage) -> ModelReply:
        """The reply of one model, after as many tries as patience and time allow."""
        request = replace(request, model=ref.model)
        useless = 0
        for number in range(1, self._patience.tries):
            try:
                return await self._attempt(ref, request, tab)
            except ProviderError as error:
                self._pauses.note(ref, error)
                wait = self._wait_after(error, number)
                if not error.passing or wait >= tab.seconds_left:
                    raise
                if isinstance(error, ReplyUnusable):
                    useless += 1
                    request = _with_more_room(request)
                if useless >= self._patience.tries_if_unusable:
                    raise
            await self._clock.sleep(wait)
        return await self._attempt(ref, request, tab)

    def _wait_after(self, error: ProviderError, number: int) -> float:
        """Seconds to wait before the next try.

        A wait the vendor asks for is a lower bound; ours is random up to a bound that doubles.
        """
        rules = self._patience
        bound = min(rules.longest_wait, rules.first_wait * 2 ** (number - 1))
        asked = error.retry_after if isinstance(error, ProviderBusy) else None
        return (asked or 0.0) + self._jitter() * bound

    async def _attempt(self, ref: ModelRef, request: ModelRequest, tab: CallUsage) -> ModelReply:
        """One attempt: fitted, its worst case held under the caps, behind its leader, in a slot.

        Money comes first: who waits for it must not keep a slot or a lead from others.
        """
        self._provider(ref.provider)
        request = self._measure.fitted(ref.provider, request)
        await self._pauses.over(ref, tab.seconds_left)
        lifetime = self._measure.capability(*ref).cache_seconds
        beginnings = tuple(self._measure.beginnings(ref.provider, request))
        worst = self._measure.worst(ref.provider, request, self._prices)
        held = await self._ledger.hold(tab.terms.caps, worst)
        start = _Start()
        try:
            async with self._leaders.turn(beginnings, lifetime) as began, self._slots[ref.provider]:
                start.tell = began
                return await self._booked(ref, request, tab, start)
        finally:
            self._ledger.settle(held, start.usage.cost)

    async def _booked(
        self, ref: ModelRef, request: ModelRequest, tab: CallUsage, start: "_Start"
    ) -> ModelReply:
        """One attempt whose usage is booked afterwards, however it ends."""
        start.usage = Usage(attempts=1)
        try:
            reply = await self._provider(ref.provider).complete(request, start)
        except BaseException as error:
            start.usage = self._lost(ref, request, error, begun=start.seen)
            raise
        else:
            start.usage = self._spent(ref, request, reply)
            return replace(reply, text=writable(reply.text))
        finally:
            tab.add(start.usage)

    def _spent(self, ref: ModelRef, request: ModelRequest, reply: ModelReply) -> Usage:
        """What a reply cost; the model's estimate learns from it."""
        usage = self._measure.filled(ref.provider, request, reply.text, reply.usage)
        self._measure.learn(ref.provider, request, usage)
        return self._priced(ref, usage)

    def _lost(
        self, ref: ModelRef, request: ModelRequest, error: BaseException, *, begun: bool
    ) -> Usage:
        """What a failed attempt cost: as reported, or the prompt when the reply had begun."""
        usage = usage_of(error)
        if begun and not usage.input_tokens:
            unreported = usage.model_copy(update={"cost": None})
            usage = self._measure.filled(ref.provider, request, "", unreported)
        return self._priced(ref, usage)

    def _priced(self, ref: ModelRef, usage: Usage) -> Usage:
        """The usage of one attempt with its cost, unless the provider named it."""
        cost = usage.cost
        if self._measure.capability(*ref).local:
            cost = Decimal(0)
        elif cost is None:
            cost = price(*ref, usage, self._prices, at=self._clock.now())
        return usage.model_copy(update={"cost": cost, "attempts": 1})

    def _read_or_give_up(
        self,
        come: tuple[ModelRef, ModelReply],
        tab: CallUsage,
        answer_type: type[M],
        check: Check[M] | None,
    ) -> M:
        """The repaired answer; when it cannot be read either, the error carries the call."""
        ref, reply = come
        try:
            return read_answer(reply.text, answer_type, check)
        except ReplyUnreadable as error:
            error.text = reply.text
            with_call(error, self._call(ref, reply, tab))
            raise

    def _call(self, ref: ModelRef, reply: ModelReply, tab: CallUsage) -> Call:
        """How the answer came."""
        return Call(
            provider=ref.provider,
            model=reply.model or ref.model,
            usage=tab.usage,
            latency_ms=round(tab.seconds * 1000),
            request_id=reply.request_id,
            temperature=tab.temperature if self._measure.capability(*ref).sampling else None,
            prompt_source=tab.terms.prompt_source,
            stands_in_for=tab.stands_in[0],
            stands_in_why=tab.stands_in[1],
        )

    def _for(self, agent: Agent, request: ModelRequest) -> ModelRequest:
        """The request as this agent asks it."""
        user = self._user or request.user
        return replace(request, model=agent.model, temperature=agent.temperature, user=user)

    def _provider(self, name: str) -> ModelProvider:
        """The provider of this name.

        Raises:
            ConfigurationBroken: It is not set up.
        """
        if name not in self._providers:
            raise ConfigurationBroken(f"The provider {name!r} is not set up: is its key missing?")
        return self._providers[name]


class _Start:
    """An attempt: passes on that its reply began, and remembers it and what it has cost."""

    def __init__(self) -> None:
        self.tell: Callable[[], None] = lambda: None
        self.seen = False
        self.usage = Usage()

    def __call__(self) -> None:
        """The reply begins."""
        self.seen = True
        self.tell()


def _telling(failed: Sequence[MootError]) -> MootError:
    """The last error, but one that may pass before one that only a person can mend.

    An agent is out for good only if none of its models can be asked any more.
    """
    passing = [error for error in failed if not isinstance(error, KeyRefused | ConfigurationBroken)]
    return (passing or failed)[-1]


def _with_more_room(request: ModelRequest) -> ModelRequest:
    """The request with twice the room: replies are cut off, or lost in thought, for want of it."""
    return replace(request, max_output_tokens=2 * request.max_output_tokens)
