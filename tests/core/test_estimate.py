"""Estimates compared with debates that are run."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from core.debate.rules import Ending, ShadowWhen, Termination, When
from core.debate.setup import Setup
from core.debate.state import Status
from core.estimate import estimate, estimate_words
from core.opening import DebateRequest, open_debate
from core.request import ModelReply, ModelRequest
from core.settings import ModelChoice, Settings
from core.testing import ScriptedProvider, a_setup, usual_reply
from core.usage import Usage
from tests.core.bench import Bench

CLAUDE = ("anthropic", "claude-sonnet-5-5")
TERRA = ("openai", "gpt-6.1-terra")
FORMATS = ["critique", "council", "panel", "review"]


def on(setup: Setup, provider: str, model: str, **changes: object) -> Setup:
    """The same debate with all agents and the judge at one model."""
    change = {"provider": provider, "model": model}
    agents = tuple(agent.model_copy(update=change) for agent in setup.agents)
    judge = setup.judge.model_copy(update=change)
    return setup.model_copy(update={"agents": agents, "judge": judge, **changes})


class Usual(ScriptedProvider):
    """Replies of usual length, of which it reports no usage: it is measured."""

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        on_first_token()
        return ModelReply(text=usual_reply(request), usage=Usage(cost=None), model=request.model)


def by_settings(models: tuple[str, str]) -> Setup:
    """A debate with the usual settings, which casts agents, sums up and has one model alone."""
    choice = ModelChoice(provider=models[0], model=models[1])
    settings = Settings(
        agent_model=choice, judge_model=choice, summary_model=choice, shadow=ShadowWhen.ALWAYS
    )
    setup = a_setup()
    request = DebateRequest(question=setup.question, asked_by=setup.asked_by, place=setup.place)
    return open_debate(request, settings, delimiter="d41d8c")


FIXED = Termination(ending=Ending.FIXED)
HELD = [
    *(
        on(a_setup(rounds=rounds), *models, format=form, termination=FIXED)
        for form in FORMATS
        for rounds in (1, 3)
        for models in (CLAUDE, TERRA)
    ),
    *map(by_settings, (CLAUDE, TERRA)),
]


@pytest.mark.parametrize(
    "setup", HELD, ids=lambda it: f"{it.format}-{it.rounds}-{it.when}-{it.judge.provider}"
)
async def test_the_range_holds_what_a_debate_then_costs(setup: Setup) -> None:
    debate = await Bench(Usual(name=setup.judge.provider)).run(setup)
    forecast = estimate(setup)

    assert debate.status is Status.CONCLUDED
    assert debate.usage.cost
    assert forecast.cost_range
    least, most = forecast.cost_range
    assert least <= debate.usage.cost <= most
    if setup.termination is FIXED:
        # No scripted reply has hidden reasoning, which the most allows for.
        assert most < 20 * debate.usage.cost
        fewest, _, most_calls = forecast.calls
        # Of a review with nothing to review, nothing is merged.
        assert fewest - 1 <= len(debate.calls) <= most_calls


@pytest.mark.parametrize("form", ["critique", "council", "panel"])
def test_what_a_debate_costs_that_is_skipped_is_known_before(form: str) -> None:
    forecast = estimate(on(a_setup(rounds=3), *CLAUDE, format=form, when=When.SPLIT))

    agreed = forecast.forecast.cost_if_agreed
    assert agreed is not None
    assert forecast.cost
    assert 0 < agreed < forecast.cost * Decimal("0.7")


@pytest.mark.parametrize(
    ("models", "cost", "words"),
    [
        (("compatible", "llama-4"), None, "cost n/a (a price is unknown)."),
        (("ollama", "llama-4:8b"), 0, "no cost."),
    ],
)
def test_estimates_name_unknown_prices_and_local_models(
    models: tuple[str, str], cost: int | None, words: str
) -> None:
    forecast = estimate(on(a_setup(rounds=1), *models))
    assert (forecast.cost, forecast.cost_range is None) == (cost, cost is None)
    assert forecast.usage.input_tokens > 0
    assert estimate_words(forecast).endswith(words)
    if cost == 0:
        vendor = estimate(on(a_setup(rounds=1), "anthropic", "claude-haiku-5-5"))
        assert forecast.seconds[1] > vendor.seconds[1]
