"""Format `council`: when each phase is open to whom, and what each turn sees."""

from collections.abc import Sequence

import pytest

from core.events import Event
from core.models import Act, Debate
from core.request import Part, PartKind
from core.rules.formats import council
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    failed,
    keys,
    of_all,
    options,
    refused,
    said,
    told,
    turn,
    wording,
)

GATHERED = of_all("r1/gather/*")
PLANNED = of_all("r1/plan/*")
FORMULATED = of_all("r1/formulate/*")
DEBATED = of_all("r1/debate/*")
ADJUSTED = of_all("r1/adjust/*")
REBUTTED = of_all("r1/rebuttal/*")
PHASES = [GATHERED, PLANNED, FORMULATED, DEBATED, ADJUSTED, REBUTTED]


def a_debate(*events: Event) -> Debate:
    return told(a_format_setup("council"), *events)


def ready(*events: Event) -> Sequence[str]:
    return keys(council.FORMAT.ready(a_debate(*events), 1))


def test_at_first_everybody_gathers() -> None:
    assert ready() == GATHERED


def test_a_plan_waits_for_what_the_others_gather_not_for_its_own() -> None:
    assert ready(*said(*GATHERED[1:])) == [GATHERED[0], PLANNED[0]]
    assert ready(*said(*GATHERED)) == PLANNED


def test_an_agent_formulates_as_soon_as_its_own_plan_has_an_outcome() -> None:
    happened = [*said(*GATHERED, PLANNED[0]), *failed(PLANNED[1])]

    assert ready(*happened) == [PLANNED[2], *FORMULATED[:2]]


@pytest.mark.parametrize("number", [3, 4])
def test_a_later_turn_waits_for_the_others_turns_before_not_for_its_own(number: int) -> None:
    before = [key for phase in PHASES[: number - 1] for key in phase]
    last = PHASES[number - 1]

    assert ready(*said(*before, *last[:1])) == last[1:]
    assert ready(*said(*before, *last[:2])) == [last[2], PHASES[number][2]]
    assert ready(*said(*before, *last)) == PHASES[number]


def test_an_adjustment_needs_every_formulated_position() -> None:
    happened = said(*GATHERED, *PLANNED, *FORMULATED[:2], DEBATED[2])

    assert ready(*happened) == [FORMULATED[2]]


def test_nobody_formulates_before_its_own_findings_are_there() -> None:
    happened = said(*GATHERED[1:], PLANNED[0])

    assert ready(*happened) == [GATHERED[0]]
    assert ready(*happened, *said(GATHERED[0])) == [*PLANNED[1:], FORMULATED[0]]


def test_who_says_nothing_of_options_may_differ_so_that_rebuttals_wait_for_nobody_else() -> None:
    before = [key for phase in PHASES[:4] for key in phase]

    assert ready(*said(*before, *ADJUSTED[:2])) == [ADJUSTED[2], REBUTTED[2]]
    assert ready(*said(*before, *ADJUSTED)) == REBUTTED


def test_a_rebuttal_needs_its_own_answers_not_everybodys() -> None:
    before = [key for phase in PHASES[:3] for key in phase]
    happened = said(*before, *DEBATED[1:], *ADJUSTED)

    assert ready(*happened) == [DEBATED[0], *REBUTTED[1:]]


def test_nothing_follows_the_rebuttals() -> None:
    assert ready(*said(*(key for phase in PHASES for key in phase))) == []


def test_the_council_does_not_wait_for_who_is_out() -> None:
    assert ready(*failed(GATHERED[1]), *said(GATHERED[0])) == [GATHERED[2], PLANNED[2]]


def test_the_last_one_left_has_nobody_to_plan_with() -> None:
    assert ready(*said(GATHERED[0]), *failed(*GATHERED[1:])) == []


def test_the_plan_is_every_phase_once_for_everybody_who_is_left() -> None:
    planned = council.FORMAT.planned(a_debate(*failed(GATHERED[1])), 1)

    assert keys(planned) == [key for phase in PHASES for key in (phase[0], phase[2])]
    assert council.FORMAT.planned(a_debate(), 2) == ()


def adjusted(*shares: float) -> Debate:
    """So many have adjusted their positions; each holds the first option so likely the best."""
    stances = [
        wording(key, "**Kafka.**", stance={"o1": share, "o2": 1 - share})
        for key, share in zip(ADJUSTED, shares, strict=False)
    ]
    before = said(*(key for phase in PHASES[:4] for key in phase))
    return a_debate(options("Kafka", "PostgreSQL"), *before, *stances)


