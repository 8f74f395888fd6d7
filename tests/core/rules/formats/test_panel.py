"""Format `panel`: when statements and the facilitator are ready, and what each of them sees."""

from collections.abc import Sequence

import pytest

from core.events import (
    ClarificationAnswered,
    ClarificationsClosed,
    ClarificationsOpened,
    Event,
    FacilitatorDecided,
)
from core.models import Act, Answer, Clarifying, Debate, Guidance, NextStep, Person, Question
from core.request import Part, PartKind
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
AFTER_FIRST = "r1/facilitation/facilitator"
ASKED = decided(1, NextStep.ASK, question=Question(text="How many?", assumption="Ten"))
ANSWERED = ClarificationAnswered(answer=Answer(number=1, text="Two", by=Person(id="U1")))
CLOSED = ClarificationsClosed(which="r1/clarification/engine")


def a_debate(*events: Event, rounds: int = 3) -> Debate:
    return told(a_format_setup("panel", rounds=rounds), *events)


def ready(*events: Event, rounds: int = 3) -> Sequence[str]:
    return keys(panel.FORMAT.ready(a_debate(*events), rounds))


def test_the_facilitator_speaks_when_every_statement_has_an_outcome() -> None:
    assert ready() == FIRST
    assert ready(*said(*FIRST[:2])) == FIRST[2:]
    assert ready(*said(*FIRST)) == [AFTER_FIRST]
    assert ready(*said(*FIRST[:2]), *failed(FIRST[2])) == [AFTER_FIRST]


def closing(number: int) -> Event:
    """The vote is called after that round, as the facilitator calls it now."""
    called = Guidance(
        turn=turn(f"r{number}/facilitation/facilitator"), next_step=NextStep.VOTE, closing=True
    )
    return FacilitatorDecided(guidance=called)


def test_closing_statements_follow_the_call_for_the_vote_and_nothing_follows_them() -> None:
    before = [*said(*FIRST), decided(1, NextStep.GO_ON), *said(*SECOND), closing(2)]
    third = of_all("r3/statement/*")

    assert ready(*before, rounds=7) == third
    assert ready(*before, *said(*third), rounds=7) == []
    debate = a_debate(*before, rounds=7)
    assert keys(panel.FORMAT.planned(debate, 3)) == third
    assert panel.FORMAT.planned(debate, 4) == ()
    assert panel.is_closing(debate, turn(third[0]))
    assert not panel.is_closing(debate, turn(SECOND[0]))


def test_in_a_log_of_an_older_version_the_vote_follows_its_call_at_once() -> None:
    before = [*said(*FIRST), decided(1, NextStep.GO_ON), *said(*SECOND)]

    assert ready(*before, decided(2, NextStep.VOTE), rounds=7) == []


def test_the_last_round_there_can_be_is_closing_but_never_the_first() -> None:
    assert panel.is_closing(a_debate(rounds=2), turn(SECOND[0]))
    assert not panel.is_closing(a_debate(rounds=1), turn(FIRST[0]))


def test_the_facilitator_may_vote_after_two_rounds_and_ask_twice() -> None:
    first, second = turn(AFTER_FIRST), turn("r2/facilitation/facilitator")
    again = decided(2, NextStep.ASK, question=Question(text="How soon?", assumption="June"))

    setup = a_format_setup("panel", clarifying=Clarifying(enabled=True))

    assert panel.steps_open(told(setup), first) == (NextStep.GO_ON, NextStep.ASK)
    assert panel.steps_open(told(setup), second) == (NextStep.GO_ON, NextStep.ASK, NextStep.VOTE)
    assert panel.questions_left(told(setup, ASKED)) == 1
    assert panel.steps_open(told(setup, ASKED, again), first) == (NextStep.GO_ON,)


def test_the_facilitator_asks_nobody_where_clarifications_are_off() -> None:
    off = Clarifying(enabled=False)
    debate = told(a_format_setup("panel", clarifying=off))

    assert panel.steps_open(debate, turn(AFTER_FIRST)) == (NextStep.GO_ON,)


