"""The one place models are asked: caps, cache leader, tries, reading, one repair, usage."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from copy import copy
from dataclasses import replace
from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from core.debate.agents import Agent
from core.debate.turn import BESIDE
from core.errors import (
    CallFailed,
    CapReached,
    KeyRefused,
    ModelsAway,
    PromptTooLong,
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderMissing,
    ProviderSilent,
    ReplyCutOff,
    ReplyUnreadable,
    ReplyUnusable,
    TimeUp,
)
from core.figures import duration
from core.llm.availability import ALL_WAIT_FOR, FAILURES, PROBES, ModelAvailability, is_outage
from core.llm.budget import LOOK_AGAIN_SECONDS, Attempt
from core.llm.cache_warmup import CacheWarmup
from core.llm.call_options import (
    LOCAL_PARALLEL,
    NO_TABLES,
    USUAL_OPTIONS,
    USUAL_RETRIES,
    CallOptions,
    CallScope,
    CallUsage,
    ModelRef,
    Tables,
)
from core.llm.fitting import sent_parts
from core.llm.prices import check_caps, price
from core.llm.reply_faults import (
    cut_off,
    is_cut_off,
    is_echo,
    is_refusal,
    repeats_itself,
    without_preamble,
    writable,
)
from core.llm.sizes import Measure
from core.llm.structured import Check, answer_form, read_answer, repair_parts
from core.ports import Clock, ContextSizes, ModelProvider, SlowLoadingProvider
from core.request import ModelReply, ModelRequest
from core.retry import RetryPolicy, retry
from core.settings import USUAL_CALLS_AT_ONCE
from core.usage import Call, Usage

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

#: An empty, refused or cut-off reply costs money and seldom gets better.
TRIES_IF_UNUSABLE = 2
#: Attempts for summaries under way at the same time, per provider, besides those of turns.
SUMMARIES_PARALLEL = 2


class ModelAnswer(NamedTuple, Generic[T]):
    """What came back, and how. `value, call = await calls.ask(...)`."""

    value: T
    call: Call


class ModelCalls:
    def __init__(  # noqa: PLR0913 - what differs between the product, its tests and its bench
        self,
        providers: Mapping[str, ModelProvider],
        clock: Clock,
        *,
        tables: Tables = NO_TABLES,
        retries: RetryPolicy = USUAL_RETRIES,
        probes: RetryPolicy = PROBES,
        parallel: int = USUAL_CALLS_AT_ONCE,
        jitter: Callable[[], float] = random.random,  # noqa: S311 - no secret: spreads tries over time
    ) -> None:
        """`parallel` bounds attempts per provider; `probes` are for models that are away."""
        self._providers = providers
        self._clock = clock
        self._prices = tables.prices
        self._measure = Measure(tables.models)
        self._retries = retries
        self._jitter = jitter
        self._warmup = CacheWarmup(clock)
        self._availability = ModelAvailability(clock, probes)
        #: Models that were asked how much they hold.
        self._contexts: set[ModelRef] = set()
        own = {name for name in providers if self._measure.capability(name, "").local}
        slots = {
            name: min(parallel, LOCAL_PARALLEL) if name in own else parallel for name in providers
        }
        self._slots = {name: asyncio.Semaphore(count) for name, count in slots.items()}
        # A summary that hangs must not keep a slot from a turn.
        self._beside = {name: asyncio.Semaphore(SUMMARIES_PARALLEL) for name in providers}
        self._scope = CallScope()

    def under(self, scope: CallScope) -> "ModelCalls":
        """The same calls with the same books, within this scope."""
        scoped = copy(self)
        scoped._scope = scope  # noqa: SLF001 - its own copy
        return scoped

    async def ask(
        self, request: ModelRequest, agent: Agent, options: CallOptions = USUAL_OPTIONS
    ) -> ModelAnswer[str]:
        """Ask for text, on behalf of an agent, with the agent's model and temperature.

        Raises:
            LimitReached: A cap on money could be passed, or the prompt does not fit the model.
            ModelsAway: No model can be asked now, and the question can be put later.
            ProviderError: No model could be asked; its `usage` is what that cost.
            ProviderMissing: The agent's provider is not set up.
        """
        async with self._usage_of(options, agent) as so_far:
            ref, reply = await self._reply(request, agent, so_far)
            return ModelAnswer(without_preamble(reply.text), self._call(ref, reply, so_far))

    async def ask_for(
        self,
        request: ModelRequest,
        agent: Agent,
        answer_type: type[M],
        *,
        check: Check[M] | None = None,
        options: CallOptions = USUAL_OPTIONS,
    ) -> ModelAnswer[M]:
        """Ask for a structured answer; one repair names what is wrong with the first.

        `answer_type` is a flat model: text, numbers, booleans, lists, objects.

        Raises:
            ReplyUnreadable: Not even the repair could be read; its `call` is the call.
            MootError: As `ask` does.
        """
        request = replace(request, answer=answer_form(answer_type))
        async with self._usage_of(options, agent) as so_far:
            ref, reply = await self._reply(request, agent, so_far)
            try:
                value = read_answer(reply.text, answer_type, check)
            except ReplyUnreadable as first:
                parts = (*request.parts, *repair_parts(reply.text, str(first)))
                ref, reply = await self._reply(replace(request, parts=parts), agent, so_far)
                try:
                    value = read_answer(reply.text, answer_type, check)
                except ReplyUnreadable as error:
                    error.call = self._call(ref, reply, so_far)
                    raise
            return ModelAnswer(value, self._call(ref, reply, so_far))

    async def load(self, providers: Collection[str]) -> None:
        named = [provider for name, provider in self._providers.items() if name in providers]
        slow = [provider for provider in named if isinstance(provider, SlowLoadingProvider)]
        await asyncio.gather(*(provider.load() for provider in slow))

    async def close(self) -> None:
        for provider in self._providers.values():
            await provider.close()

    @asynccontextmanager
    async def _usage_of(self, options: CallOptions, agent: Agent) -> AsyncGenerator[CallUsage]:
        """The usage of one question; errors carry it, and its time limit ends the block."""
        patient = options.patient and self._scope.waits
        options = replace(options, caps=(*self._scope.caps, *options.caps), patient=patient)
        so_far = CallUsage(options, agent.temperature, self._clock, self._scope.book)
        try:
            async with so_far.limit(options.seconds):
                yield so_far
        except TimeoutError:
            text = f"No answer within {duration(options.seconds)}."
            raise TimeUp(text, usage=so_far.usage) from None
        except CallFailed as error:
            error.usage = so_far.usage
            raise

    async def _reply(
        self, request: ModelRequest, agent: Agent, so_far: CallUsage
    ) -> tuple[ModelRef, ModelReply]:
        """The reply of the agent's own model, or of the first fallback that can be asked."""
        options, user = so_far.options, self._scope.user or request.user
        request = replace(request, temperature=agent.temperature, user=user)
        refs = (ModelRef(agent.provider, agent.model), *options.fallbacks)
        try:
            return await self._first_reply(refs, request, so_far)
        except (ProviderDown, ProviderBusy) as error:
            wait = (isinstance(error, ProviderBusy) and error.retry_after) or 0.0
            if not options.patient or isinstance(error, TimeUp) or wait > options.seconds:
                raise
            raise ModelsAway(str(error), until=self._availability.until(refs, wait)) from error

    async def _first_reply(
        self, refs: Sequence[ModelRef], request: ModelRequest, so_far: CallUsage
    ) -> tuple[ModelRef, ModelReply]:
        failed: list[CallFailed] = []
        for place, ref in enumerate(refs):
            # Who can neither wait nor ask another model tries even one that is away.
            has_choice = so_far.options.patient or place < len(refs) - 1
            if has_choice and (why := self._availability.why_not(ref)):
                failed.append(ProviderDown(why))
                continue
            share = so_far.seconds_left / (len(refs) - place)  # a model that hangs leaves time
            try:
                async with so_far.limit(share):
                    reply = await self._reply_after_retries(
                        ref, request, so_far, is_last=ref == refs[-1]
                    )
            except CapReached:
                raise
            except TimeoutError:
                failed.append(TimeUp(f"No answer within {duration(round(share))}."))
            except CallFailed as error:
                failed.append(error)  # another model may be up, set up, or hold more
            else:
                self._availability.mark_available(ref)
                so_far.stands_in = ("/".join(refs[0]), str(failed[0])) if failed else ("", "")
                return ref, reply
            error = failed[-1]
            if is_outage(error):
                # A vendor that says when to come back is not away, nor is one that is slow.
                says_when = isinstance(error, ProviderBusy) and error.retry_after is not None
                if not says_when and not isinstance(error, TimeUp):
                    self._availability.gave_up(ref, str(error))
            elif isinstance(error, ProviderError):
                self._availability.mark_available(ref)
        # An error that may pass counts before the others, and one that only a person can mend last:
        # an agent is out for good only if none of its models can be asked any more.
        mending = KeyRefused | ProviderMissing
        passing = [error for error in failed if is_outage(error)] if so_far.options.patient else []
        lasting = [error for error in failed if not isinstance(error, mending)]
        raise (passing or lasting or failed)[-1]

    async def _reply_after_retries(
        self, ref: ModelRef, request: ModelRequest, so_far: CallUsage, *, is_last: bool
    ) -> ModelReply:
        current, useless, down = replace(request, model=ref.model), 0, 0
        # Only one silence is waited for where the debate can go on without the model.
        hurried = so_far.options.patient or (not is_last and request.act in ALL_WAIT_FOR)

        async def attempt() -> ModelReply:
            window = self._measure.capability(*ref).context_tokens
            try:
                return await self._attempt(ref, current, so_far, Attempt())
            except PromptTooLong as error:
                self._measure.learn_too_long(ref.provider, current, window, error.tokens)
                return await self._attempt(ref, current, so_far, Attempt())

        def again(error: ProviderError, wait: float) -> float | None:
            """A wait the vendor asks for is a lower bound."""
            nonlocal current, useless, down
            down = down + 1 if isinstance(error, ProviderDown) else 0
            if isinstance(error, ProviderBusy) and error.retry_after:
                self._availability.limits_rate(ref, error.retry_after)
                wait += error.retry_after
            if isinstance(error, ReplyUnusable):
                # The reply, or its reasoning, did not fit: allow twice as many tokens.
                useless += 1
                current = replace(current, max_output_tokens=2 * current.max_output_tokens)
            most = 1 if hurried and isinstance(error, ProviderSilent) else FAILURES
            is_over = useless >= TRIES_IF_UNUSABLE or down >= most or wait >= so_far.seconds_left
            return wait if error.retryable and not is_over else None

        return await retry(
            attempt,
            self._retries,
            self._clock.sleep,
            on=ProviderError,
            again=again,
            chance=self._jitter,
        )

    async def _attempt(
        self, ref: ModelRef, request: ModelRequest, so_far: CallUsage, start: Attempt
    ) -> ModelReply:
        """One attempt: fit the request, wait for a slot and money, warm up, call.

        A call that waits for money that others hold keeps no slot and leads no warm-up.
        """
        provider = self._providers.get(ref.provider)
        if provider is None:
            raise ProviderMissing(
                f"The provider {ref.provider!r} is not set up: is its key missing?"
            )
        if isinstance(provider, ContextSizes) and ref not in self._contexts:
            with suppress(ProviderError):  # what is wrong, the attempt itself will tell
                if tokens := await provider.context(ref.model):
                    self._measure.learn_context(*ref, tokens)
                self._contexts.add(ref)
        whole, request = request, self._measure.fit(ref.provider, request)
        so_far.sent = sent_parts(whole, request)
        await self._availability.wait_for_rate(ref, so_far.seconds_left)
        lifetime = self._measure.capability(*ref).cache_seconds
        beginnings = tuple(self._measure.beginnings(ref.provider, request))
        worst = self._measure.worst(ref.provider, request, self._prices, at=self._clock.now())
        caps = so_far.options.caps
        check_caps(caps, worst)
        is_beside = request.act in BESIDE
        slots = self._beside if is_beside else self._slots
        async with AsyncExitStack() as entered:
            await entered.enter_async_context(so_far.slot(slots[ref.provider]))
            while self._scope.budget and caps and worst:
                hold = self._scope.budget.hold(
                    caps, worst, seconds=so_far.seconds_left, attempt=start, clock=self._clock
                )
                if await entered.enter_async_context(hold):
                    break
                await entered.aclose()
                await self._clock.sleep(LOOK_AGAIN_SECONDS)
                await entered.enter_async_context(so_far.slot(slots[ref.provider]))
            # Nobody waits for what runs beside a debate, so it leads nobody either.
            start.warmup = await entered.enter_async_context(
                self._warmup.turn(beginnings, lifetime, leads=not is_beside)
            )
            if self._scope.prove:
                await self._scope.prove()  # only now: it may have waited for long
            return await self._booked_reply(ref, request, so_far, start)

    async def _booked_reply(
        self, ref: ModelRef, request: ModelRequest, so_far: CallUsage, start: Attempt
    ) -> ModelReply:
        start.usage = Usage(attempts=1)
        try:
            reply = await self._whole_reply(ref, request, start)
        except BaseException as error:
            # Of one given up nobody says what it cost: nothing, where tokens have a price.
            usage = error.usage if isinstance(error, CallFailed) else Usage(cost=None)
            if start.begun and not usage.input_tokens:  # whether reported or not
                unreported = usage.model_copy(update={"cost": None})
                usage = self._measure.with_estimates(ref.provider, request, "", unreported)
            start.usage = self._usage_with_cost(ref, usage)
            raise
        else:
            usage = self._measure.with_estimates(ref.provider, request, reply.text, reply.usage)
            self._measure.learn(ref.provider, request, usage)
            start.usage = self._usage_with_cost(ref, usage)
            return replace(reply, text=writable(reply.text))
        finally:
            so_far.add(start.usage)

    async def _whole_reply(
        self, ref: ModelRef, request: ModelRequest, start: Attempt
    ) -> ModelReply:
        """The reply, unless it is cut off, whatever the server says, or no answer."""
        limits = self._measure.capability(*ref)
        try:
            reply = await self._providers[ref.provider].complete(request, start)
        except ReplyUnusable as error:
            if isinstance(error, ReplyCutOff) or is_cut_off(request, error.usage, limits):
                raise cut_off(ref.provider, request, limits, error.usage) from None
            raise
        if is_cut_off(request, reply.usage, limits):
            raise cut_off(ref.provider, request, limits, reply.usage)
        text = ""
        if is_echo(request, reply.text):
            text = f"{ref.model} repeated its prompt instead of answering."
        elif is_refusal(reply.text):
            text = f"{ref.model} refused to answer: {' '.join(reply.text.split())}"
        elif repeats_itself(reply.text):
            text = f"{ref.model} repeated the same words again and again."
        if text:
            raise ReplyUnusable(text, usage=reply.usage)
        return reply

    def _usage_with_cost(self, ref: ModelRef, usage: Usage) -> Usage:
        cost = Decimal(0) if self._measure.capability(*ref).local else usage.cost
        if cost is None:
            cost = price(*ref, usage, self._prices, at=self._clock.now())
        return usage.model_copy(update={"cost": cost, "attempts": 1})

    def _call(self, ref: ModelRef, reply: ModelReply, so_far: CallUsage) -> Call:
        return Call(
            provider=ref.provider,
            model=reply.model or ref.model,
            usage=so_far.usage,
            latency_ms=round(so_far.seconds * 1000),
            request_id=reply.request_id,
            temperature=so_far.temperature if self._measure.capability(*ref).sampling else None,
            prompt_source=so_far.options.prompt_source,
            stands_in_for=so_far.stands_in[0],
            stands_in_why=so_far.stands_in[1],
            sent=so_far.sent,
        )
