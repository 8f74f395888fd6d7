"""Money and keys in whole debates over real SDKs: caps, fallbacks, refused keys."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from decimal import Decimal

import pytest

from core.acts.take import RESERVED_FOR_ENDING, Turns
from core.clock import SystemClock
from core.debate.agents import ModelChoice
from core.debate.contributions import FailureCause
from core.debate.people import Person
from core.debate.rules import USUAL_DEBATE_COST
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.debate.verdict import VerdictSource
from core.llm.budget import caps_of
from core.llm.call import ModelCalls
from core.llm.providers.anthropic import AnthropicProvider
from core.llm.providers.openai import OpenAIProvider
from core.ports import ModelProvider
from core.retry import RetryPolicy
from core.settings import Caps
from core.testing import InMemoryStore, a_setup
from tests.core.llm.running import run_debate
from tests.vendor_replies import good_reply
from tests.vendors.script import Counts, Reject, Say, VendorRequest
from tests.vendors.server import Script, Vendor

CLAUDE = {"provider": "anthropic", "model": "claude-sonnet-5-5"}
GPT = ModelChoice(provider="openai", model="gpt-6.1-terra")
#: At $2 and $10 per million tokens this costs $0.042.
COSTLY = Counts(input=1000, output=4000)
COST = Decimal("0.042")


def on_claude(**changes: object) -> Setup:
    setup = a_setup(rounds=2)
    agents = tuple(agent.model_copy(update=CLAUDE | changes) for agent in setup.agents)
    judge = setup.judge.model_copy(update=CLAUDE | changes)
    return setup.model_copy(update={"agents": agents, "judge": judge, "blind_ballot": False})


def capped(cost: str) -> Setup:
    setup = on_claude()
    limits = setup.limits.model_copy(update={"debate_cost": Decimal(cost)})
    return setup.model_copy(update={"limits": limits})


def costly(request: VendorRequest) -> Say:
    # As long as its cap it would count as cut off.
    output = min(COSTLY.output, int(request.body["max_tokens"]) - 1)
    return replace(good_reply(request), counts=replace(COSTLY, output=output))


def refusing_claude(after: int) -> Script:
    """Anthropic refuses the key after so many good replies; OpenAI answers."""
    remaining = after

    def script(request: VendorRequest) -> Say | Reject:
        nonlocal remaining
        if request.path != "/v1/messages":
            return good_reply(request)
        remaining -= 1
        return (
            good_reply(request)
            if remaining >= 0
            else Reject(status=401, code="authentication_error")
        )

    return script


@pytest.fixture
async def vendor() -> AsyncIterator[Vendor]:
    async with Vendor(good_reply) as running:
        yield running


class Process:
    """Debates that share a store, model calls and caps."""

    def __init__(self, vendor: Vendor, caps: Caps | None = None) -> None:
        self.providers: Mapping[str, ModelProvider] = {
            "anthropic": AnthropicProvider("sk-test", vendor.url),
            "openai": OpenAIProvider("sk-test", f"{vendor.url}/v1"),
        }
        self.store = InMemoryStore()
        self.clock = SystemClock()
        retries = RetryPolicy(tries=5, first_wait=0.01, longest_wait=0.02)
        self.calls = ModelCalls(self.providers, self.clock, retries=retries)
        self.caps = caps or Caps()

    async def secret(self) -> bytes:
        return b"installation"

    async def run(self, setup: Setup, debate_id: str = "dmoney22") -> Debate:
        turns = Turns(
            self.calls,
            lambda debate: caps_of(debate, self.caps, self.clock.now()),
            secret=self.secret,
            reservations=self.store,
        )
        return await run_debate(setup, turns, store=self.store, debate_id=debate_id)


@pytest.fixture
async def process(vendor: Vendor) -> AsyncIterator[Process]:
    process = Process(vendor)
    yield process
    await process.calls.close()


def warnings_of(debate: Debate) -> str:
    return "\n".join(debate.verdict.warnings) if debate.verdict else ""


async def test_a_debate_stops_before_its_cap_with_a_partial_verdict(
    process: Process, vendor: Vendor
) -> None:
    vendor.script = costly
    debate = await process.run(capped("0.60"))

    assert debate.usage.cost
    assert Decimal("0.30") < debate.usage.cost <= Decimal("0.60")
    assert len(vendor.asked) == debate.usage.attempts
    assert {f.cause for f in debate.failures.values()} == {FailureCause.CAP}
    assert debate.verdict
    assert debate.verdict.partial
    assert debate.verdict.source is VerdictSource.JUDGE
    assert "The cost cap for this debate is $0.60" in warnings_of(debate)
    # The end has a share of the cap of its own.
    calls = [speech.call for speech in debate.contributions.values() if speech.call]
    spent = sum((call.usage.cost or Decimal(0) for call in calls), start=Decimal(0))
    assert spent <= Decimal("0.60") * (1 - RESERVED_FOR_ENDING)
    assert debate.ballots


def unpriced(setup: Setup) -> Setup:
    agents = tuple(agent.model_copy(update={"model": "claude-x"}) for agent in setup.agents)
    return setup.model_copy(update={"agents": agents})


@pytest.mark.parametrize(
    ("setup", "reason"),
    [
        (capped("0.01"), "The cost cap for this debate is $0.01"),
        (unpriced(capped("4")), "the model's price is unknown"),
    ],
    ids=["too small", "unknown price"],
)
async def test_a_chosen_cap_that_allows_no_call_ends_the_debate_with_a_reason(
    process: Process, vendor: Vendor, setup: Setup, reason: str
) -> None:
    debate = await process.run(setup)

    assert debate.status is Status.FAILED
    assert reason in debate.failure
    assert vendor.asked == []


@pytest.mark.parametrize(
    ("setting", "whose", "other", "binds"),
    [
        ("person_day_cost", "Dana", {"asked_by": Person(id="U2")}, False),
        ("token_day_cost", "this token", {"token": ""}, False),
        ("day_cost", "all debates", {"asked_by": Person(id="U2")}, True),
    ],
)
async def test_debates_of_a_day_share_a_cap(
    vendor: Vendor, setting: str, whose: str, other: Mapping[str, object], *, binds: bool
) -> None:
    vendor.script = costly
    process = Process(vendor, Caps(**{setting: Decimal(1)}))
    setup = on_claude().model_copy(update={"token": "aa" if "token" in setting else ""})
    first = await process.run(setup, "dmoney23")
    elsewhere = setup.model_copy(update=other)
    second = await process.run(elsewhere if binds else setup, "dmoney24")

    assert (first.usage.cost or 0) + (second.usage.cost or 0) <= Decimal(1)
    assert f"The cost cap for {whose} today is $1.00" in second.failure + warnings_of(second)
    assert f"limits.{setting}" in second.failure + warnings_of(second)
    if not binds:
        third = await process.run(elsewhere, "dmoney25")
        assert third.usage.cost
        assert third.usage.cost > 4 * COST
    await process.calls.close()


async def test_the_default_cap_allows_models_of_unknown_price(process: Process) -> None:
    debate = await process.run(unpriced(capped(str(USUAL_DEBATE_COST))))

    assert debate.status is Status.CONCLUDED
    assert not debate.failures
    assert debate.usage.cost is None


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
async def test_in_every_format_an_agent_whose_key_is_refused_is_left_out(
    process: Process, vendor: Vendor, form: str
) -> None:
    vendor.script = refusing_claude(after=1)
    gpt = {"provider": GPT.provider, "model": GPT.model}
    setup = on_claude(fallbacks=()).model_copy(update={"format": form})
    agents = tuple(
        agent if agent.id == "security" else agent.model_copy(update=gpt) for agent in setup.agents
    )
    changes = {"agents": agents, "judge": setup.judge.model_copy(update=gpt)}
    debate = await process.run(setup.model_copy(update=changes))

    assert debate.status is Status.CONCLUDED
    assert debate.verdict
    assert not debate.verdict.partial
    assert {ballot.voter for ballot in debate.ballots.values()} == {"architect", "simplicity"}
    assert {failure.turn.agent for failure in debate.failures.values()} == {"security"}
    assert "Check the key" in warnings_of(debate)


async def test_openai_gets_a_pseudonym_of_each_person(process: Process, vendor: Vendor) -> None:
    setup = on_claude(provider=GPT.provider, model=GPT.model)
    await process.run(setup, "dmoney23")
    other = setup.model_copy(update={"asked_by": Person(id="U2")})
    await process.run(other, "dmoney24")

    ids = {request.body["safety_identifier"] for request in vendor.asked}
    assert len(ids) == 2
    assert all(len(name) == 32 and "U1" not in name and "U2" not in name for name in ids)

    vendor.asked.clear()
    await process.run(on_claude(), "dmoney25")
    assert vendor.asked
    assert not any("metadata" in asked.body for asked in vendor.asked), "nobody else is told"