def test_the_facilitator_is_told_what_it_decided_before() -> None:
    debate = a_debate(*said(*FIRST), decided(1, NextStep.GO_ON, focus="cost"), *said(*SECOND))
    shown = panel.FORMAT.shown(debate, turn("r2/facilitation/facilitator"))[0]

    assert (shown.label, shown.text) == (
        "What you decided before",
        "After round 1: go_on. Focus: cost",
    )


def test_nobody_facilitates_after_the_last_round() -> None:
    assert ready(*said(*FIRST), rounds=1) == []
    assert ready(*said(*FIRST), rounds=2) == [AFTER_FIRST]


def test_going_on_opens_no_round_beyond_the_last() -> None:
    assert ready(*said(*FIRST), decided(1, NextStep.GO_ON), rounds=1) == []


@pytest.mark.parametrize(
    ("after_first", "expected"),
    [
        ([decided(1, NextStep.GO_ON)], SECOND),
        (failed(AFTER_FIRST), SECOND),
        ([decided(1, NextStep.ASK)], SECOND),
        ([decided(1, NextStep.VOTE)], []),
        ([ASKED], []),
    ],
    ids=["goes on", "failed", "asks nothing", "calls the vote", "asks people"],
)
def test_the_next_round_follows_unless_the_vote_is_called_or_people_are_asked(
    after_first: Sequence[Event], expected: Sequence[str]
) -> None:
    assert ready(*said(*FIRST), *after_first) == expected


def test_a_question_to_people_holds_the_next_round_up_until_it_is_closed() -> None:
    happened = [*said(*FIRST), ASKED]
    put = clarifying.put(a_debate(*happened), turn("r1/clarification/engine"))
    happened.append(ClarificationsOpened(clarifications=put))

    assert ready(*happened) == []
    assert ready(*happened, ANSWERED) == []
    assert ready(*happened, ANSWERED, CLOSED) == SECOND
    assert ready(*happened, CLOSED) == SECOND


def test_a_question_beside_another_step_holds_nothing_up() -> None:
    aside = decided(1, NextStep.GO_ON, question=Question(text="Why?", assumption="So"))

    assert ready(*said(*FIRST), aside) == SECOND


def test_a_panel_of_more_rounds_than_seven_ends_with_the_seventh() -> None:
    happened: list[Event] = []
    for number in range(1, 7):
        happened += [*said(*of_all(f"r{number}/statement/*")), decided(number, NextStep.GO_ON)]
    last = of_all("r7/statement/*")

    assert ready(*happened, rounds=9) == last
    assert ready(*happened, *said(*last), rounds=9) == []


def planned(number: int, *events: Event, rounds: int = 3) -> Sequence[str]:
    return keys(panel.FORMAT.planned(a_debate(*events, rounds=rounds), number))


def test_the_plan_of_a_round_ends_with_the_facilitator_but_for_the_last() -> None:
    assert planned(2) == [*SECOND, "r2/facilitation/facilitator"]
    assert planned(3) == of_all("r3/statement/*")


def test_the_seventh_round_is_the_last_that_is_planned() -> None:
    assert planned(6, rounds=9) == [*of_all("r6/statement/*"), "r6/facilitation/facilitator"]
    assert planned(7, rounds=9) == of_all("r7/statement/*")
    assert planned(8, rounds=9) == []


def test_nothing_is_planned_after_the_vote_is_called() -> None:
    called = [decided(1, NextStep.GO_ON), decided(2, NextStep.VOTE)]

    assert planned(2, decided(1, NextStep.VOTE)) == []
    assert planned(2, *called) == [*SECOND, "r2/facilitation/facilitator"]
    assert planned(3, *called) == []
    assert planned(4, *called, rounds=5) == []


def test_the_plan_names_nobody_who_is_out() -> None:
    assert planned(3, *failed(FIRST[1])) == ["r3/statement/architect", "r3/statement/simplicity"]


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


