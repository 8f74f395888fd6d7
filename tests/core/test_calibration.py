"""Outcomes of decisions: counts, intervals and tests of differences."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.calibration import Case, calibration, case_of, counts_words
from core.debate.debate_events import OutcomeAsked
from core.debate.log import Event, fold
from core.debate.people import Person
from core.debate.people_events import DecisionRecorded, OutcomeGiven
from core.debate.state import Debate
from core.debate.turn_events import VerdictReached
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.statistics import exact_p, holm, wilson
from core.testing import log_of
from tests.core.transcript.splits import drafts, split_log

DANA = Person(id="U1")
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
HELD, REVERSED = OutcomeKind.HELD, OutcomeKind.REVERSED


def a_case(
    outcome: OutcomeKind | None,
    confidence: int = 70,
    *,
    is_asked: bool = True,
    is_replaced: bool = False,
) -> Case:
    return Case(
        debate_id="d1",
        accepted_at=NOON,
        asked=is_asked,
        replaced=is_replaced,
        outcome=outcome,
        said_at=NOON if outcome else None,
        confidence=confidence,
        was_skipped=False,
        alone_agrees=None,
        voices=(),
    )


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


def test_the_exact_p_value_of_fishers_examples() -> None:
    assert exact_p((3, 4), (1, 4)) == pytest.approx(0.4857, abs=1e-4)
    assert exact_p((4, 4), (0, 4)) == pytest.approx(0.0286, abs=1e-4)
    assert exact_p((2, 4), (2, 4)) == pytest.approx(1.0)


def test_p_values_are_corrected_for_their_number() -> None:
    corrected = holm({"better": 0.001, "same": 0.6, "perhaps": 0.03})
    assert corrected == {"better": 0.003, "same": 0.6, "perhaps": 0.06}


def test_only_significant_differences_are_called_evident() -> None:
    def finding(high: int, low: int) -> str:
        """The finding if `high` of ten sure decisions held, and `low` of ten unsure ones."""
        sure = [a_case(HELD if n < high else REVERSED, 85) for n in range(10)]
        unsure = [a_case(HELD if n < low else REVERSED, 45) for n in range(10)]
        return calibration([*sure, *unsure]).findings[-1]

    assert finding(9, 1).endswith("an evident difference (p below 0.01).")
    assert "no evidence of a difference" in finding(6, 5)


def test_without_outcomes_there_is_no_evidence() -> None:
    empty = calibration([a_case(None)])
    assert empty.findings == ("No evidence yet: nobody has said how a decision turned out.",)
    assert empty.rows == ()


def test_every_accepted_decision_is_counted_in_one_state() -> None:
    cases = [
        *[a_case(HELD)] * 2,
        a_case(HELD, is_replaced=True),
        a_case(OutcomeKind.TOO_EARLY),
        a_case(None),
        a_case(None, is_asked=False),
        a_case(None, is_replaced=True),
    ]
    assert counts_words(calibration(cases)) == (
        "7 accepted decisions: 3 with an outcome, 1 too early to say, 1 asked, without an answer, "
        "1 that nobody was asked about, 1 rejected or replaced since, without an outcome."
    )


def a_debate(*after: Event) -> Debate:
    """PostgreSQL was decided, which two of three agents hold best; then came these events."""
    return fold(log_of([*(entry.event for entry in split_log()), *after]))


def decided(kind: DecisionKind, origin: str) -> DecisionRecorded:
    return DecisionRecorded(decision=Decision(kind=kind, by=DANA, origin=origin))


ACCEPTED = decided(DecisionKind.ACCEPT, "V1")


def test_only_accepted_decisions_count_with_their_last_outcome() -> None:
    said = [
        OutcomeGiven(outcome=DecisionOutcome(kind=kind, by=DANA, decision="V1", origin=kind.value))
        for kind in (HELD, REVERSED)
    ]
    assert case_of(a_debate()) is None
    assert case_of(a_debate(decided(DecisionKind.REJECT, "V1"))) is None
    for after, outcome in ((), None), (said, REVERSED):
        case = case_of(a_debate(ACCEPTED, *after))
        assert case
        assert case.outcome is outcome


def test_a_debate_without_a_round_is_not_debated_whatever_the_reason() -> None:
    start, *entries = split_log()
    ends = [entry.event for entry in entries if isinstance(entry.event, VerdictReached)]
    case = case_of(fold(log_of([start.event, *drafts(), *ends, ACCEPTED])))
    assert case
    assert case.was_skipped


def test_a_case_is_read_from_the_debate() -> None:
    log = (ACCEPTED, OutcomeAsked(decision="V1"), decided(DecisionKind.SUPERSEDE, "V2"))
    case = case_of(a_debate(*log))
    assert case is not None
    assert (case.asked, case.replaced, case.confidence, case.was_skipped) == (True, True, 65, False)
    assert [(voice.role, voice.is_for) for voice in case.voices] == [
        ("architect", False),
        ("security", True),
        ("simplicity", True),
    ]
    rows = calibration([replace(case, outcome=HELD)]).rows
    assert {row.name for row in rows if row.group == "Role, for the decision"} == {
        "security",
        "simplicity",
    }
