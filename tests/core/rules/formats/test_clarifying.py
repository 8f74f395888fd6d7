"""Clarifications: who is asked when, what is put to people, how long they are waited for."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from core.events import (
    ClarificationAnswered,
    ClarificationsClosed,
    ClarificationsOpened,
    Event,
    QuestionsAsked,
)
from core.models import (
    Answer,
    Clarification,
    Clarifying,
    Debate,
    NextStep,
    Person,
    Question,
    Questions,
)
from core.rules.formats import clarifying
from tests.core.rules.formats.told import AGENTS, a_format_setup, decided, keys, told, turn

ASKING = [f"r0/questions/{agent}/1" for agent in AGENTS]
OPENING = "r0/clarification/engine/1"


def a_debate(*events: Event, rounds: int = 1, per_agent: int = 5, correct: float = 0) -> Debate:
    rules = Clarifying(enabled=True, per_agent=per_agent, wait_seconds=600, correct_seconds=correct)
    # More than settings allow, to see that it stops all the same.
    rules = rules.model_copy(update={"rounds": rounds})
    return told(a_format_setup("panel", clarifying=rules), *events)


def ready(*events: Event, rounds: int = 1) -> Sequence[str] | None:
    turns = clarifying.ready(a_debate(*events, rounds=rounds))
    return None if turns is None else keys(turns)


def question(text: str) -> Question:
    return Question(text=text, assumption=f"{text} No.")


def asks(key: str, *texts: str) -> Event:
    made = Questions(turn=turn(key), questions=tuple(question(text) for text in texts))
    return QuestionsAsked(questions=made)


def put(key: str, *events: Event) -> Event:
    """The questions asked so far are put to people on this turn."""
    return ClarificationsOpened(clarifications=clarifying.put(a_debate(*events), turn(key)))


def answered(number: int, *, is_editable: bool = False) -> Event:
    answer = Answer(number=number, text="Yes.", by=Person(id="U1"), is_editable=is_editable)
    return ClarificationAnswered(answer=answer)


def opened(*texts: str) -> list[Event]:
    """The first agent asked this, the others nothing, and people were asked."""
    asked = [asks(ASKING[0], *texts), asks(ASKING[1]), asks(ASKING[2])]
    return [*asked, put(OPENING, *asked)]


CLOSED = ClarificationsClosed(which=OPENING)


@pytest.mark.parametrize("rounds", [3, 9])
def test_agents_ask_three_times_at_most(rounds: int) -> None:
    happened: list[Event] = []
    for number in range(1, 4):
        asking = [f"r0/questions/{agent}/{number}" for agent in AGENTS]
        assert ready(*happened, rounds=rounds) == asking
        happened += [asks(asking[0], f"Question {'abc' * number}?"), *map(asks, asking[1:])]
        happened.append(put(f"r0/clarification/engine/{number}", *happened))
        closed = ClarificationsClosed(which=f"r0/clarification/engine/{number}")
        happened += [answered(number), closed]

    assert ready(*happened, rounds=rounds) is None


def items(key: str, *events: Event, per_agent: int = 5) -> Sequence[Clarification]:
    return clarifying.put(a_debate(*events, per_agent=per_agent), turn(key)).items


def test_what_one_agent_asks_is_never_merged_with_what_it_asks_itself() -> None:
    mine = ["Who is on call?", "Who is on call at night?", "Who is on call, please?"]
    others = ["Who is on call?", "And why?"]
    found = items(OPENING, asks(ASKING[0], *mine), asks(ASKING[1], *others))

    assert [(item.question, item.asked_by) for item in found] == [
        (mine[0], ("architect", "security")),
        (mine[1], ("architect",)),
        (others[1], ("security",)),
        (mine[2], ("architect",)),
    ]


def test_people_are_asked_six_questions_at_most_and_the_others_are_named_in_a_warning() -> None:
    words = ["one", "two", "three", "four"]
    asked = [asks(key, *(f"What of {key[-5:]} {word}?" for word in words)) for key in ASKING[:2]]
    made = clarifying.put(a_debate(*asked), turn(OPENING))

    assert len(made.items) == 6
    assert [item.question for item in made.items][:2] == [
        f"What of {key[-5:]} one?" for key in ASKING[:2]
    ]
    assert len(made.warnings) == 2
    assert "four?” (architect). Nothing is assumed" in made.warnings[0]


def test_a_follow_up_puts_its_own_questions_numbered_on() -> None:
    again = asks("r0/questions/security/2", "What does it cost?")
    happened = [*opened("How many jobs?", "Who is on call?"), answered(1), CLOSED, again]

    assert [
        (item.number, item.question, item.asked_by)
        for item in items("r0/clarification/engine/2", *happened)
    ] == [(3, "What does it cost?", ("security",))]


def test_numbers_go_on_over_all_that_was_asked_before() -> None:
    second = [
        *opened("How many jobs?", "Who is on call?"),
        asks("r0/questions/security/2", "What does it cost?"),
    ]
    third = [
        *second,
        put("r0/clarification/engine/2", *second),
        asks("r0/questions/security/3", "Since when?"),
    ]

    assert [item.number for item in items("r0/clarification/engine/3", *third)] == [4]


def facilitators(number: int, text: str) -> Event:
    return decided(number, NextStep.ASK, question=question(text))


def test_a_facilitators_question_is_put_for_its_round_alone() -> None:
    asked = [asks(ASKING[0], "Since when?"), facilitators(1, "How many?"), facilitators(2, "Who?")]

    assert [
        (item.question, item.asked_by) for item in items("r2/clarification/engine", *asked)
    ] == [("Who?", ("facilitator",))]


def test_a_facilitator_that_asks_nothing_has_nothing_put() -> None:
    assert items("r1/clarification/engine", decided(1, NextStep.GO_ON)) == ()


def test_of_what_is_open_the_first_to_end_is_due() -> None:
    happened = opened("How many jobs?")
    happened += [facilitators(1, "Who?"), facilitators(2, "What for?")]
    happened += [
        put("r2/clarification/engine", *happened),
        put("r1/clarification/engine", *happened),
    ]
    debate = a_debate(*happened)
    ends = {key: opened.until for key, opened in debate.clarifications.items()}

    assert clarifying.due(debate) == (OPENING, ends[OPENING])
    assert clarifying.due(a_debate(*happened, CLOSED)) == (
        "r2/clarification/engine",
        ends["r2/clarification/engine"],
    )


def test_questions_close_once_all_is_answered_and_can_no_longer_be_corrected() -> None:
    def due(*answers: Event) -> timedelta:
        debate = a_debate(*opened("How many jobs?", "Who is on call?"), *answers, correct=10)
        waiting = clarifying.due(debate)
        assert waiting
        assert waiting[0] == OPENING
        return waiting[1] - debate.now

    assert due(answered(1)) > timedelta(minutes=9)
    assert due(answered(1), answered(2)) == timedelta()
    assert due(answered(1), answered(2, is_editable=True)) == timedelta(seconds=10)
    assert due(answered(1, is_editable=True), answered(2)) == timedelta(seconds=9)


@pytest.mark.parametrize(
    ("question", "other", "are_equal"),
    [
        ("Who is on call?", "who  is ON CALL", True),
        ("What is the budget?", "What is the **budget**?", True),
        ("利用者は何人ですか?", "利用者は何人ですか。", True),
        ("Do you write C?", "Do you write C#?", False),
        ("May it cost 5 %?", "May it cost 5 $?", False),
        ("Is −5 enough?", "Is 5 enough?", False),
        ("Who is on call?", "On call: who is it?", False),
    ],
)
def test_questions_are_equal_but_for_case_marks_and_white_space(
    question: str,
    other: str,
    are_equal: bool,  # noqa: FBT001 - a table of cases
) -> None:
    are_found_equal = clarifying.normalised(question) == clarifying.normalised(other)
    assert are_found_equal is are_equal
