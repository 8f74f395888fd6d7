"""The gates after the blind ballots and after each round."""

from decimal import Decimal

import pytest

from core.debate.log import Event
from core.debate.people import Person
from core.debate.people_events import DebateWanted
from core.debate.rules import Ending, Termination, When
from core.debate.setup import Forecast, Setup
from core.debate.state import Debate
from core.debate.turn import BACKGROUND_ACTS
from core.debate.turn_events import GatePassed
from core.debate.vote import GateReason, QuestionKind
from core.rules import gate, schedule
from core.rules.ending import reopening_fault, round_reasons
from core.testing import on_own_models
from tests.core.rules.formats.debates import (
    AGENTS,
    a_format_setup,
    debate_with,
    failed,
    of_all,
    options,
    speeches,
    voted,
)

DRAFTS = speeches(*of_all("r1/proposal/*"))
CHOICE = options("Kafka", "PostgreSQL")
SETTLING = Termination(ending=Ending.CONVERGED)
ONE_MODEL = a_format_setup("critique", when=When.SPLIT, termination=SETTLING)
MODELS = on_own_models(ONE_MODEL)


def all_voted(*shares: float) -> list[Event]:
    """Blind ballots with each agent's probability of option 1."""
    pairs = zip(AGENTS, shares, strict=False)
    return [voted(0, agent, o1=share, o2=1 - share) for agent, share in pairs]


def ready(debate: Debate) -> set[str]:
    """Acts of the turns that can be taken, without those in the background."""
    return {turn.act.value for turn in schedule.ready(debate) if turn.act not in BACKGROUND_ACTS}


def passed(setup: Setup, *events: Event) -> tuple[Debate, gate.Gate]:
    """The debate after its first gate, and that gate."""
    weighed = gate.weigh(debate_with(setup, *events), 0)
    assert weighed
    return debate_with(setup, *events, GatePassed(gate=weighed)), weighed


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        (
            (0.9, 0.8, 0.7),
            'All agreed at once on "Kafka" (each at 70% to 90%, on average 60',
        ),
        ((0.7, 0.7, 0.54), 'All put "Kafka" first, at 54% to 70%, on average only 29 points ahead'),
        ((0.6, 0.55, 0.45), 'First answers differ, by up to 15 points about "Kafka".'),
        ((0.5, 0.5, 0.5), "First answers differ"),
    ],
)
def test_where_all_agree_the_vote_stands_and_a_split_is_debated(
    shares: tuple[float, ...], words: str
) -> None:
    debate, found = passed(MODELS, *DRAFTS, CHOICE, *all_voted(*shares))
    is_agreed = found.reason is GateReason.AGREED

    assert found.reason in {GateReason.AGREED, GateReason.SPLIT}
    assert gate.gate_words(debate, found).startswith(words)
    assert ready(debate) == ({"tally"} if is_agreed else {"critique"})
    if is_agreed:
        assert schedule.rounds_held(debate) == 0
        assert [turn.key for turn in schedule.ballot_turns(debate)] == of_all("r0/ballot/*")


def test_an_agent_that_failed_is_not_one_of_all() -> None:
    lost = failed("r1/proposal/simplicity")
    debate, found = passed(MODELS, *DRAFTS[:2], *lost, CHOICE, *all_voted(0.9, 0.8))
    assert gate.gate_words(debate, found).startswith(
        'The 2 agents that voted agreed at once on "Kafka"'
    )


DIFFERENT, SIMILAR = (0.9, 0.2, 0.7), (0.9, 0.8, 0.7)


@pytest.mark.parametrize(
    ("setup", "flag", "shares", "act", "words"),
    [
        (MODELS, "hard_to_undo", SIMILAR, "critique", "hard to undo, so it is debated all the"),
        (ONE_MODEL, "hard_to_undo", DIFFERENT, "critique", "First answers differ"),
        (MODELS, "checks_rules", DIFFERENT, "tally", "whether rules are kept, and first answers"),
    ],
)
def test_what_is_hard_to_undo_is_debated_and_a_check_of_rules_is_not(
    setup: Setup, flag: str, shares: tuple[float, ...], *, act: str, words: str
) -> None:
    flagged = setup.model_copy(update={flag: True})
    debate, found = passed(flagged, *DRAFTS, CHOICE, *all_voted(*shares))

    assert ready(debate) == {act}
    assert words in gate.gate_words(debate, found)


