"""The one place models are asked: caps, cache leader, tries, reading, one repair, usage."""

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
    ReplyUnreadable,
    ReplyUnusable,
    TimeUp,
)
from core.figures import duration
from core.llm.availability import (
    ALL_WAIT_FOR,
    FAILURES,
    PROBES,
    ModelAvailability,
    ModelRef,
    is_outage,
)
from core.llm.budget import LOOK_AGAIN_SECONDS, Attempt, Budget, check_caps
from core.llm.cache_warmup import CacheWarmup
from core.llm.prices import Prices
from core.llm.replies import (
    Check,
    answer_form,
    explained,
    fault_in,
    read_answer,
    repair_parts,
    without_preamble,
    writable,
)
from core.llm.sizes import Measure, sent_parts
from core.ports import Clock, ContextSizes, ModelProvider, SlowLoadingProvider
from core.request import ModelReply, ModelRequest
from core.retry import RetryPolicy, retry
from core.settings import USUAL_CALLS_AT_ONCE
from core.usage import Call, Cap, SentPart, Usage

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

#: A wait is random up to a bound that doubles.
USUAL_RETRIES = RetryPolicy(tries=5, first_wait=2.0, longest_wait=30.0, jitter=1.0)
#: An empty, refused or cut-off reply costs money and seldom gets better.
TRIES_IF_UNUSABLE = 2
#: Attempts under way at the same time, per provider that serves models of one's own machine: they
#: take one after the other, and who waits for a reply that others hold up gives it up.
LOCAL_PARALLEL = 8
#: Attempts for summaries under way at the same time, per provider, besides those of turns.
SUMMARIES_PARALLEL = 2
#: Turns per provider that may prepare a call, besides those whose calls have a slot.
PREPARING = 16


@dataclass(frozen=True, kw_only=True)
class Tables:
    #: Records laid over the built-in table of capabilities.
    models: Sequence[Record] = ()
    #: Prices that win over the public list; a key is `provider/model` or the model's name.
    prices: Prices = field(default_factory=dict[str, Price])


NO_TABLES = Tables()


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


class ModelAnswer(NamedTuple, Generic[T]):
    """What came back, and how. `value, call = await calls.ask(...)`."""

    value: T
    call: Call