def test_positions_that_agree_need_no_rebuttal() -> None:
    assert council.FORMAT.ready(adjusted(0.9, 0.8, 0.7), 1) == ()
    assert keys(council.FORMAT.ready(adjusted(0.7, 0.6, 0.6), 1)) == REBUTTED
    assert keys(council.FORMAT.ready(adjusted(0.6, 0.6, 0.45), 1)) == REBUTTED


def test_the_plan_has_no_rebuttals_once_none_is_needed() -> None:
    before = [key for phase in PHASES[:5] for key in phase]

    assert keys(council.FORMAT.planned(adjusted(0.9, 0.8, 0.7), 1)) == before
    assert keys(council.FORMAT.planned(adjusted(0.9, 0.2, 0.7), 1)) == [*before, *REBUTTED]


def test_whether_positions_agree_is_not_known_before_all_are_adjusted() -> None:
    assert keys(council.FORMAT.ready(adjusted(0.9, 0.8), 1)) == ADJUSTED[2:]
    assert keys(council.FORMAT.planned(adjusted(0.9, 0.8), 1))[-3:] == REBUTTED


def test_that_positions_differ_is_known_as_soon_as_two_do() -> None:
    # The one whose position is still awaited has all it needs to answer the two others.
    assert keys(council.FORMAT.ready(adjusted(0.9, 0.2), 1)) == [ADJUSTED[2], REBUTTED[2]]


@pytest.mark.parametrize(
    ("events", "left"),
    [
        (failed(GATHERED[1]), ("architect", "simplicity")),
        (failed(FORMULATED[1]), ("architect", "simplicity")),
        (failed(PLANNED[1], DEBATED[1], ADJUSTED[1], REBUTTED[1]), AGENTS),
        (refused(PLANNED[1]), ("architect", "simplicity")),
    ],
    ids=["nothing gathered", "nothing formulated", "anything else", "refused"],
)
def test_who_has_nothing_to_go_on_with_is_out(events: Sequence[Event], left: Sequence[str]) -> None:
    assert council.FORMAT.alive(a_debate(*events)) == left


def test_a_position_is_the_adjusted_one_else_the_formulated_else_the_gathered() -> None:
    happened = said(*GATHERED, *PLANNED, *FORMULATED[:2], *DEBATED, ADJUSTED[0], *REBUTTED)
    positions = council.FORMAT.positions(a_debate(*happened))

    assert [(agent, made.text) for agent, made in positions.items()] == [
        ("architect", ADJUSTED[0]),
        ("security", FORMULATED[1]),
        ("simplicity", GATHERED[2]),
    ]


def test_who_has_gathered_nothing_has_no_position() -> None:
    assert list(council.FORMAT.positions(a_debate(*said(*GATHERED[1:])))) == [
        "security",
        "simplicity",
    ]


def test_drafts_are_what_was_gathered_once_nobody_gathers_any_more() -> None:
    complete = council.FORMAT.drafts(
        a_debate(*said(*GATHERED[1:], FORMULATED[1]), *failed(GATHERED[0]))
    )

    assert council.FORMAT.drafts(a_debate(*said(*GATHERED[1:]))) == {}
    assert [(agent, draft.text) for agent, draft in complete.items()] == [
        ("security", GATHERED[1]),
        ("simplicity", GATHERED[2]),
    ]


def test_a_position_that_nobody_answered_is_not_adjusted() -> None:
    happened = [*said(*GATHERED, *FORMULATED, DEBATED[1]), *failed(DEBATED[0], DEBATED[2])]
    debate = a_debate(*happened)
    kept = council.FORMAT.carried_over(debate, turn(ADJUSTED[1]))

    assert kept
    assert kept.text == FORMULATED[1]
    assert council.FORMAT.carried_over(debate, turn(ADJUSTED[0])) is None
    assert council.FORMAT.carried_over(debate, turn(REBUTTED[1])) is None


def sees(key: str, *happened: str) -> Sequence[Part]:
    return council.FORMAT.shown(a_debate(*said(*happened)), turn(key))


def own(label: str, text: str) -> Part:
    return Part(kind=PartKind.OWN, label=label, text=text, trim_priority=1)


def others(kind: PartKind, label: str, first: str, second: str) -> Sequence[Part]:
    """What the second of three reads: the third reads the first one's text before it, too."""
    return [
        Part(kind=kind, label=f"{label}, 1 of 2", text=first, ends_shared=True, trim_priority=2),
        Part(kind=kind, label=f"{label}, 2 of 2", text=second, trim_priority=2),
    ]


