"""Estimates of whole debates."""

from decimal import Decimal

import pytest

from core.estimate import Estimate, rehearse
from core.models import Setup
from core.testing import ManualClock, a_setup


def on(setup: Setup, provider: str, model: str) -> Setup:
    """The same debate with all agents and the judge at one model."""
    change = {"provider": provider, "model": model}
    agents = tuple(agent.model_copy(update=change) for agent in setup.agents)
    judge = setup.judge.model_copy(update=change)
    return setup.model_copy(update={"agents": agents, "judge": judge})


async def estimate(setup: Setup) -> Estimate:
    return await rehearse(setup, ManualClock())


async def test_every_call_of_a_debate_is_counted() -> None:
    found = await estimate(on(a_setup(rounds=2), "anthropic", "claude-sonnet-5-5"))

    proposals, critiques, refinements, ballots, synthesis = 3, 2 * 6, 2 * 3, 2 * 3, 1
    assert found.calls >= proposals + critiques + refinements + ballots + synthesis
    assert found.calls <= 40
    assert found.usage.attempts == found.calls


async def test_a_debate_costs_something_and_less_than_its_worst_case() -> None:
    found = await estimate(on(a_setup(rounds=2), "anthropic", "claude-sonnet-5-5"))

    assert found.cost is not None
    assert found.at_most is not None
    assert Decimal("0.05") < found.cost < found.at_most
    assert 10 < found.seconds < 600


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
async def test_what_a_debate_costs_that_is_skipped_is_known_before(form: str) -> None:
    setup = on(a_setup(rounds=3), "anthropic", "claude-sonnet-5-5")
    found = await estimate(setup.model_copy(update={"format": form}))

    agreed = found.forecast.cost_if_agreed
    assert agreed is not None
    assert found.cost is not None
    assert 0 < agreed < found.cost * Decimal("0.7")


async def test_more_rounds_cost_and_take_more() -> None:
    short = await estimate(on(a_setup(rounds=1), "openai", "gpt-6.1-terra"))
    long = await estimate(on(a_setup(rounds=3), "openai", "gpt-6.1-terra"))

    assert short.cost is not None
    assert long.cost is not None
    assert long.cost > 1.5 * float(short.cost)
    assert long.seconds > short.seconds
    assert long.calls > short.calls


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
async def test_every_format_comes_to_an_end(form: str) -> None:
    setup = on(a_setup(), "anthropic", "claude-sonnet-5-5").model_copy(update={"format": form})
    found = await estimate(setup)

    assert found.calls > 5
    assert found.cost


async def test_an_unknown_price_makes_the_whole_cost_unknown() -> None:
    found = await estimate(on(a_setup(rounds=1), "compatible", "llama-4"))

    assert found.cost is None
    assert found.at_most is None
    assert found.usage.input_tokens > 0


async def test_ones_own_machine_costs_nothing_and_takes_longer() -> None:
    here = await estimate(on(a_setup(rounds=1), "ollama", "llama-4:8b"))
    there = await estimate(on(a_setup(rounds=1), "anthropic", "claude-haiku-5-5"))

    assert here.cost == 0
    assert here.seconds > there.seconds


async def test_caps_and_clarifications_do_not_stop_an_estimate() -> None:
    setup = on(a_setup(rounds=1), "anthropic", "claude-sonnet-5-5")
    limits = setup.limits.model_copy(update={"debate_cost": Decimal("0.0001")})
    asking = setup.clarifying.model_copy(update={"enabled": True})
    bounded = setup.model_copy(update={"limits": limits, "clarifying": asking})

    assert (await estimate(bounded)).calls == (await estimate(setup)).calls