@pytest.mark.parametrize(
    ("shares", "reason", "words"),
    [
        ((0.9, 0.2, 0.7), GateReason.SPLIT, "first answers differ"),
        ((0.6, 0.6, 0.6), GateReason.SPLIT, 'all put "Kafka" first'),
        ((0.9, 0.8, 0.7), GateReason.AGREED, 'All agreed at once on "Kafka"'),
    ],
)
def test_one_model_votes_on_a_choice_and_debates_it_only_if_somebody_wants(
    shares: tuple[float, ...], reason: GateReason, words: str
) -> None:
    events = (*DRAFTS, CHOICE, *all_voted(*shares))
    assert ready(debate_with(ONE_MODEL, *events[:-1])) == {"ballot"}, "all are waited for"
    debate, found = passed(ONE_MODEL, *events)

    assert found.reason is reason
    assert words in gate.gate_words(debate, found)
    assert ready(debate) == {"tally"}
    assert not reopening_fault(debate)
    wanted = (*events, GatePassed(gate=found), DebateWanted(by=Person(id="U1")))
    assert ready(debate_with(ONE_MODEL, *wanted)) == {"critique"}


def test_unknown_changes_of_mind_are_reported_once_for_all_rounds() -> None:
    unknown = [
        GatePassed(gate=gate.Gate(turn=gate.gate_turn(n), reason=GateReason.NOT_COMPARABLE))
        for n in (1, 2)
    ]
    (words,) = round_reasons(debate_with(MODELS, *DRAFTS, CHOICE, *unknown))
    assert words.endswith("it is not known whom a round moved.")


@pytest.mark.parametrize(
    ("kind", "ballots", "reason"),
    [
        (QuestionKind.DESIGN, all_voted(1, 1, 1), GateReason.OPEN_QUESTION),
        (QuestionKind.ESTIMATE, all_voted(1, 1, 1), GateReason.OPEN_QUESTION),
        (
            QuestionKind.CHOICE,
            [*all_voted(0.9, 0.8), *failed("r0/ballot/simplicity")],
            GateReason.NOT_COMPARABLE,
        ),
    ],
    ids=["a design", "an estimate", "a missing ballot"],
)
def test_an_open_question_and_missing_ballots_are_debated_though_voters_agree(
    kind: QuestionKind, ballots: list[Event], reason: GateReason
) -> None:
    debate, found = passed(MODELS, *DRAFTS, options("a queue", "a table", kind=kind), *ballots)

    assert found.reason is reason
    assert ready(debate) == {"critique"}


def test_skipped_rounds_are_reported_with_the_saved_cost() -> None:
    cost = {"cost": Decimal("0.90"), "cost_if_agreed": Decimal("0.24")}
    sizes = {"seconds": 60.0, "calls": 20, "input_tokens": 1, "output_tokens": 1}
    setup = ONE_MODEL.model_copy(update={"forecast": Forecast.model_validate(cost | sizes)})
    debate, found = passed(setup, *DRAFTS, CHOICE, *all_voted(0.9, 0.85, 0.8))

    assert gate.gate_words(debate, found).endswith("; the debate was skipped, about $0.66 saved.")


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("reason", list(GateReason))
def test_every_reason_is_a_sentence(reason: GateReason, number: int) -> None:
    debate = debate_with(MODELS, *DRAFTS, CHOICE, *all_voted(0.9, 0.2, 0.6))
    result = gate.Gate(turn=gate.gate_turn(number), reason=reason, option="o1", spread=0.6)
    words = gate.gate_words(debate, result)

    assert words[0].isupper()
    assert words.endswith(".")