class _Question:
    """One question, its repair included: its terms, and what it has used so far."""

    def __init__(self, options: CallOptions, agent: Agent, clock: Clock, scope: CallScope) -> None:
        patient = options.patient and scope.waits
        self.options = replace(options, caps=(*scope.caps, *options.caps), patient=patient)
        #: The agent's own model first.
        self.refs = (ModelRef(agent.provider, agent.model), *options.fallbacks)
        self.temperature = agent.temperature
        self.usage = Usage()
        #: The model that was to answer and why it does not; empty while it does.
        self.stands_in: tuple[str, str] = ("", "")
        #: The newest attempt's prompt.
        self.sent: tuple[SentPart, ...] = ()
        self._book = scope.book
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
        self._measure = Measure(tables.models, tables.prices)
        self._retries = retries
        self._jitter = jitter
        self._warmup = CacheWarmup(clock)
        self._availability = ModelAvailability(clock, probes)
        #: Models that were asked how much they hold.
        self._contexts: set[ModelRef] = set()
        local = {name for name in providers if self._measure.capability(name, "").local}
        slots = {
            name: min(parallel, LOCAL_PARALLEL) if name in local else parallel for name in providers
        }
        self._slots = {name: asyncio.Semaphore(count) for name, count in slots.items()}
        # A summary that hangs must not keep a slot from a turn.
        self._beside = {name: asyncio.Semaphore(SUMMARIES_PARALLEL) for name in providers}
        #: Of turns, by provider and whether they run beside their debates.
        self._admissions = {
            (name, is_beside): asyncio.Semaphore(PREPARING + count)
            for name in providers
            for is_beside, count in ((False, slots[name]), (True, SUMMARIES_PARALLEL))
        }
        self._scope = CallScope()

    def under(self, scope: CallScope) -> "ModelCalls":
        """The same calls with the same books, within this scope."""
        scoped = copy(self)
        scoped._scope = scope  # noqa: SLF001 - its own copy
        return scoped

    def admission(self, provider: str, *, is_beside: bool) -> AbstractAsyncContextManager[None]:
        """Wait until the provider has room for one more turn, and hold that room.

        A busy process has thousands of turns that wait for a slot. A turn that waits here holds no
        request and only a few objects, so that the collections of garbage stay short.
        """
        return self._admissions.get((provider, is_beside)) or nullcontext()

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
        """Ask for a structured answer; one repair names what is wrong with the first.

        `answer_type` is a flat model: text, numbers, booleans, lists, objects.

        Raises:
            ReplyUnreadable: Not even the repair could be read; its `call` is the call.
            MootError: As `ask` does.
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
        named = [provider for name, provider in self._providers.items() if name in providers]
        slow = [provider for provider in named if isinstance(provider, SlowLoadingProvider)]
        await asyncio.gather(*(provider.load() for provider in slow))

    async def close(self) -> None:
        for provider in self._providers.values():
            await provider.close()

    @asynccontextmanager
    async def _question(self, options: CallOptions, agent: Agent) -> AsyncGenerator[_Question]:
        """A question; errors carry what it has used, and its time limit ends the block."""
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
        """The reply of the agent's own model, or of the first fallback that can be asked."""
        refs, is_patient = question.refs, question.options.patient
        failures: list[CallFailed] = []
        for place, ref in enumerate(refs):
            # Who can neither wait nor ask another model tries even one that is away.
            has_choice = is_patient or ref != refs[-1]
            if has_choice and (why := self._availability.why_not(ref)):
                failures.append(ProviderDown(why))
                continue
            share = question.seconds_left / (len(refs) - place)  # a model that hangs leaves time
            try:
                async with question.limit(share):
                    reply = await self._reply_after_retries(ref, request, question)
            except CapReached:
                raise
            except TimeoutError:
                failures.append(TimeUp(f"No answer within {duration(round(share))}."))
            except CallFailed as error:
                failures.append(error)  # another model may be up, set up, or hold more
                self._availability.note(ref, error)
            else:
                self._availability.note(ref)
                question.stands_in = ("/".join(refs[0]), str(failures[0])) if failures else ("", "")
                return ModelAnswer(reply.text, self._call(ref, reply, question))
        raise self._failure(failures, question)

    def _failure(self, failures: Sequence[CallFailed], question: _Question) -> Exception:
        """What a question failed with that no model answered.

        An error that may pass counts before the others, and one that only a person can mend last:
        an agent is out for good only if none of its models can be asked any more.
        """
        is_patient, mending = question.options.patient, KeyRefused | ProviderMissing
        passing = [error for error in failures if is_patient and is_outage(error)]
        lasting = [error for error in failures if not isinstance(error, mending)]
        error = (passing or lasting or failures)[-1]
        wait = (isinstance(error, ProviderBusy) and error.retry_after) or 0.0
        if not passing or isinstance(error, TimeUp) or wait > question.options.seconds:
            return error
        return ModelsAway(str(error), until=self._availability.until(question.refs, wait))

    async def _reply_after_retries(
        self, ref: ModelRef, request: ModelRequest, question: _Question
    ) -> ModelReply:
        user, temperature = self._scope.user or request.user, question.temperature
        current = replace(request, model=ref.model, temperature=temperature, user=user)
        useless = down = 0
        # Only one silence is waited for where the debate can go on without the model.
        is_last = ref == question.refs[-1]
        hurried = question.options.patient or (not is_last and request.act in ALL_WAIT_FOR)

        async def attempt() -> ModelReply:
            window = self._measure.capability(*ref).context_tokens
            try:
                return await self._attempt(ref, current, question)
            except PromptTooLong as error:
                self._measure.learn_too_long(ref.provider, current, window, error.tokens)
                return await self._attempt(ref, current, question)

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
            is_over = useless >= TRIES_IF_UNUSABLE or down >= most or wait >= question.seconds_left
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
        """One attempt: wait for a slot, fit the request, reserve money, warm up, call.

        A call that waits for money that others hold keeps no slot and leads no warm-up.
        """
        provider = self._providers.get(ref.provider)
        if provider is None:
            raise ProviderMissing(
                f"The provider {ref.provider!r} is not set up: is its key missing?"
            )
        if isinstance(provider, ContextSizes) and ref not in self._contexts:
            with suppress(ProviderError):  # what is wrong, the attempt itself will tell
                self._measure.learn_context(*ref, await provider.context(ref.model))
                self._contexts.add(ref)
        await self._availability.wait_for_rate(ref, question.seconds_left)
        is_beside = request.act in BESIDE
        slots = (self._beside if is_beside else self._slots)[ref.provider]
        async with AsyncExitStack() as entered:
            await entered.enter_async_context(question.slot(slots))
            # Only now: thousands of calls may wait for a slot, and each object that they hold makes
            # the collections of garbage longer.
            whole, request = request, self._measure.fit(ref.provider, request)
            question.sent = sent_parts(whole, request)
            beginnings = self._measure.beginnings(ref.provider, request)
            worst = self._measure.worst(ref.provider, request, self._clock.now())
            caps = question.options.caps
            check_caps(caps, worst)
            attempt = Attempt()
            while self._scope.budget and caps and worst:
                hold = self._scope.budget.hold(
                    caps, worst, seconds=question.seconds_left, attempt=attempt, clock=self._clock
                )
                if await entered.enter_async_context(hold):
                    break
                await entered.aclose()
                await self._clock.sleep(LOOK_AGAIN_SECONDS)
                await entered.enter_async_context(question.slot(slots))
            # Nobody waits for what runs beside a debate, so it leads nobody either.
            attempt.warmup = await entered.enter_async_context(
                self._warmup.turn(
                    beginnings, self._measure.capability(*ref).cache_seconds, leads=not is_beside
                )
            )
            if self._scope.prove:
                await self._scope.prove()  # only now: it may have waited for long
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
            # Of one given up nobody says what it cost: nothing, where tokens have a price.
            usage = error.usage if isinstance(error, CallFailed) else Usage(cost=None)
            if attempt.begun and not usage.input_tokens:  # whether reported or not
                unreported = replace(usage, cost=None)
                usage = self._measure.with_estimates(ref.provider, request, "", unreported)
            attempt.usage = self._measure.with_cost(*ref, usage, self._clock.now())
            raise
        usage = self._measure.with_estimates(ref.provider, request, reply.text, reply.usage)
        self._measure.learn(ref.provider, request, usage)
        attempt.usage = self._measure.with_cost(*ref, usage, self._clock.now())
        return replace(reply, text=writable(reply.text))

    async def _checked_reply(
        self, provider: ModelProvider, ref: ModelRef, request: ModelRequest, attempt: Attempt
    ) -> ModelReply:
        """The reply, unless it is cut off, whatever the server says, or no answer."""
        limits = self._measure.capability(*ref)
        try:
            reply = await provider.complete(request, attempt)
        except ReplyUnusable as error:
            raise explained(error, ref.provider, request, limits) from None
        if fault := fault_in(request, reply, limits):
            raise explained(fault, ref.provider, request, limits)
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
            sent=question.sent,
        )
