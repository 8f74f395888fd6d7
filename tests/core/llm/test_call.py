"""Model calls through real SDKs, real HTTP and a scripted vendor."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal

import pytest
from pydantic import BaseModel

from core.debate.agents import Agent
from core.debate.turn import Act
from core.errors import (
    CallFailed,
    CapReached,
    LimitReached,
    ModelsAway,
    ProviderBusy,
    ProviderDown,
    ReplyUnreadable,
    ReplyUnusable,
    RequestRejected,
    RunLost,
)
from core.llm.budget import Budget
from core.llm.call import CallOptions, CallScope, ModelCalls, ModelRef
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.ollama import OllamaProvider
from core.llm.providers.openai import OpenAIProvider
from core.ports import Clock
from core.request import ModelRequest, Part, PartKind
from core.settings import StallLimits
from core.testing import InMemoryStore, ManualClock, ScriptedProvider
from core.usage import Cap
from tests.vendors.script import Counts, Fault, Reject, ReplyEnding, Say, VendorRequest
from tests.vendors.server import Vendor, always, in_turn

REPLY = "Use PostgreSQL."
OVERLOADED = Reject(status=529)


class Ranking(BaseModel):
    ranking: list[str]


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with Vendor(always(Say(text=REPLY))) as running:
        yield running


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def calls(vendor: Vendor, clock: ManualClock) -> AsyncIterator[ModelCalls]:
    asking = model_calls(vendor, clock)
    yield asking
    await asking.close()


def model_calls(vendor: Vendor, clock: Clock) -> ModelCalls:
    """Calls to the scripted vendor."""
    stall = StallLimits(first_token=5, between_tokens=5)
    providers = {
        "anthropic": AnthropicProvider("sk-test", vendor.url, stall=stall),
        "openai": OpenAIProvider("sk-test", f"{vendor.url}/v1", stall=stall),
        "ollama": OllamaProvider(vendor.url),
    }
    return ModelCalls(providers, clock, parallel=4, jitter=lambda: 0.5)


ANN = Agent(id="ann", name="Ann", role="architect", provider="anthropic", model="claude-sonnet-5-5")
OLLIE = ANN.model_copy(update={"provider": "ollama", "model": "llama-4:8b", "temperature": 0.3})


def a_request(question: str = "Kafka or PostgreSQL?") -> ModelRequest:
    return ModelRequest(
        model="",
        act=Act.PROPOSAL,
        role="architect",
        system="You debate.",
        parts=(
            Part(kind=PartKind.QUESTION, label="Question", text=question, ends_shared=True),
            Part(kind=PartKind.TASK, label="Task", text="Propose."),
        ),
        delimiter="k7f3q9",
        cache_key="d1234567",
    )


def with_history(text: str) -> ModelRequest:
    """A request whose longest part may be shortened."""
    history = Part(kind=PartKind.OTHER, label="Round 1 in full", text=text, trim_priority=4)
    request = a_request()
    return replace(request, parts=(*request.parts[:-1], history, request.parts[-1]))


def a_cap(limit: str, spent: str = "0") -> Cap:
    return Cap("debate/d1", "this debate", Decimal(limit), Decimal(spent))


async def test_overloads_are_retried_and_each_attempt_counts(
    calls: ModelCalls, vendor: Vendor, clock: ManualClock
) -> None:
    vendor.script = in_turn(OVERLOADED, Say(fault=Fault.CUT), OVERLOADED, Say(text=REPLY))
    before = clock.now()

    text, call = await calls.ask(a_request(), ANN)

    assert text == REPLY
    assert call.usage.attempts == 4
    assert call.usage.input_tokens == 240, "the broken stream had reported its input"
    waited = (clock.now() - before).total_seconds()
    assert waited == 0.5 * (2 + 4 + 8)
    assert call.latency_ms == waited * 1000


async def test_one_call_at_a_time_probes_a_model_that_is_away(
    calls: ModelCalls, vendor: Vendor, clock: ManualClock
) -> None:
    vendor.script = always(Reject(status=500))
    waits = CallOptions(waits_for_models=True)
    with pytest.raises(ModelsAway) as caught:
        await calls.ask(a_request(), ANN, waits)
    assert caught.value.until
    await clock.sleep((caught.value.until - clock.now()).total_seconds())
    before = len(vendor.asked)

    attempts = [calls.ask(a_request(), ANN, waits) for _ in range(4)]
    answers = await asyncio.gather(*attempts, return_exceptions=True)

    assert [type(answer) for answer in answers] == [ModelsAway] * 4
    assert len(vendor.asked) - before == 2, "one of them asks, and once more"


async def test_all_calls_respect_a_wait_that_the_vendor_asks_for(
    calls: ModelCalls, vendor: Vendor, clock: ManualClock
) -> None:
    vendor.script = in_turn(Reject(status=429, headers={"retry-after": "40"}), Say(text=REPLY))
    before = clock.now()

    first = asyncio.create_task(calls.ask(a_request(), ANN))
    await vendor.asked_for(2)
    await calls.ask(a_request(), ANN)
    await first

    assert len(vendor.asked) == 3
    assert 40 <= (clock.now() - before).total_seconds() < 80, "it is waited for once"

    vendor.script = always(Reject(status=429, headers={"retry-after": "60"}))
    for seconds, asked in [(61, 4), (5, 4)]:  # who cannot wait so long does not even ask
        with pytest.raises(ProviderBusy) as caught:
            await calls.ask(a_request(), ANN, CallOptions(seconds=seconds))
        assert len(vendor.asked) == asked
        assert caught.value.retry_after


async def test_an_unusable_reply_is_asked_for_once_more_and_both_count(
    calls: ModelCalls, vendor: Vendor
) -> None:
    vendor.script = always(Say(ending=ReplyEnding.REFUSAL, counts=Counts(input=100, output=10)))

    with pytest.raises(ReplyUnusable) as caught:
        await calls.ask(a_request(), ANN)

    spent = caught.value.usage
    assert (spent.attempts, spent.input_tokens, spent.output_tokens) == (2, 200, 20)
    assert spent.cost


async def test_the_context_of_an_ollama_model_is_asked_for_once(
    calls: ModelCalls, vendor: Vendor
) -> None:
    vendor.context_tokens = 8192

    await calls.ask(with_history("word " * 20_000), OLLIE)
    vendor.context_tokens = None  # who asks again is seen
    await calls.ask(with_history("word " * 20_000), OLLIE)

    assert [question.path for question in vendor.asked] == ["/api/chat", "/api/chat"]
    assert {question.body["options"]["num_ctx"] for question in vendor.asked} == {8192}
    assert "characters left out to fit" in vendor.asked[0].body["messages"][1]["content"]


async def test_a_longer_reply_gets_room_by_shortening_the_prompt(
    calls: ModelCalls, vendor: Vendor
) -> None:
    vendor.script = in_turn(Say(ending=ReplyEnding.LENGTH), Say(text=REPLY))

    text, _ = await calls.ask(with_history("word " * 40_000), OLLIE)

    assert text == REPLY
    options = [request.body["options"] for request in vendor.asked]
    assert [(option["num_ctx"], option["num_predict"]) for option in options] == [
        (32768, 2048),
        (32768, 4096),
    ]
    first, second = [request.body["messages"][1]["content"] for request in vendor.asked]
    assert len(second) < len(first)
    assert second.count("characters left out to fit") == 1
    whole = len("word " * 40_000)
    left_out = int(second.split("[… ")[1].split(" characters")[0].replace(",", ""))
    assert whole - left_out == pytest.approx(second.count("word ") * 5, abs=5)


@pytest.mark.parametrize(
    ("agent", "question"), [(ANN, "Its key is refused"), (OLLIE, "It holds less" * 20_000)]
)
async def test_a_fallback_is_asked_if_the_agents_own_model_cannot_be(
    calls: ModelCalls, vendor: Vendor, agent: Agent, question: str
) -> None:
    def script(request: VendorRequest) -> Say | Reject:
        return Say(text=REPLY) if request.path == "/v1/responses" else Reject(status=401)

    vendor.script = script
    fallbacks = (ModelRef("anthropic", "claude-haiku-5-5"), ModelRef("openai", "gpt-6-luna"))

    text, call = await calls.ask(a_request(question), agent, CallOptions(fallbacks=fallbacks))

    assert text == REPLY
    assert (call.provider, call.model) == ("openai", "gpt-6-luna")
    assert call.usage.attempts == (3 if agent is ANN else 2)
    assert call.stands_in_for == f"{agent.provider}/{agent.model}"
    why = "refuses the API key" if agent is ANN else "does not fit into the context of llama-4:8b"
    assert why in call.stands_in_why


@pytest.mark.parametrize(
    ("own", "fallback", "kind"),
    [
        (Reject(status=400), Reject(status=401), RequestRejected),  # needs no person
        (Reject(status=500), Reject(status=400), ModelsAway),
        (Reject(status=500), Reject(status=401), ModelsAway),
        (Reject(status=429, headers={"retry-after": "7200"}), Reject(status=401), ProviderBusy),
    ],
)
async def test_temporary_errors_have_precedence_over_lasting_ones(  # noqa: PLR0917 - a row
    calls: ModelCalls, vendor: Vendor, own: Reject, fallback: Reject, kind: type[Exception]
) -> None:
    def script(request: VendorRequest) -> Reject:
        return own if request.path == "/v1/messages" else fallback

    vendor.script = script
    options = CallOptions(waits_for_models=True, fallbacks=(ModelRef("openai", "gpt-6-luna"),))

    with pytest.raises(kind):
        await calls.ask(a_request(), ANN, options)


async def test_no_fallback_is_asked_after_a_reached_cap(calls: ModelCalls, vendor: Vendor) -> None:
    terms = CallOptions(caps=[a_cap("0.0001")], fallbacks=(ModelRef("ollama", "llama-4:8b"),))

    with pytest.raises(CapReached):
        await calls.ask(a_request(), ANN, terms)
    assert vendor.asked == []


def on_budget(calls: ModelCalls) -> ModelCalls:
    """The same calls with reservations of money."""
    budget = Budget(reservations=InMemoryStore(), debate_id="d1", turn="r1/proposal/ann")
    return calls.within(CallScope(budget=budget))


async def test_a_call_that_waits_for_money_has_no_slot(clock: ManualClock) -> None:
    provider = ScriptedProvider(latency=3600)
    calls = ModelCalls({"anthropic": provider}, clock, parallel=2)
    short = CallOptions(caps=[a_cap("0.15")])
    budgeted = on_budget(calls)
    tasks = [asyncio.create_task(budgeted.ask(a_request(), ANN, short)) for _ in range(6)]
    await provider.wait_until_asked(Act.PROPOSAL, 1)

    tasks.append(asyncio.create_task(calls.ask(a_request("Something else?"), ANN)))
    async with asyncio.timeout(300):
        await provider.wait_until_asked(Act.PROPOSAL, 2)

    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert "Something else?" in str(provider.requests[1].parts)


@pytest.mark.leaping
async def test_the_wait_for_a_slot_does_not_count_as_time_of_a_call(clock: ManualClock) -> None:
    provider = ScriptedProvider(latency=100)
    calls = ModelCalls({"anthropic": provider}, clock, parallel=1)
    options = CallOptions(seconds=150)

    answers = await asyncio.gather(*(calls.ask(a_request(), ANN, options) for _ in range(4)))

    assert len(answers) == 4


async def test_repeated_attempts_count_against_the_cap(calls: ModelCalls, vendor: Vendor) -> None:
    expensive = Say(ending=ReplyEnding.LENGTH, counts=Counts(input=1000, output=9000))
    vendor.script = always(expensive)

    with pytest.raises(LimitReached) as caught:
        await on_budget(calls).ask(a_request(), ANN, CallOptions(caps=[a_cap("0.15")]))

    assert len(vendor.asked) == 1
    assert caught.value.usage.cost == Decimal("0.092")


async def test_after_a_timeout_the_usage_of_a_begun_reply_counts(
    calls: ModelCalls, vendor: Vendor
) -> None:
    await calls.ask(a_request(), ANN)  # so that the SDK is loaded
    vendor.script = always(Say(fault=Fault.STALL, counts=None))

    with pytest.raises(ProviderDown, match=r"within 4 s") as caught:
        await calls.ask(a_request(), ANN, CallOptions(seconds=4))

    spent = caught.value.usage
    assert (spent.attempts, spent.estimated_attempts) == (1, 1)
    assert spent.input_tokens > 0
    assert spent.cost


@pytest.mark.parametrize("allowed", [0, 1], ids=["at once", "between two attempts"])
async def test_a_run_without_its_lease_makes_no_call(
    calls: ModelCalls, vendor: Vendor, allowed: int
) -> None:
    vendor.script = always(OVERLOADED)
    proofs = 0

    async def check_lease() -> None:
        nonlocal proofs
        proofs += 1
        if proofs > allowed:
            raise RunLost("Another run holds the debate.")

    with pytest.raises(RunLost):
        await calls.within(CallScope(check_lease=check_lease)).ask(a_request(), ANN)

    assert len(vendor.asked) == allowed


async def test_concurrent_calls_of_a_provider_are_limited(
    calls: ModelCalls, vendor: Vendor
) -> None:
    await calls.ask(a_request(), ANN)  # so that the SDK is loaded
    vendor.hold(lambda _: True)
    async with asyncio.TaskGroup() as asking:
        for _ in range(12):
            asking.create_task(calls.ask(a_request(), ANN))
        await vendor.asked_for(1 + 4)
        await asyncio.sleep(0.1)  # one more would have come
        assert len(vendor.asked) == 1 + 4
        vendor.let_go()


@pytest.mark.parametrize(
    ("provider", "model", "cost"), [("openai", "private-1", None), (ANN.provider, ANN.model, 0)]
)
async def test_a_call_cancelled_before_its_first_token_costs_nothing_if_its_price_is_known(
    clock: ManualClock, provider: str, model: str, cost: int | None
) -> None:
    calls = ModelCalls({provider: ScriptedProvider(latency=3600)}, clock)
    agent = ANN.model_copy(update={"provider": provider, "model": model})

    with pytest.raises(CallFailed) as caught:
        await calls.ask(a_request(), agent, CallOptions(seconds=0.05))

    assert (caught.value.usage.cost, caught.value.usage.attempts) == (cost, 1)


async def test_the_repair_names_the_fault_of_the_first_answer(
    calls: ModelCalls, vendor: Vendor
) -> None:
    vendor.script = in_turn(
        Say(text='{"ranking": ["p2"]}', counts=Counts(input=100, output=10)),
        Say(text='{"ranking": ["p2", "p1"]}', counts=Counts(input=150, output=10)),
    )

    value, call = await calls.ask_for(
        a_request(),
        ANN,
        Ranking,
        check=lambda ranking: None if len(ranking.ranking) == 2 else "p1 is missing.",
    )

    assert value.ranking == ["p2", "p1"]
    assert (call.usage.attempts, call.usage.input_tokens) == (2, 250)
    repair = vendor.asked[1].body["messages"][0]["content"]
    assert "p1 is missing." in repair[-1]["text"]
    assert '<<<k7f3q9 OTHERS "Your previous reply"\n{"ranking": ["p2"]}' in repair[-1]["text"]
    assert repair[0] == vendor.asked[0].body["messages"][0]["content"][0], "still cached"


async def test_after_two_unreadable_answers_the_call_fails_and_counts(
    calls: ModelCalls, vendor: Vendor
) -> None:
    vendor.script = always(Say(text="I like p2.", counts=Counts(input=100, output=10)))

    with pytest.raises(ReplyUnreadable, match="no JSON object") as caught:
        await calls.ask_for(a_request(), ANN, Ranking)

    assert len(vendor.asked) == 2
    call = caught.value.call
    assert call is not None
    assert call.usage.input_tokens == 200
    assert caught.value.usage == call.usage