def position(letter: str, text: str, *, ends_shared: bool = False) -> Part:
    return Part(
        kind=PartKind.POSITION,
        label=f"Position {letter}",
        text=text,
        ends_shared=ends_shared,
        trim_priority=2,
    )


def test_gathering_is_done_in_isolation() -> None:
    assert sees(GATHERED[0], *GATHERED[1:]) == []


def test_a_plan_sees_what_the_others_gathered_unnamed() -> None:
    found = others(PartKind.OTHER, "Findings of the others", GATHERED[0], GATHERED[2])

    assert sees(PLANNED[1], *reversed(GATHERED)) == found


def test_a_position_is_formulated_from_ones_own_work_and_what_the_others_gathered() -> None:
    found = [
        Part(
            kind=PartKind.OTHER,
            label=f"Findings {number} of 3",
            text=text,
            ends_shared=number == 3,
            trim_priority=1 if number == 2 else 2,
        )
        for number, text in enumerate(GATHERED, start=1)
    ]

    assert sees(FORMULATED[1], *GATHERED, *PLANNED) == [
        *found,
        own("What you found", f"{GATHERED[1]}\n(In full above, in: Findings 2 of 3.)"),
        own("Your plan", PLANNED[1]),
    ]


def test_who_has_no_plan_formulates_without_one() -> None:
    parts = sees(FORMULATED[1], *GATHERED)

    assert [part.text for part in parts[:3]] == GATHERED
    assert [part.label for part in parts[3:]] == ["What you found"]


def test_in_the_debate_the_others_positions_are_seen_by_letter() -> None:
    assert sees(DEBATED[1], *GATHERED, *PLANNED, *FORMULATED) == [
        position("A", FORMULATED[0], ends_shared=True),
        position("C", FORMULATED[2]),
    ]


def test_who_formulated_nothing_yet_stands_by_what_it_gathered() -> None:
    assert sees(DEBATED[0], *GATHERED, FORMULATED[1]) == [
        position("B", FORMULATED[1]),
        position("C", GATHERED[2]),
    ]


def test_who_has_no_position_at_all_is_not_shown() -> None:
    assert sees(DEBATED[0], FORMULATED[2]) == [position("C", FORMULATED[2])]


def test_an_adjustment_sees_the_own_position_and_all_answers_to_it() -> None:
    answers = others(PartKind.CRITIQUE, "Answers of the council", DEBATED[0], DEBATED[2])

    assert sees(ADJUSTED[1], *GATHERED, *PLANNED, *FORMULATED, *DEBATED) == [
        *answers,
        Part(
            kind=PartKind.POSITION, label="Position A in short", text=FORMULATED[0], trim_priority=2
        ),
        Part(
            kind=PartKind.POSITION, label="Position C in short", text=FORMULATED[2], trim_priority=2
        ),
        own("Your position, Position B", FORMULATED[1]),
    ]


def test_a_rebuttal_sees_the_own_answers_and_the_others_as_adjusted() -> None:
    happened = [*GATHERED, *PLANNED, *FORMULATED, *DEBATED, *ADJUSTED]

    assert sees(REBUTTED[1], *happened) == [
        position("A", ADJUSTED[0], ends_shared=True),
        position("C", ADJUSTED[2]),
        own("Your answers to the others", DEBATED[1]),
    ]


def test_a_rebuttal_sees_the_position_as_it_was_where_none_was_adjusted() -> None:
    happened = [*GATHERED, *PLANNED, *FORMULATED, *DEBATED, ADJUSTED[0]]

    assert sees(REBUTTED[1], *happened)[:2] == [
        position("A", ADJUSTED[0], ends_shared=True),
        position("C", FORMULATED[2]),
    ]


def test_letters_follow_the_roster() -> None:
    assert [a_debate().setup.letter(agent) for agent in AGENTS] == ["A", "B", "C"]


def test_the_phases_are_in_the_order_they_are_taken() -> None:
    assert [act.value for act in council.FORMAT.phases] == [
        phase[0].split("/")[1] for phase in PHASES
    ]
    assert council.FORMAT.phases[0] is Act.GATHER


def test_voters_read_the_rebuttals_under_letters() -> None:
    debate = a_debate(*said(*(key for phase in PHASES for key in phase)))
    shown = council.FORMAT.shown(debate, turn("r1/ballot/security"))

    assert [(part.label, part.text) for part in shown] == [
        (f"Last word of the holder of Position {letter}", text)
        for letter, text in zip("ABC", REBUTTED, strict=True)
    ]
    assert [part.ends_shared for part in shown] == [False, False, True]
    assert council.FORMAT.shown(debate, turn("r0/ballot/security")) == []
