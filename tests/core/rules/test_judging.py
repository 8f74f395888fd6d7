"""Whose model judges."""

from dataclasses import replace

import pytest

from core.debate.agents import ModelChoice
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.state import Debate
from core.debate.turn_events import VoteTallied
from core.debate.vote import Score, Tally
from core.rules.judging import judge_of
from core.testing import a_setup, log_of

OPUS = ModelChoice(provider="anthropic", model="opus")
SOL = ModelChoice(provider="openai", model="sol")
BY_RESELLER = ModelChoice(provider="openrouter", model="openai/sol")


def a_debate(winners: tuple[str, ...] | None, judges: tuple[ModelChoice, ...]) -> Debate:
    """Architect and simplicity think with OPUS, security with SOL."""
    setup = a_setup()
    models = (OPUS, SOL, OPUS)
    agents = tuple(
        agent.model_copy(update=dict(model))
        for agent, model in zip(setup.agents, models, strict=True)
    )
    judge = setup.judge.model_copy(update=dict(OPUS))
    changes = {"agents": agents, "judge": judge, "judge_models": judges}
    events = [DebateStarted(setup=setup.model_copy(update=changes))]
    if winners is None:
        return fold(log_of(events))
    scores = tuple(
        Score(position=winner, points=2, first_places=1, mean_confidence=None) for winner in winners
    )
    tally = Tally(scores=scores, winners=winners, controversial=False, voters=("security",))
    return fold(log_of([*events, VoteTallied(tally=tally)]))


@pytest.mark.parametrize(
    ("winners", "judges", "model"),
    [
        (("architect",), (OPUS, SOL), SOL),
        (("security",), (OPUS, SOL), OPUS),
        (("architect", "security"), (OPUS, SOL), OPUS),  # both makers have won
        (("security",), (BY_RESELLER, OPUS), OPUS),  # the same maker at a reseller
        ((), (SOL, OPUS), OPUS),
        (None, (SOL, OPUS), OPUS),
        (("architect",), (), OPUS),  # people named the judge's model
    ],
)
def test_the_judge_is_of_a_maker_whose_agent_did_not_win(
    winners: tuple[str, ...] | None, judges: tuple[ModelChoice, ...], model: ModelChoice
) -> None:
    judge = judge_of(a_debate(winners, judges))

    assert (judge.provider, judge.model) == (model.provider, model.model)
    assert judge.name == "Judge"


def test_a_judge_does_not_stand_in_for_itself() -> None:
    debate = a_debate(("architect",), (OPUS, SOL))
    judge = debate.setup.judge.model_copy(update={"fallbacks": (SOL, OPUS)})
    setup = debate.setup.model_copy(update={"judge": judge})

    assert judge_of(replace(debate, setup=setup)).fallbacks == (OPUS,)
