"""How decisions turned out: counted as people said, with intervals that hold what is true."""

import random
from datetime import UTC, datetime

import pytest

from core.calibration import (
    FOR_ROLE,
    Calibration,
    Case,
    calibration,
    case_of,
    states,
)
from core.debate.agents import Agent
from core.debate.debate_events import DebateConcluded, DebateStarted, OutcomeAsked
from core.debate.follow_up import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.debate.log import Event, fold
from core.debate.people import Person
from core.debate.people_events import DecisionRecorded, OutcomeGiven
from core.debate.state import Debate
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import BallotCast, OptionsMerged, VerdictReached
from core.debate.verdict import Verdict
from core.debate.vote import Ballot, Option, Options, QuestionKind
from core.statistics import ALPHA, exact_p, wilson
from core.testing import a_setup, log_of

RUNS = 1000
DANA = Person(id="U1")
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
HELD, PARTLY, REVERSED = OutcomeKind.HELD, OutcomeKind.PARTLY, OutcomeKind.REVERSED


def a_case(outcome: OutcomeKind | None, confidence: int | None = 70, **more: object) -> Case:
    values: dict[str, object] = {
        "debate_id": "d1",
        "accepted_at": NOON,
        "asked": True,
        "replaced": False,
        "outcome": outcome,
        "said_at": NOON if outcome else None,
        "confidence": confidence,
        "was_skipped": False,
        "alone_agrees": None,
        "voices": (),
    }
    return Case(**{**values, **more})  # pyright: ignore[reportArgumentType]


def drawn(dice: random.Random, count: int, share: float, **more: object) -> list[Case]:
    return [a_case(HELD if dice.random() < share else REVERSED, **more) for _ in range(count)]  # pyright: ignore[reportArgumentType]


def of(result: Calibration, group: str) -> dict[str, tuple[int, int, int]]:
    return {
        row.name: (row.held, row.partly, row.reversed) for row in result.rows if row.group == group
    }


# --- intervals and tests --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (5, 10, 0.237, 0.763), (1, 1, 0.207, 1.0)],
)
def test_intervals_are_those_of_the_tables(hits: int, count: int, low: float, high: float) -> None:
    interval = wilson(hits, count)
    assert (interval.low, interval.high) == (
        pytest.approx(low, abs=5e-4),
        pytest.approx(high, abs=5e-4),
    )


def test_fishers_own_example_of_the_tea_and_level_shares() -> None:
    assert exact_p((3, 4), (1, 4)) == pytest.approx(0.4857, abs=1e-4)
    assert exact_p((4, 4), (0, 4)) == pytest.approx(0.0286, abs=1e-4)
    assert exact_p((2, 4), (2, 4)) == pytest.approx(1.0)


def test_a_difference_that_is_not_there_is_seldom_called_evident_and_a_great_one_is_found() -> None:
    dice = random.Random(6)

    def evident(high: float, low: float) -> int:
        count = 0
        for _ in range(RUNS // 4):
            cases = [*drawn(dice, 40, high, confidence=85), *drawn(dice, 40, low, confidence=45)]
            count += any(": an evident" in finding for finding in calibration(cases).findings)
        return count

    assert evident(0.6, 0.6) <= RUNS // 4 * ALPHA
    assert evident(0.9, 0.5) >= RUNS // 4 * 0.9


# --- what is counted ------------------------------------------------------------------------------


def test_no_outcome_and_few_outcomes_are_called_no_evidence() -> None:
    none, few = calibration([a_case(None)]), calibration([a_case(HELD)] * 3)
    assert none.findings == ("No evidence yet: nobody has said how a decision turned out.",)
    assert none.rows == ()
    (finding,) = few.findings
    assert finding == (
        "No evidence yet: 3 outcomes are too few. 3 held; in the long run it may be anything from "
        "44% to 100% of them."
    )


def test_every_accepted_decision_is_in_one_state_and_all_are_told() -> None:
    cases = [
        *[a_case(HELD)] * 3,
        a_case(OutcomeKind.TOO_EARLY),
        a_case(None),
        a_case(None, asked=False),
        a_case(None, replaced=True),
    ]
    assert states(calibration(cases)) == (
        "7 accepted decisions: 3 with an outcome, 1 too early to say, 1 asked, without an answer, "
        "1 that nobody was asked about, 1 rejected or replaced since, without an outcome."
    )


def a_debate(*after: Event, rests_on: tuple[str, ...] = ("2 of 3 put it first",)) -> Debate:
    """Three agents, one of them for Kafka to the end; PostgreSQL was decided."""
    agents = tuple(
        Agent(id=name, role=name, provider="p", model=model)
        for name, model in (("architect", "m1"), ("security", "m2"), ("simplicity", "m1"))
    )
    setup = a_setup().model_copy(update={"agents": agents})
    options = Options(
        turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
        question_kind=QuestionKind.CHOICE,
        items=(Option(id="o1", name="PostgreSQL"), Option(id="o2", name="Kafka")),
        stances={},
    )
    shares = {"architect": 0.9, "security": 0.2, "simplicity": 0.7}
    ballots = [
        BallotCast(
            ballot=Ballot(
                turn=Turn(act=Act.BALLOT, round=2, agent=name),
                ranking=tuple(shares),
                probabilities={"o1": share, "o2": 1 - share},
            )
        )
        for name, share in shares.items()
    ]
    verdict = Verdict(
        decision="Use it.", option="o1", solution="So.", confidence=80, rests_on=rests_on
    )
    reached = VerdictReached(verdict=verdict)
    events = [DebateStarted(setup=setup), OptionsMerged(options=options), *ballots, reached]
    return fold(log_of([*events, DebateConcluded(), *after]))


def decided(kind: DecisionKind, origin: str) -> DecisionRecorded:
    return DecisionRecorded(decision=Decision(kind=kind, by=DANA, origin=origin))


ACCEPTED = decided(DecisionKind.ACCEPT, "V1")


def an_outcome(kind: OutcomeKind, origin: str) -> OutcomeGiven:
    return OutcomeGiven(outcome=DecisionOutcome(kind=kind, by=DANA, decision="V1", origin=origin))


def test_only_what_was_accepted_counts_and_what_was_said_last() -> None:
    def outcome(*after: Event) -> OutcomeKind | str | None:
        case = case_of(a_debate(*after))
        return case.outcome if case else "no case"

    assert outcome() == "no case"
    assert outcome(decided(DecisionKind.REJECT, "V1")) == "no case"
    assert outcome(ACCEPTED) is None
    assert outcome(ACCEPTED, an_outcome(HELD, "A1"), an_outcome(REVERSED, "A2")) is REVERSED


def test_a_case_is_read_from_the_debate() -> None:
    log = (ACCEPTED, OutcomeAsked(decision="V1"), decided(DecisionKind.SUPERSEDE, "V2"))
    case = case_of(a_debate(*log))
    assert case is not None
    assert (case.asked, case.replaced, case.confidence, case.was_skipped) == (True, True, 80, False)
    assert [(voice.role, voice.model, voice.is_for) for voice in case.voices] == [
        ("architect", "p/m1", True),
        ("security", "p/m2", False),
        ("simplicity", "p/m1", True),
    ]
    result = calibration([case_of(a_debate(ACCEPTED, an_outcome(HELD, "A1")))] * 1)  # pyright: ignore[reportArgumentType]
    assert set(of(result, FOR_ROLE)) == {"architect", "simplicity"}
