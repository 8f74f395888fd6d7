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
    Clarifications,
    Clarifying,
    Debate,
    NextStep,
    Person,
    Question,
    Questions,
)
from core.rules.formats import clarifying
from tests.core.rules.formats.told import AGENTS, a_format_setup, decided, failed, keys, told, turn

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


def test_nothing_is_asked_where_asking_is_off() -> None:
    setup = a_format_setup("panel", clarifying=Clarifying(enabled=False))

    assert clarifying.ready(told(setup)) is None


def test_people_are_asked_when_every_agent_has_said_what_it_wants_to_know() -> None:
    assert ready() == ASKING
    assert ready(asks(ASKING[1], "How many?")) == [ASKING[0], ASKING[2]]
    assert ready(asks(ASKING[0]), asks(ASKING[1]), *failed(ASKING[2])) == [OPENING]


def test_people_are_waited_for_until_all_is_answered_or_time_is_over() -> None:
    happened = opened("How many jobs?", "Who is on call?")

    assert ready(*happened) == []
    assert ready(*happened, answered(1)) == []
    assert ready(*happened, answered(1), answered(2)) == []
    assert ready(*happened, answered(1), answered(2), CLOSED) is None
    assert ready(*happened, CLOSED) is None


def test_where_nobody_asked_anything_nobody_is_waited_for() -> None:
    assert ready(*opened(), rounds=3) is None


def test_agents_ask_again_only_when_somebody_has_answered() -> None:
    happened = [*opened("How many jobs?", "Who is on call?")]
    again = [f"r0/questions/{agent}/2" for agent in AGENTS]

    assert ready(*happened, CLOSED, rounds=2) is None
    assert ready(*happened, answered(2), CLOSED, rounds=2) == again
    assert ready(*happened, answered(2), CLOSED, rounds=1) is None


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


def test_questions_are_put_with_their_assumption_and_who_asks_them() -> None:
    asked = [asks(ASKING[2], "Who is on call?"), asks(ASKING[0], "How many jobs?")]
    debate = a_debate(*asked)
    expected = Clarifications(
        turn=turn(OPENING),
        items=(
            Clarification(
                number=1,
                question="How many jobs?",
                assumption="How many jobs? No.",
                asked_by=("architect",),
            ),
            Clarification(
                number=2,
                question="Who is on call?",
                assumption="Who is on call? No.",
                asked_by=("simplicity",),
            ),
        ),
        until=debate.now + timedelta(seconds=600),
        closed_by_event=True,
    )

    assert clarifying.put(debate, turn(OPENING)) == expected


def test_a_question_asked_alike_is_put_once_in_its_first_wording_for_all_who_ask() -> None:
    asked = [
        asks(ASKING[0], "How many jobs a day?", "Who is on call?"),
        asks(ASKING[1], "What does it cost?", "how  many JOBS a day"),
        asks(ASKING[2], "who is *on call*", "What does it cost?"),
    ]
    found = [(item.question, item.asked_by) for item in items(OPENING, *asked)]

    assert found == [
        ("How many jobs a day?", ("architect", "security")),
        ("Who is on call?", ("architect", "simplicity")),
        ("What does it cost?", ("security", "simplicity")),
    ]


def test_different_questions_of_different_agents_are_all_put() -> None:
    users = ["How many users do we have?", "How many admins do we have?"]
    asked = [asks(ASKING[0], users[0]), asks(ASKING[1], users[1])]

    assert [(item.question, item.asked_by) for item in items(OPENING, *asked)] == [
        (users[0], ("architect",)),
        (users[1], ("security",)),
    ]


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


def test_what_most_agents_ask_comes_first_and_then_what_each_names_first() -> None:
    found = items(
        OPENING,
        asks(ASKING[0], "Who pays?", "How many jobs?"),
        asks(ASKING[1], "Which law?", "Who is on call?"),
        asks(ASKING[2], "By when?", "How many jobs?"),
    )

    assert [item.question for item in found] == [
        "How many jobs?",
        "Who pays?",
        "Which law?",
        "By when?",
        "Who is on call?",
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
    assert "four?” (architect). Assumed:" in made.warnings[0]


def test_follow_up_questions_count_among_the_six() -> None:
    first = [asks(ASKING[0], *(f"What of {n}?" for n in "abcde")), asks(ASKING[1]), asks(ASKING[2])]
    happened = [*first, put(OPENING, *first), answered(1)]
    again = asks("r0/questions/architect/2", "And of f?", "And of g?")

    made = clarifying.put(a_debate(*happened, again), turn("r0/clarification/engine/2"))

    assert [(item.number, item.question) for item in made.items] == [(6, "And of f?")]
    assert len(made.warnings) == 1


def test_an_agents_questions_beyond_the_limit_are_left_out() -> None:
    asked = asks(ASKING[0], "How many jobs?", "Who is on call?", "What does it cost?")

    assert [item.question for item in items(OPENING, asked, per_agent=2)] == [
        "How many jobs?",
        "Who is on call?",
    ]


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


def test_the_facilitators_questions_are_to_be_put_until_they_are() -> None:
    asked = [facilitators(1, "How many?"), decided(2, NextStep.GO_ON), facilitators(3, "Who?")]
    put_already = put("r1/clarification/engine", *asked)

    assert keys(clarifying.asked_by_facilitator(a_debate(*asked))) == [
        "r1/clarification/engine",
        "r3/clarification/engine",
    ]
    assert keys(clarifying.asked_by_facilitator(a_debate(*asked, put_already))) == [
        "r3/clarification/engine"
    ]


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


def test_the_sooner_end_is_due_whatever_was_opened_first() -> None:
    later, sooner = "r1/clarification/engine", "r2/clarification/engine"
    asked = [facilitators(1, "Who?"), facilitators(2, "What for?")]
    soon = clarifying.put(a_debate(*asked), turn(sooner))
    late = soon.model_copy(update={"turn": turn(later), "until": soon.until + timedelta(hours=1)})
    debate = a_debate(*asked, *(ClarificationsOpened(clarifications=c) for c in (late, soon)))

    assert clarifying.due(debate) == (sooner, soon.until)


def test_nothing_is_due_while_nothing_is_open() -> None:
    assert clarifying.due(a_debate()) is None
    assert clarifying.due(a_debate(*opened("How many jobs?"), answered(1), CLOSED)) is None


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
