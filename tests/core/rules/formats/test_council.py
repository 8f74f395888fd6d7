"""Format `council`: when each phase is open to whom, and what each turn sees."""

from collections.abc import Sequence

import pytest

from core.events import Event
from core.models import Debate
from core.request import Part
from core.rules.formats import council
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    failed,
    keys,
    of_all,
    refused,
    said,
    told,
    turn,
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


def test_who_says_nothing_of_options_may_differ_so_that_rebuttals_wait_for_nobody_else() -> None:
    before = [key for phase in PHASES[:4] for key in phase]

    assert ready(*said(*before, *ADJUSTED[:2])) == [ADJUSTED[2], REBUTTED[2]]
    assert ready(*said(*before, *ADJUSTED)) == REBUTTED


def test_the_last_one_left_has_nobody_to_plan_with() -> None:
    assert ready(*said(GATHERED[0]), *failed(*GATHERED[1:])) == []


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


def test_drafts_are_what_was_gathered_once_nobody_gathers_any_more() -> None:
    complete = council.FORMAT.drafts(
        a_debate(*said(*GATHERED[1:], FORMULATED[1]), *failed(GATHERED[0]))
    )

    assert council.FORMAT.drafts(a_debate(*said(*GATHERED[1:]))) == {}
    assert [(agent, draft.text) for agent, draft in complete.items()] == [
        ("security", GATHERED[1]),
        ("simplicity", GATHERED[2]),
    ]


def sees(key: str, *happened: str) -> Sequence[Part]:
    return council.FORMAT.shown(a_debate(*said(*happened)), turn(key))


def test_voters_read_the_rebuttals_under_letters() -> None:
    debate = a_debate(*said(*(key for phase in PHASES for key in phase)))
    shown = council.FORMAT.shown(debate, turn("r1/ballot/security"))

    assert [(part.label, part.text) for part in shown] == [
        (f"Last word of the holder of Position {letter}", text)
        for letter, text in zip("ABC", REBUTTED, strict=True)
    ]
    assert [part.ends_shared for part in shown] == [False, False, True]
    assert council.FORMAT.shown(debate, turn("r0/ballot/security")) == []
