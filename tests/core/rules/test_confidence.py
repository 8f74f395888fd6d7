"""The confidence of a verdict, computed from the ballots, with its reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.debate.contributions import Contribution
from core.debate.log import Event
from core.debate.state import Debate
from core.debate.turn_events import BallotAbstained, ContributionMade, CrossChecked, VoteTallied
from core.debate.verdict import (
    CrossCheck,
    Overrule,
    Requirement,
    RequirementStatus,
    Verdict,
    VerdictSource,
)
from core.debate.vote import Abstention, Tally
from core.rules.agreement import agreement
from core.rules.confidence import confidence_of
from core.rules.voting import first_votes
from tests.core.rules.formats.debates import (
    AGENTS,
    a_format_setup,
    debate_with,
    failed,
    options,
    turn,
    voted,
)

VERDICT = Verdict(decision="So.", solution="", confidence=None, option="o1")
THREE, TWO, ONE = ("a/x", "b/y", "c/z"), ("a/x", "b/y", "a/x"), ("a/x", "a/x", "a/x")
#: Models, each voter's first and final probability of the option decided for, the figure and its
#: word, whether the first answers are debated, and words of the reasons.
Row = tuple[Sequence[str], Sequence[float], Sequence[float], int, str, bool, str]
ROWS: list[Row] = [
    (THREE, (1, 1, 1), (1, 1, 1), 92, "high", False, "3 models: 100%, counted as 92%"),
    (THREE, (0.84, 0.8, 0.76), (0.84, 0.8, 0.76), 80, "high", False, "3 models: 80%"),
    (THREE, (0.8, 0.8, 0.79), (0.8, 0.8, 0.78), 79, "fair", False, "gave it 79% to 80%"),
    (THREE, (0.65,) * 3, (0.65,) * 3, 65, "fair", False, "first ballots gave it 65%"),
    # Agreement is not certainty.
    (THREE, (0.64,) * 3, (0.64,) * 3, 64, "low", True, "3 models: 64%"),
    (THREE, (0.49,) * 3, (0.49,) * 3, 49, "very low", True, "3 models: 49%"),
    # The bound for a split begins above 20 points, also if all agree in the end.
    (THREE, (0.9, 0.7, 0.9), (0.9,) * 3, 90, "high", False, "gave it 70% to 90%"),
    (THREE, (0.9, 0.69, 0.9), (0.9,) * 3, 75, "fair", False, "90%, counted as 75%"),
    (THREE, (0.9, 0.1, 0.5), (0.7, 0.6, 0.5), 60, "low", True, "3 models: 60%"),
    # Two agents of one model count as one.
    (TWO, (0.8,) * 3, (0.9, 0.5, 0.7), 65, "fair", False, "2 models, each counted once: 65"),
    (ONE, (0.9,) * 3, (0.9,) * 3, 85, "high", False, "says little: 90%, counted as 85%"),
    (ONE, (0.9, 0.5, 0.9), (0.9,) * 3, 75, "fair", True, "90%, counted as 75%"),
    # A verdict for another option than everybody's first choice.
    (THREE, (0.1, 0.2, 0.1), (0.1, 0.2, 0.1), 13, "very low", False, "3 models: 13%"),
    # First ballots count also for voters without a final one, and the other way round.
    (THREE, (0.9, 0.9, 0.5), (0.9, 0.9), 65, "fair", True, "first ballots gave it 50% to 90%"),
    (THREE, (0.7, 0.75), (0.9,) * 3, 90, "high", False, "ballots of 2 of 3 agents gave it 70% to"),
]
SURE = (0.9, 0.9, 0.9)


def a_debate(
    first: Sequence[float], final: Sequence[float], *more: Event, models: Sequence[str] = THREE
) -> Debate:
    """A debate after the tally, with each agent's first and final probability of option 1."""
    setup = a_format_setup("critique", rounds=1)
    agents = [
        agent.model_copy(update=dict(zip(("provider", "model"), model.split("/"), strict=True)))
        for agent, model in zip(setup.agents, models, strict=True)
    ]
    cast = [
        voted(number, agent, o1=share, o2=1 - share)
        for number, shares in enumerate((first, final))
        for agent, share in zip(AGENTS, shares, strict=False)
    ]
    voters = AGENTS[: len(final)]
    tally = Tally(scores=(), winners=(), controversial=False, voters=voters)
    own_models = setup.model_copy(update={"agents": tuple(agents)})
    return debate_with(own_models, options("A", "B"), *cast, *more, VoteTallied(tally=tally))