def test_a_position_is_the_newest_statement_in_roster_order() -> None:
    debate = a_debate(*said(FIRST[2], FIRST[1], SECOND[1]))
    texts = [(agent, made.text) for agent, made in panel.FORMAT.positions(debate).items()]

    assert texts == [("security", SECOND[1]), ("simplicity", FIRST[2])]


def test_before_the_first_round_there_is_no_position() -> None:
    assert panel.FORMAT.positions(a_debate(*said(FIRST[1])), 0) == {}


def test_positions_up_to_a_round_include_it_and_nothing_later() -> None:
    debate = a_debate(*said(FIRST[1], SECOND[1], "r2/proposal/security"))
    upto = {number: panel.FORMAT.positions(debate, number)["security"].text for number in (1, 2)}

    assert upto == {1: FIRST[1], 2: SECOND[1]}


def test_only_statements_are_positions() -> None:
    assert panel.FORMAT.positions(a_debate(*said("r1/critique/security/architect"))) == {}


def test_drafts_are_there_when_no_first_statement_can_come_any_more() -> None:
    complete = panel.FORMAT.drafts(a_debate(*said(*FIRST[1:], SECOND[1]), *failed(FIRST[0])))

    assert panel.FORMAT.drafts(a_debate(*said(*FIRST[1:]))) == {}
    assert [(agent, draft.text) for agent, draft in complete.items()] == [
        ("security", FIRST[1]),
        ("simplicity", FIRST[2]),
    ]


def test_nothing_is_taken_over() -> None:
    assert panel.FORMAT.carried_over(a_debate(*said(*FIRST)), turn(SECOND[0])) is None


def test_a_first_statement_is_made_in_isolation() -> None:
    assert panel.FORMAT.shown(a_debate(*said(*FIRST[1:])), turn(FIRST[0])) == []


def test_the_facilitator_sees_the_statements_of_its_round_unnamed_and_in_roster_order() -> None:
    debate = a_debate(*said(*FIRST, SECOND[2], SECOND[0]), *failed(SECOND[1]))

    assert panel.FORMAT.shown(debate, turn("r2/facilitation/facilitator")) == [
        Part(
            kind=PartKind.POSITION,
            label="Round 2, statement 1 of 2",
            text=SECOND[0],
            trim_priority=2,
        ),
        Part(
            kind=PartKind.POSITION,
            label="Round 2, statement 2 of 2",
            text=SECOND[2],
            trim_priority=2,
        ),
    ]


def test_an_agent_sees_its_last_statement_and_what_the_facilitator_wants_looked_at() -> None:
    steps = [decided(1, NextStep.GO_ON, focus="cost"), decided(2, NextStep.GO_ON, focus="time")]
    debate = a_debate(*said(*FIRST, *SECOND), *steps)

    assert panel.FORMAT.shown(debate, turn("r3/statement/security")) == [
        Part(
            kind=PartKind.OTHER,
            label="What the facilitator wants looked at in this round",
            text="time",
            ends_shared=True,
        ),
        Part(kind=PartKind.OWN, label="Your last statement", text=SECOND[1], trim_priority=1),
    ]


def test_an_agent_that_missed_its_last_statement_sees_the_focus_alone() -> None:
    debate = a_debate(*said(*FIRST), decided(1, NextStep.GO_ON, focus="cost"), *failed(SECOND[1]))

    assert [part.text for part in panel.FORMAT.shown(debate, turn(SECOND[1]))] == ["cost", FIRST[1]]
    assert panel.FORMAT.shown(debate, turn("r3/statement/security")) == []


def test_a_facilitator_without_a_focus_adds_nothing() -> None:
    debate = a_debate(*said(*FIRST), decided(1, NextStep.GO_ON))

    assert [part.text for part in panel.FORMAT.shown(debate, turn(SECOND[1]))] == [FIRST[1]]


def test_the_facilitators_turn_is_its_own_in_every_round() -> None:
    made = panel.facilitation(4)

    assert (made.act, made.key) == (Act.FACILITATION, "r4/facilitation/facilitator")
