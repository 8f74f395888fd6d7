"""A whole debate over real SDKs with agents at three vendors and many faults."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count

import pytest

from core.clock import SystemClock
from core.debate.debate_events import TimeRanOut
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.turn_events import TurnFailed
from core.debate.verdict import VerdictSource
from core.llm.call import ModelCalls
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.ollama import OllamaProvider
from core.llm.providers.openai import OpenAIProvider
from core.retry import RetryPolicy
from core.settings import StallLimits
from core.testing import InMemoryStore, a_setup
from tests.core.llm.running import DEBATE, run_debate
from tests.vendor_replies import good_reply
from tests.vendors.script import Fault, Reject, ReplyEnding, Say, VendorRequest
from tests.vendors.server import Script, Vendor

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
    """Good replies, with the next fault at every `every`-th request.

    A failed request succeeds at its next try; the number of tries per turn varies.
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


async def hold(vendor: Vendor, store: InMemoryStore, setup: Setup) -> Debate:
    """A finished debate over the vendor's server."""
    stall = StallLimits(first_token=30)
    providers = {
        "anthropic": AnthropicProvider("sk-test", vendor.url, stall=stall),
        "openai": OpenAIProvider("sk-test", f"{vendor.url}/v1", stall=stall),
        "ollama": OllamaProvider(vendor.url, stall=stall),
    }
    calls = ModelCalls(
        providers,
        SystemClock(),
        retries=RetryPolicy(tries=5, first_wait=0.01, longest_wait=0.02),
        probes=RetryPolicy(first_wait=0.01, longest_wait=0.1),
    )
    await calls.load(providers)
    debate = await run_debate(setup, calls, store=store)
    await calls.close()
    return debate


async def test_a_debate_survives_all_faults_and_counts_each_attempt(
    vendor: Vendor,
) -> None:
    vendor.script = with_faults(every=4)

    debate = await hold(vendor, InMemoryStore(), a_mixed_setup())

    assert debate.status is Status.CONCLUDED
    assert debate.failures == {}
    assert debate.abstentions == {}
    assert {call.provider for call in debate.calls} == {"anthropic", "openai", "ollama"}
    assert debate.usage.cost
    assert debate.verdict
    assert debate.verdict.decision == "Use PostgreSQL."
    assert len(vendor.asked) == debate.usage.attempts > len(debate.calls)


async def test_an_outage_has_a_limit(vendor: Vendor) -> None:
    setup, store = a_mixed_setup(), InMemoryStore()
    limits = setup.limits.model_copy(update={"turn_seconds": 600.0, "outage_seconds": 0.5})
    running = asyncio.create_task(hold(vendor, store, setup.model_copy(update={"limits": limits})))
    await vendor.asked_for(5)
    vendor.go_away()

    debate = await running

    events = [entry.event for entry in await store.events(DEBATE)]
    assert TimeRanOut(of_outage=True) in events
    assert any(isinstance(event, TurnFailed) for event in events)
    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert debate.verdict.source is VerdictSource.WINNER