@pytest.mark.parametrize("row", ROWS)
def test_it_is_the_bounded_mean_of_the_counted_ballots(row: Row) -> None:
    models, first, final, figure, word, is_debated, words = row
    debate = a_debate(first, final, models=models)
    computed = confidence_of(debate, VERDICT)

    assert computed
    assert (computed.percent, computed.word) == (figure, word)
    assert words in "; ".join(computed.rests_on)
    assert agreement(first_votes(debate), debate.setup.models).is_agreed is not is_debated


UNMET, UNKNOWN = (
    Requirement(text="It must.", status=status)
    for status in (RequirementStatus.NOT_MET, RequirementStatus.UNKNOWN)
)
ANSWERS = [
    ContributionMade(contribution=Contribution(turn=turn(f"r1/proposal/{agent}"), text="So."))
    for agent in AGENTS
]
OTHERWISE = CrossChecked(check=CrossCheck(turn=turn("r1/cross_check/judge"), option="o2"))
ABSTAINED = BallotAbstained(
    abstention=Abstention(turn=turn("r1/ballot/simplicity"), reason="Unsure.", declared=True)
)
LOST = failed("r1/critique/architect/security")


@pytest.mark.parametrize(
    ("events", "change", "figure", "words"),
    [
        # A reason without a deduction.
        ((), {}, 90, "no source was given"),
        ((), {"source": VerdictSource.WINNER}, 75, "no judge wrote it"),
        ((), {"requirements": (UNMET,)}, 40, "1 major requirement not met"),
        ((), {"requirements": (UNKNOWN,) * 2}, 80, "whether it meets 2 major requirements is not"),
        ((OTHERWISE,), {}, 70, "when it read the positions in another order"),
        # The judge's own choice is compared, not what the vote made of it.
        ((OTHERWISE,), {"overrule": Overrule(vote="o1", judge="o2")}, 90, "no source was given"),
        ((OTHERWISE,), {"source": VerdictSource.WINNER}, 75, "no judge wrote it"),
        # A lost ballot counts as a lost ballot only.
        ((*ANSWERS, *failed("r0/ballot/architect")), {}, 90, "no source was given"),
        ((*ANSWERS, *LOST), {}, 82, "1 of 4 turns failed"),
    ],
)
def test_missing_turns_and_unmet_requirements_lower_it_and_are_its_reasons(
    events: Sequence[Event], change: Mapping[str, object], figure: int, words: str
) -> None:
    debate = a_debate(SURE, SURE, *events)
    computed = confidence_of(debate, VERDICT.model_copy(update=change))

    assert computed
    assert computed.percent == figure
    assert words in "; ".join(computed.rests_on)


def test_without_a_vote_the_reason_is_given() -> None:
    computed = confidence_of(replace(a_debate(SURE, SURE), tally=None), VERDICT)
    assert computed
    assert (computed.percent, computed.rests_on) == (None, ("there was no vote",))


def test_unmet_requirements_do_not_lower_the_confidence_of_a_review() -> None:
    debate = a_debate(SURE, SURE)
    reviewed = replace(debate, setup=debate.setup.model_copy(update={"format": "review"}))
    computed = confidence_of(reviewed, VERDICT.model_copy(update={"requirements": (UNMET,)}))
    assert computed
    assert computed.percent == 90


@pytest.mark.parametrize(
    ("final", "events", "option", "figure", "words"),
    [
        (SURE[:2], [ABSTAINED], "o1", 80, "only 2 of 3 ballots could be counted, 1 abstained"),
        (SURE[:1], [], "o1", None, "only 1 of 3 ballots could be counted"),
        (SURE, [], "", None, "the verdict takes none of the options that were voted on"),
    ],
)
def test_missing_ballots_lower_it_and_below_two_or_without_an_option_there_is_none(
    final: Sequence[float], events: Sequence[Event], option: str, *, figure: int | None, words: str
) -> None:
    verdict = VERDICT.model_copy(update={"option": option})
    computed = confidence_of(a_debate(SURE, final, *events), verdict)
    assert computed
    assert computed.percent == figure
    assert words in computed.rests_on
    assert figure or computed.rests_on == (words,)
