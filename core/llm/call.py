"""Model calls: caps, cache warm-up, retries, fallbacks, structured answers, one repair, usage."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from core.capabilities import Price, Record
from core.debate.agents import Agent
from core.debate.turn import BACKGROUND_ACTS
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
    ReplyUnreadable,
    ReplyUnusable,
    TimeUp,
)
from core.figures import duration
from core.llm.availability import (
    BLOCKING_ACTS,
    FAILURES,
    PROBES,
    ModelAvailability,
    ModelRef,
    is_outage,
)
from core.llm.budget import BUDGET_POLL_SECONDS, Attempt, Budget, check_caps
from core.llm.cache_warmup import CacheWarmup
from core.llm.prices import Prices
from core.llm.replies import (
    Check,
    answer_form,
    read_answer,
    repair_parts,
    reply_fault,
    storable_text,
    with_setting_hint,
    without_preamble,
)
from core.llm.sizes import Measure, sent_parts
from core.ports import Clock, ContextSizes, ModelProvider, SlowLoadingProvider
from core.request import ModelReply, ModelRequest
from core.retry import RetryPolicy, retry
from core.settings import USUAL_CALLS_AT_ONCE
from core.usage import Call, Cap, SentPart, Usage

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

#: Each wait is random, up to a bound that doubles.
USUAL_RETRIES = RetryPolicy(tries=5, first_wait=2.0, longest_wait=30.0, jitter=1.0)
#: An empty, refused or cut-off reply costs money and seldom gets better.
TRIES_IF_UNUSABLE = 2
#: Concurrent attempts per provider that serves models of this machine. Such a server answers one
#: request after the other, and an attempt that waits there too long is given up.
LOCAL_PARALLEL = 8
#: Concurrent attempts for summaries per provider, besides the attempts of turns.
SUMMARIES_PARALLEL = 2
#: Turns per provider that may prepare a call, besides those with a slot.
PREPARING = 16


@dataclass(frozen=True, kw_only=True)
class Tables:
    #: Records that override the built-in table of capabilities.
    models: Sequence[Record] = ()
    #: Prices that override the public list; a key is `provider/model` or the model's name.
    prices: Prices = field(default_factory=dict[str, Price])


NO_TABLES = Tables()


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    #: Time limit for all tries, fallbacks and the repair together.
    seconds: float = 180.0
    #: The worst case of each attempt must fit under all of these.
    caps: Sequence[Cap] = ()
    #: Models to ask, in this order, if the agent's own cannot be asked.
    fallbacks: Sequence[ModelRef] = ()
    #: Where the prompt came from; recorded with the call.
    prompt_source: str = "built-in"
    #: Whether to raise `ModelsAway` if all models are away, so that the turn is tried later.
    waits_for_models: bool = False


USUAL_OPTIONS = CallOptions()


@dataclass(frozen=True, kw_only=True)
class CallScope:
    #: Caps that apply besides those of the call.
    caps: Sequence[Cap] = ()
    #: A pseudonym of the person, for vendors that tell the users of an account apart.
    user: str = ""
    #: Called with the usage of each attempt at its end, also if it was cancelled.
    record_usage: Callable[[Usage], None] | None = None
    #: Reserves money for each attempt; None: no other process spends under these caps.
    budget: Budget | None = None
    #: Awaited right before each attempt; raises if this run has lost the debate.
    check_lease: Callable[[], Awaitable[None]] | None = None
    #: False: `waits_for_models` has no effect.
    may_wait: bool = True


class ModelAnswer(NamedTuple, Generic[T]):
    """The answer and the record of its call: `value, call = await calls.ask(...)`."""

    value: T
    call: Call


class _Question:
    """The state of one `ask` or `ask_for`, over all its attempts and its repair."""

    def __init__(self, options: CallOptions, agent: Agent, clock: Clock, scope: CallScope) -> None:
        waits = options.waits_for_models and scope.may_wait
        self.options = replace(options, caps=(*scope.caps, *options.caps), waits_for_models=waits)
        #: The agent's own model, then the fallbacks.
        self.refs = (ModelRef(agent.provider, agent.model), *options.fallbacks)
        self.temperature = agent.temperature
        self.usage = Usage()
        #: If a fallback answers: the agent's own model and why it does not answer.
        self.stands_in: tuple[str, str] = ("", "")
        #: Sizes of the parts of the newest prompt.
        self.sent_parts: tuple[SentPart, ...] = ()
        self._record_usage = scope.record_usage
        self._clock = clock
        self._began = clock.now()
        self._timeouts: list[asyncio.Timeout] = []

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[None]:
        """Raise `TimeoutError` after so many seconds, not counting the wait for a slot."""
        async with asyncio.timeout(seconds) as timeout:
            self._timeouts.append(timeout)
            try:
                yield
            finally:
                self._timeouts.remove(timeout)

    @asynccontextmanager
    async def slot(self, slots: asyncio.Semaphore) -> AsyncGenerator[None]:
        """Hold a slot during the block; all time limits pause during the wait for it."""
        loop, asked_at = asyncio.get_running_loop(), self._clock.now()
        remaining = [
            (timeout, (timeout.when() or loop.time()) - loop.time()) for timeout in self._timeouts
        ]
        for timeout, _ in remaining:
            timeout.reschedule(None)
        await slots.acquire()
        try:
            self._began += self._clock.now() - asked_at
            for timeout, seconds in remaining:
                timeout.reschedule(loop.time() + seconds)
            yield
        finally:
            slots.release()

    def add(self, usage: Usage) -> None:
        self.usage += usage
        if self._record_usage:
            self._record_usage(usage)

    @property
    def seconds(self) -> float:
        return (self._clock.now() - self._began).total_seconds()

    @property
    def seconds_left(self) -> float:
        return self.options.seconds - self.seconds


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
        """`parallel` bounds the attempts per provider; `probes` are the waits of models away."""
        self._providers = providers
        self._clock = clock
        self._measure = Measure(tables.models, tables.prices)
        self._retries = retries
        self._jitter = jitter
        self._warmup = CacheWarmup(clock)
        self._availability = ModelAvailability(clock, probes)
        #: Models whose context size was asked for.
        self._contexts: set[ModelRef] = set()
        local = {name for name in providers if self._measure.capability(name, "").local}
        slots = {
            name: min(parallel, LOCAL_PARALLEL) if name in local else parallel for name in providers
        }
        self._slots = {name: asyncio.Semaphore(count) for name, count in slots.items()}
        # A stalled summary must not take a slot from a turn.
        self._background_slots = {name: asyncio.Semaphore(SUMMARIES_PARALLEL) for name in providers}
        #: Turns that may prepare a call, by provider and whether they run in the background.
        self._admissions = {
            (name, is_background): asyncio.Semaphore(PREPARING + count)
            for name in providers
            for is_background, count in ((False, slots[name]), (True, SUMMARIES_PARALLEL))
        }
        self._scope = CallScope()

    def within(self, scope: CallScope) -> "ModelCalls":
        """A copy for this scope; it shares slots, availability and learned sizes."""
        calls = copy(self)
        calls._scope = scope  # noqa: SLF001 - a copy of this object
        return calls

    def admission(self, provider: str, *, is_background: bool) -> AbstractAsyncContextManager[None]:
        """Wait until a turn of this provider may prepare its call; held until its end.

        A turn that waits here has no request yet and holds few objects. This keeps garbage
        collections short in a process with thousands of waiting turns.
        """
        return self._admissions.get((provider, is_background)) or nullcontext()

    async def ask(
        self, request: ModelRequest, agent: Agent, options: CallOptions = USUAL_OPTIONS
    ) -> ModelAnswer[str]:
        """Ask for text, with the model and the temperature of the agent.

        Raises:
            LimitReached: The call could pass a cap, or the prompt does not fit the model.
            ModelsAway: No model can be asked now, and the call may be made later.
            ProviderError: No model answered; `usage` is the cost of the attempts.
            ProviderMissing: The agent's provider is not set up.
        """
        async with self._question(options, agent) as question:
            text, call = await self._reply(request, question)
            return ModelAnswer(without_preamble(text), call)

    async def ask_for(
        self,
        request: ModelRequest,
        agent: Agent,
        answer_type: type[M],
        *,
        check: Check[M] | None = None,
        options: CallOptions = USUAL_OPTIONS,
    ) -> ModelAnswer[M]:
        """Ask for a structured answer. If it cannot be read, ask once more, with its faults.

        `answer_type` has fields for text, numbers, booleans, lists and objects; no mapping and no
        union.

        Raises:
            ReplyUnreadable: The second answer cannot be read either; `call` is its call.
            MootError: As in `ask`.
        """
        request = replace(request, answer=answer_form(answer_type))
        async with self._question(options, agent) as question:
            text, call = await self._reply(request, question)
            try:
                return ModelAnswer(read_answer(text, answer_type, check), call)
            except ReplyUnreadable as error:
                parts = (*request.parts, *repair_parts(text, str(error)))
            text, call = await self._reply(replace(request, parts=parts), question)
            try:
                return ModelAnswer(read_answer(text, answer_type, check), call)
            except ReplyUnreadable as error:
                error.call = call
                raise

    async def load(self, providers: Collection[str]) -> None:
        chosen = [provider for name, provider in self._providers.items() if name in providers]
        await asyncio.gather(
            *(item.load() for item in chosen if isinstance(item, SlowLoadingProvider))
        )

    async def close(self) -> None:
        for provider in self._providers.values():
            await provider.close()

    @asynccontextmanager
    async def _question(self, options: CallOptions, agent: Agent) -> AsyncGenerator[_Question]:
        """A question with its time limit; puts its usage into each `CallFailed` of the block."""
        question = _Question(options, agent, self._clock, self._scope)
        try:
            async with question.limit(options.seconds):
                yield question
        except TimeoutError:
            text = f"No answer within {duration(options.seconds)}."
            raise TimeUp(text, usage=question.usage) from None
        except CallFailed as error:
            error.usage = question.usage
            raise

    async def _reply(self, request: ModelRequest, question: _Question) -> ModelAnswer[str]:
        """The reply of the agent's own model, or of the first fallback that answers."""
        refs, waits = question.refs, question.options.waits_for_models
        failures: list[CallFailed] = []
        for index, ref in enumerate(refs):
            # The last model is asked even if it is away, unless the question can wait.
            may_skip = waits or ref != refs[-1]
            if may_skip and (reason := self._availability.outage_reason(ref)):
                failures.append(ProviderDown(reason))
                continue
            share = question.seconds_left / (len(refs) - index)  # leaves time for the fallbacks
            try:
                async with question.limit(share):
                    reply = await self._reply_after_retries(ref, request, question)
            except CapReached:
                raise
            except TimeoutError:
                failures.append(TimeUp(f"No answer within {duration(round(share))}."))
            except CallFailed as error:
                failures.append(error)  # a fallback may be available or have a larger context
                self._availability.record_end(ref, error)
            else:
                self._availability.record_end(ref)
                question.stands_in = ("/".join(refs[0]), str(failures[0])) if failures else ("", "")
                return ModelAnswer(reply.text, self._call(ref, reply, question))
        raise self._failure(failures, question)

    def _failure(self, failures: Sequence[CallFailed], question: _Question) -> Exception:
        """The error to raise after all models failed.

        Outages have precedence if the question can wait. Errors that only a person can correct
        come last: these take the agent out for the rest of the debate.
        """
        waits = question.options.waits_for_models
        outages = [error for error in failures if waits and is_outage(error)]
        temporary = [
            error for error in failures if not isinstance(error, KeyRefused | ProviderMissing)
        ]
        error = (outages or temporary or failures)[-1]
        wait = (isinstance(error, ProviderBusy) and error.retry_after) or 0.0
        if not outages or isinstance(error, TimeUp) or wait > question.options.seconds:
            return error
        return ModelsAway(str(error), until=self._availability.retry_time(question.refs, wait))

    async def _reply_after_retries(
        self, ref: ModelRef, request: ModelRequest, question: _Question
    ) -> ModelReply:
        user, temperature = self._scope.user or request.user, question.temperature
        current = replace(request, model=ref.model, temperature=temperature, user=user)
        unusable = down = 0
        # One silence is enough if the turn can wait, or if a fallback can take an act on which the
        # whole debate waits.
        is_last = ref == question.refs[-1]
        gives_up_early = question.options.waits_for_models or (
            not is_last and request.act in BLOCKING_ACTS
        )

        async def attempt() -> ModelReply:
            window = self._measure.capability(*ref).context_tokens
            try:
                return await self._attempt(ref, current, question)
            except PromptTooLong as error:
                self._measure.learn_too_long(ref.provider, current, window, error.tokens)
                return await self._attempt(ref, current, question)

        def again(error: ProviderError, wait: float) -> float | None:
            """The wait before the next attempt; None to give up."""
            nonlocal current, unusable, down
            down = down + 1 if isinstance(error, ProviderDown) else 0
            if isinstance(error, ProviderBusy) and error.retry_after:
                self._availability.limit_rate(ref, error.retry_after)
                wait += error.retry_after  # the random part spreads the calls after it
            if isinstance(error, ReplyUnusable):
                # The reply or its reasoning may have been too long: allow twice the tokens.
                unusable += 1
                current = replace(current, max_output_tokens=2 * current.max_output_tokens)
            most = 1 if gives_up_early and isinstance(error, ProviderSilent) else FAILURES
            is_over = unusable >= TRIES_IF_UNUSABLE or down >= most or wait >= question.seconds_left
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
        self, ref: ModelRef, request: ModelRequest, question: _Question
    ) -> ModelReply:
        """One attempt: wait for a slot, fit the request, reserve money, warm up the cache, call.

        A call that waits for money reserved by others has no slot and leads no warm-up.
        """
        provider = self._providers.get(ref.provider)
        if provider is None:
            raise ProviderMissing(
                f"The provider {ref.provider!r} is not set up: is its key missing?"
            )
        if isinstance(provider, ContextSizes) and ref not in self._contexts:
            with suppress(ProviderError):  # the attempt itself raises the reason
                self._measure.learn_context(*ref, await provider.context(ref.model))
                self._contexts.add(ref)
        await self._availability.wait_for_rate(ref, question.seconds_left)
        is_background = request.act in BACKGROUND_ACTS
        slots = (self._background_slots if is_background else self._slots)[ref.provider]
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(question.slot(slots))
            # After the wait: objects of thousands of waiting calls would slow garbage collection.
            full_request, request = request, self._measure.fit(ref.provider, request)
            question.sent_parts = sent_parts(full_request, request)
            prefixes = self._measure.cache_prefixes(ref.provider, request)
            worst = self._measure.worst(ref.provider, request, self._clock.now())
            caps = question.options.caps
            check_caps(caps, worst)
            attempt = Attempt()
            while self._scope.budget and caps and worst:
                reservation = self._scope.budget.reserve(
                    caps, worst, seconds=question.seconds_left, attempt=attempt, clock=self._clock
                )
                if await stack.enter_async_context(reservation):
                    break
                await stack.aclose()
                await self._clock.sleep(BUDGET_POLL_SECONDS)
                await stack.enter_async_context(question.slot(slots))
            # A background call may be slow, so no other call waits for it.
            attempt.on_first_token = await stack.enter_async_context(
                self._warmup.call(
                    prefixes, self._measure.capability(*ref).cache_seconds, leads=not is_background
                )
            )
            if self._scope.check_lease:
                await self._scope.check_lease()  # after all waits, which may be long
            try:
                return await self._measured_reply(provider, ref, request, attempt)
            finally:
                question.add(attempt.usage)

    async def _measured_reply(
        self, provider: ModelProvider, ref: ModelRef, request: ModelRequest, attempt: Attempt
    ) -> ModelReply:
        try:
            reply = await self._checked_reply(provider, ref, request, attempt)
        except BaseException as error:
            # No vendor reports the cost of a cancelled call. It is unknown if a reply had begun.
            usage = error.usage if isinstance(error, CallFailed) else Usage(cost=None)
            if attempt.has_begun and not usage.input_tokens:
                usage = replace(usage, cost=None)
                usage = self._measure.with_estimates(ref.provider, request, "", usage)
            attempt.usage = self._measure.with_cost(*ref, usage, self._clock.now())
            raise
        usage = self._measure.with_estimates(ref.provider, request, reply.text, reply.usage)
        self._measure.learn(ref.provider, request, usage)
        attempt.usage = self._measure.with_cost(*ref, usage, self._clock.now())
        return replace(reply, text=storable_text(reply.text))

    async def _checked_reply(
        self, provider: ModelProvider, ref: ModelRef, request: ModelRequest, attempt: Attempt
    ) -> ModelReply:
        """The reply; raises `ReplyUnusable` if it is cut off or is no answer."""
        limits = self._measure.capability(*ref)
        try:
            reply = await provider.complete(request, attempt)
        except ReplyUnusable as error:
            raise with_setting_hint(error, ref.provider, request, limits) from None
        if fault := reply_fault(request, reply, limits):
            raise with_setting_hint(fault, ref.provider, request, limits)
        return reply

    def _call(self, ref: ModelRef, reply: ModelReply, question: _Question) -> Call:
        takes_temperature = self._measure.capability(*ref).sampling
        return Call(
            provider=ref.provider,
            model=reply.model or ref.model,
            usage=question.usage,
            latency_ms=round(question.seconds * 1000),
            request_id=reply.request_id,
            temperature=question.temperature if takes_temperature else None,
            prompt_source=question.options.prompt_source,
            stands_in_for=question.stands_in[0],
            stands_in_why=question.stands_in[1],
            sent=question.sent_parts,
        )
