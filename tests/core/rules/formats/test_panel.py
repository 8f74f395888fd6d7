"""Format `panel`: when statements and the facilitator are ready, and what each of them sees."""

from collections.abc import Sequence

import pytest

from core.events import (
    ClarificationAnswered,
    ClarificationsClosed,
    ClarificationsOpened,
    Event,
)
from core.models import Answer, Debate, NextStep, Person, Question
from core.rules.formats import clarifying, panel
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    decided,
    failed,
    keys,
    of_all,
    refused,
    said,
    told,
    turn,
)

FIRST = of_all("r1/statement/*")
SECOND = of_all("r2/statement/*")
ASKED = decided(1, NextStep.ASK, question=Question(text="How many?", assumption="Ten"))
ANSWERED = ClarificationAnswered(answer=Answer(number=1, text="Two", by=Person(id="U1")))
CLOSED = ClarificationsClosed(which="r1/clarification/engine")


def a_debate(*events: Event, rounds: int = 3) -> Debate:
    return told(a_format_setup("panel", rounds=rounds), *events)


def ready(*events: Event, rounds: int = 3) -> Sequence[str]:
    return keys(panel.FORMAT.ready(a_debate(*events), rounds))


def test_in_a_log_of_an_older_version_the_vote_follows_its_call_at_once() -> None:
    before = [*said(*FIRST), decided(1, NextStep.GO_ON), *said(*SECOND)]

    assert ready(*before, decided(2, NextStep.VOTE), rounds=7) == []


def test_a_question_to_people_holds_the_next_round_up_until_it_is_closed() -> None:
    happened = [*said(*FIRST), ASKED]
    put = clarifying.put(a_debate(*happened), turn("r1/clarification/engine"))
    happened.append(ClarificationsOpened(clarifications=put))

    assert ready(*happened) == []
    assert ready(*happened, ANSWERED) == []
    assert ready(*happened, ANSWERED, CLOSED) == SECOND
    assert ready(*happened, CLOSED) == SECOND


def test_a_panel_of_more_rounds_than_seven_ends_with_the_seventh() -> None:
    happened: list[Event] = []
    for number in range(1, 7):
        happened += [*said(*of_all(f"r{number}/statement/*")), decided(number, NextStep.GO_ON)]
    last = of_all("r7/statement/*")

    assert ready(*happened, rounds=9) == last
    assert ready(*happened, *said(*last), rounds=9) == []


@pytest.mark.parametrize(
    ("missed", "is_out"),
    [
        (["r1/statement/security"], True),
        (["r2/statement/security"], False),
        (["r2/statement/security", "r3/statement/security"], True),
        (["r2/statement/security", "r4/statement/security"], False),
        (["r2/statement/security", "r3/statement/architect"], False),
        (["r1/facilitation/facilitator", "r2/ballot/security", "r1/ballot/security"], False),
    ],
    ids=["the first", "one", "two in a row", "two apart", "one each", "other turns"],
)
def test_without_a_first_statement_or_two_in_a_row_an_agent_is_out(
    missed: Sequence[str], *, is_out: bool
) -> None:
    left = panel.FORMAT.alive(a_debate(*failed(*missed), rounds=5))

    assert left == tuple(agent for agent in AGENTS if agent != "security" or not is_out)


def test_who_is_refused_is_out_and_not_waited_for() -> None:
    happened = [*said(*FIRST), decided(1, NextStep.GO_ON), *refused(SECOND[0])]

    assert panel.FORMAT.alive(a_debate(*happened)) == AGENTS[1:]
    assert ready(*happened) == SECOND[1:]
    assert ready(*happened, *said(*SECOND[1:])) == ["r2/facilitation/facilitator"]


def test_an_agent_that_missed_its_last_statement_sees_the_one_before() -> None:
    debate = a_debate(*said(*FIRST), decided(1, NextStep.GO_ON, focus="cost"), *failed(SECOND[1]))
    shown = panel.FORMAT.shown(debate, turn("r3/statement/security"))

    assert [(part.label, part.text) for part in shown] == [("Your last statement", FIRST[1])]
