"""Estimates of whole debates."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from core.clock import SystemClock
from core.engine import Engine
from core.estimate import Estimate, rehearse
from core.events import DebateStarted
from core.llm.call import ModelCalls
from core.models import (
    Act,
    Clarifying,
    ContextMethod,
    Ending,
    Limits,
    Setup,
    Status,
    Summarization,
    Termination,
    Usage,
    When,
)
from core.request import ModelReply, ModelRequest
from core.store.memory import InMemoryStore
from core.testing import ManualClock, RecordingSink, ScriptedProvider, a_setup
from core.turns.take import Turns
from core.usual_replies import longest_reply


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
    assert found.calls <= 41
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
    found = await estimate(setup.model_copy(update={"format": form, "when": When.SPLIT}))

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


async def test_a_cap_does_not_stop_an_estimate_and_bounds_its_worst_case() -> None:
    setup = on(a_setup(rounds=1), "anthropic", "claude-sonnet-5-5")
    limits = setup.limits.model_copy(update={"debate_cost": Decimal("0.01")})
    bounded = await estimate(setup.model_copy(update={"limits": limits}))

    assert bounded.calls == (await estimate(setup)).calls
    assert bounded.at_most == Decimal("0.01")


async def test_questions_to_people_are_part_of_an_estimate() -> None:
    setup = on(a_setup(rounds=1), "anthropic", "claude-sonnet-5-5")
    silent = await estimate(setup)
    asking = Clarifying(enabled=True, rounds=2)
    asked = await estimate(setup.model_copy(update={"clarifying": asking}))

    assert asked.calls == silent.calls + 2 * len(setup.agents)
    assert silent.at_most
    assert asked.at_most
    assert asked.at_most > silent.at_most


async def test_a_panel_is_rehearsed_for_all_its_rounds() -> None:
    setup = on(a_setup(rounds=7), "anthropic", "claude-sonnet-5-5")
    found = await estimate(setup.model_copy(update={"format": "panel"}))

    assert max(one.turn.round for one in found.played if one.turn.act is Act.STATEMENT) == 7


class Verbose(ScriptedProvider):
    """Every reply uses its room; the first one to each structured question cannot be read.

    It reports no usage, so that the debate's is estimated as everywhere.
    """

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        on_first_token()
        text = longest_reply(request)
        if request.answer and not self._repairs(request):
            text = "nothing to read " * (len(text) // 16)
        return ModelReply(text=text, usage=Usage(cost=None), model=request.model)

    def _repairs(self, request: ModelRequest) -> bool:
        """Whether the request shows an unreadable reply."""
        return any("nothing to read" in part.text for part in request.parts)


@pytest.mark.parametrize("ending", list(Ending))
@pytest.mark.parametrize("form", ["critique", "council", "panel"])
async def test_no_debate_costs_more_than_the_worst_case(form: str, ending: Ending) -> None:
    rules = {
        "format": form,
        "termination": Termination(ending=ending),
        "summarization": Summarization(method=ContextMethod.ROUNDS),
        "limits": Limits(debate_cost=None),
    }
    setup = on(a_setup(rounds=4), "anthropic", "claude-sonnet-5-5").model_copy(update=rules)
    clock, store = SystemClock(), InMemoryStore()
    calls = ModelCalls({"anthropic": Verbose(name="anthropic")}, clock)
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
    await store.create("dabc2345", DebateStarted(setup=setup), origin="test", at=clock.now())
    debate = await engine.run("dabc2345")
    at_most = (await estimate(setup)).at_most

    assert debate.status is Status.CONCLUDED
    assert debate.usage.attempts > len(debate.calls), "repairs are among them"
    assert debate.usage.cost
    assert at_most
    assert debate.usage.cost <= at_most
    assert at_most < 12 * debate.usage.cost, "a bound, and not any bound"
