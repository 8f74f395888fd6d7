"""Whether another round is worth holding: after the blind ballots, and after each round."""

from decimal import Decimal

import pytest

from core.debate.gate import GateReason
from core.debate.log import Event
from core.debate.people import Person
from core.debate.people_events import DebateWanted
from core.debate.rules import Ending, Termination, When
from core.debate.setup import Forecast
from core.debate.state import Debate
from core.debate.turn import BESIDE
from core.debate.turn_events import GatePassed
from core.debate.vote import QuestionKind
from core.rules import gate, schedule
from core.rules.wanting import why_not_wanted
from core.testing import on_own_models
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    debate_with,
    of_all,
    options,
    speeches,
    voted,
)

DRAFTS = speeches(*of_all("r1/proposal/*"))
CHOICE = options("Kafka", "PostgreSQL")
SETTLING = Termination(ending=Ending.CONVERGED)


def a_debate(*events: Event, when: When = When.SPLIT, form: str = "critique") -> Debate:
    setup = a_format_setup(form, when=when, termination=SETTLING)
    return debate_with(on_own_models(setup), *events)


def all_voted(*shares: float) -> list[Event]:
    """Blind ballots: how likely each agent holds the first option."""
    pairs = zip(AGENTS, shares, strict=False)
    return [voted(0, agent, o1=share, o2=1 - share) for agent, share in pairs]


def ready(debate: Debate) -> set[str]:
    """Acts of the turns that can be taken, but for what runs beside the debate."""
    return {turn.act.value for turn in schedule.ready(debate) if turn.act not in BESIDE}


def passed(debate: Debate, number: int = 0) -> Event:
    weighed = gate.weigh(debate, number)
    assert weighed
    return GatePassed(gate=weighed)


def test_where_all_agree_the_vote_stands_and_the_judge_writes_at_once() -> None:
    events = (*DRAFTS, CHOICE, *all_voted(0.9, 0.8, 0.7))
    event = passed(a_debate(*events))
    debate = a_debate(*events, event)

    assert isinstance(event, GatePassed)
    assert (event.gate.reason, event.gate.option) == (GateReason.AGREED, "o1")
    assert event.gate.spread == pytest.approx(0.2)
    assert ready(debate) == {"tally"}
    assert schedule.rounds_held(debate) == 0
    assert [ballot_turn.key for ballot_turn in schedule.ballot_turns(debate)] == of_all(
        "r0/ballot/*"
    )


@pytest.mark.parametrize(
    ("shares", "reason"),
    [
        ((0.7, 0.7, 0.54), GateReason.SPLIT),
        ((0.6, 0.55, 0.45), GateReason.SPLIT),
        ((0.5, 0.5, 0.5), GateReason.SPLIT),
    ],
)
def test_a_split_is_debated(shares: tuple[float, ...], reason: GateReason) -> None:
    events = (*DRAFTS, CHOICE, *all_voted(*shares))
    event = passed(a_debate(*events))

    assert isinstance(event, GatePassed)
    assert event.gate.reason is reason
    assert ready(a_debate(*events, event)) == {"critique"}


ONE_MODEL = a_format_setup("critique", when=When.SPLIT, termination=SETTLING)


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
    event = passed(debate_with(ONE_MODEL, *events))
    debate = debate_with(ONE_MODEL, *events, event)

    assert isinstance(event, GatePassed)
    assert event.gate.reason is reason
    assert words in gate.in_words(debate, event.gate)
    assert ready(debate) == {"tally"}
    assert not why_not_wanted(debate)
    assert ready(debate_with(ONE_MODEL, *events, event, DebateWanted(by=Person(id="U1")))) == {
        "critique"
    }


def test_a_check_of_rules_stands_by_its_vote_though_the_answers_differ() -> None:
    setup = on_own_models(a_format_setup("critique", when=When.SPLIT))
    checked = setup.model_copy(update={"checks_rules": True})
    result = gate.weigh(debate_with(checked, *DRAFTS, CHOICE, *all_voted(0.9, 0.2, 0.7)), 0)
    assert result
    assert result.ends_rounds
    assert "whether rules are kept, and first answers differ" in gate.in_words(
        debate_with(checked, *DRAFTS, CHOICE), result
    )


@pytest.mark.parametrize("kind", [QuestionKind.DESIGN, QuestionKind.ESTIMATE])
def test_an_open_question_is_debated_whatever_the_ballots_say(kind: QuestionKind) -> None:
    merged = options("a queue", "a table", kind=kind)
    events = (*DRAFTS, merged)
    event = passed(a_debate(*events))

    assert isinstance(event, GatePassed)
    assert event.gate.reason is GateReason.OPEN_QUESTION
    assert ready(a_debate(*events, event, *all_voted(1, 1, 1))) == {"critique"}


#: What each agent held best at first.
SPLIT = (*DRAFTS, CHOICE, *all_voted(0.9, 0.2, 0.6))


def test_what_is_not_held_is_said_with_what_it_would_have_cost() -> None:
    cost = {"cost": Decimal("0.90"), "cost_if_agreed": Decimal("0.24")}
    sizes = {"seconds": 60.0, "calls": 20, "input_tokens": 1, "output_tokens": 1}
    forecast = Forecast.model_validate(cost | sizes)
    setup = a_format_setup("critique", when=When.SPLIT, forecast=forecast)
    agreed = debate_with(setup, *DRAFTS, CHOICE, *all_voted(0.9, 0.85, 0.8))
    result = gate.weigh(agreed, 0)

    assert result
    assert gate.in_words(agreed, result) == (
        'All agreed at once on "Kafka" (each at 80% to 90%, on average 70 points ahead); the '
        "debate was skipped, about $0.66 saved."
    )


@pytest.mark.parametrize("reason", list(GateReason))
def test_every_reason_is_a_sentence(reason: GateReason) -> None:
    debate = a_debate(*SPLIT)
    for number in (0, 1):
        result = gate.Gate(turn=gate.gate_turn(number), reason=reason, option="o1", spread=0.6)
        words = gate.in_words(debate, result)

        assert words[0].isupper()
        assert words.endswith(".")


def test_where_all_say_yes_but_not_all_are_sure_nobody_says_that_they_agree() -> None:
    events = (*DRAFTS, CHOICE, *all_voted(0.55, 0.6, 0.65))
    event = passed(a_debate(*events))

    assert isinstance(event, GatePassed)
    assert event.gate.reason is GateReason.SPLIT
    assert gate.in_words(a_debate(*events), event.gate) == (
        'All put "Kafka" first, at 55% to 65%, on average only 20 points ahead: the first answers '
        "are debated."
    )
