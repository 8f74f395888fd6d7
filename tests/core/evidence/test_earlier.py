"""An earlier decision as a source of a debate."""

import pytest

from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import fold
from core.debate.people import Person
from core.debate.turn_events import VerdictReached
from core.evidence.earlier import decision_reference
from core.testing import a_setup, log_of
from tests.bot.plays import a_verdict


@pytest.mark.parametrize(
    ("decision", "title"), [("x" * 120, "x" * 120), ("x" * 121, "x" * 119 + "…")]
)
def test_a_long_decision_is_cut_in_its_title(decision: str, title: str) -> None:
    reached = VerdictReached(verdict=a_verdict(decision=decision))
    debate = fold(log_of([DebateStarted(setup=a_setup()), reached, DebateConcluded()]))

    assert decision_reference(debate, Person(id="U1")).title.partition(": ")[2] == title
