"""A whole debate over real SDKs, agents at three vendors, while all that can break breaks."""

from collections.abc import AsyncIterator
from itertools import count

import pytest

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.engine import Engine
from core.llm.call import ModelCalls
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.ollama import OllamaProvider
from core.llm.providers.openai import OpenAIProvider
from core.retry import RetryPolicy
from core.settings import StallLimits
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, a_setup
from tests.vendor_replies import good_reply
from tests.vendors.script import Fault, Reject, ReplyEnding, Say, VendorRequest
from tests.vendors.server import Script, Vendor

DEBATE = "dvendors"
MODELS = {
    "architect": ("anthropic", "claude-sonnet-5-5"),
    "security": ("openai", "gpt-6.1-terra"),
    "simplicity": ("ollama", "llama-4:8b"),
}
FAULTS: tuple[Say | Reject, ...] = (
    Reject(status=529),
    Say(fault=Fault.CUT),
    Say(fault=Fault.GARBAGE),
    Reject(status=429, headers={"retry-after": "0.01"}),
    Say(fault=Fault.EARLY),
    Say(ending=ReplyEnding.LENGTH),
    Reject(status=500),
    Say(text=" "),
)


def with_faults(every: int) -> Script:
    """Good replies, but for one fault after the other at every so many requests.

    What failed goes well the next time: how often one turn is tried depends on who asks when.
    """
    numbers, failed = count(1), set[str]()

    def script(request: VendorRequest) -> Say | Reject:
        number, what = next(numbers), str(request.body.get("messages") or request.body.get("input"))
        if number % every or what in failed:
            return good_reply(request)
        failed.add(what)
        return FAULTS[number // every % len(FAULTS)]

    return script


def a_mixed_setup() -> Setup:
    """Each agent at another vendor."""
    setup = a_setup(rounds=2, provider="anthropic")
    agents = [
        agent.model_copy(update=dict(zip(("provider", "model"), MODELS[agent.id], strict=True)))
        for agent in setup.agents
    ]
    judge = setup.judge.model_copy(update={"model": "claude-sonnet-5-5"})
    return setup.model_copy(update={"agents": tuple(agents), "judge": judge})


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with Vendor(good_reply) as running:
        yield running


async def hold(vendor: Vendor) -> Debate:
    """Hold the debate; the debate at its end."""
    providers = {
        "anthropic": AnthropicProvider("sk-test", vendor.url, stall=StallLimits(first_token=30)),
        "openai": OpenAIProvider("sk-test", f"{vendor.url}/v1", stall=StallLimits(first_token=30)),
        "ollama": OllamaProvider(vendor.url, stall=StallLimits(first_token=30)),
    }
    clock, store = SystemClock(), InMemoryStore()
    calls = ModelCalls(
        providers, clock, retries=RetryPolicy(tries=5, first_wait=0.01, longest_wait=0.02)
    )
    started = DebateStarted(setup=a_mixed_setup())
    await store.create(DEBATE, started, origin="test", at=clock.now())
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
    debate = await engine.run(DEBATE)
    await calls.close()
    return debate


async def test_a_debate_outlives_every_kind_of_fault_and_books_every_attempt(
    vendor: Vendor,
) -> None:
    vendor.script = with_faults(every=4)

    debate = await hold(vendor)

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert debate.abstentions == {}
    assert {call.provider for call in debate.calls} == {"anthropic", "openai", "ollama"}
    assert debate.usage.cost
    assert debate.verdict
    assert debate.verdict.decision == "Use PostgreSQL."
    assert len(vendor.asked) == debate.usage.attempts > len(debate.calls)
