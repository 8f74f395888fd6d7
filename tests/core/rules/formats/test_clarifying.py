"""Clarifications: who is asked when, what is put to people, how long they are waited for."""

from collections.abc import Sequence

from core.debate.gate import NextStep
from core.debate.log import Event
from core.debate.questions import Clarification
from core.debate.rules import Clarifying
from core.debate.state import Debate
from core.debate.turn_events import ClarificationsOpened
from core.rules.formats import clarifying
from tests.core.rules.formats.told import a_format_setup, debate_with, decided, turn


def a_debate(*events: Event, rounds: int = 1, per_agent: int = 5, correct: float = 0) -> Debate:
    rules = Clarifying(enabled=True, per_agent=per_agent, wait_seconds=600, correct_seconds=correct)
    # More than settings allow, to see that it stops all the same.
    rules = rules.model_copy(update={"rounds": rounds})
    return debate_with(a_format_setup("panel", clarifying=rules), *events)


def put(key: str, *events: Event) -> Event:
    """The questions asked so far are put to people on this turn."""
    return ClarificationsOpened(clarifications=clarifying.put(a_debate(*events), turn(key)))


def items(key: str, *events: Event, per_agent: int = 5) -> Sequence[Clarification]:
    return clarifying.put(a_debate(*events, per_agent=per_agent), turn(key)).items


def test_a_facilitator_that_asks_nothing_has_nothing_put() -> None:
    assert items("r1/clarification/engine", decided(1, NextStep.GO_ON)) == ()
