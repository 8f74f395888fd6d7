"""Formats that plugins bring as agendas: which turns are ready, and what their agents are shown."""

import pytest
from pydantic import ValidationError

from core.models import Act, Agenda, Debate, Phase
from core.request import PartKind
from core.rules.dependencies import dependencies
from core.rules.formats.registry import format_of
from core.testing import AN_AGENDA
from tests.core.rules.formats.told import (
    a_format_setup,
    failed,
    keys,
    of_all,
    refused,
    said,
    told,
    turn,
)

SETUP = a_format_setup(AN_AGENDA.name, agenda=AN_AGENDA)
PROPOSED = [*said(*of_all("r1/proposal/*"))]


def ready(debate: Debate, rounds: int = 1) -> list[str]:
    return keys(format_of(debate).ready(debate, rounds))


def test_it_begins_with_isolated_drafts() -> None:
    debate = told(SETUP)

    assert ready(debate, 0) == ready(debate) == of_all("r1/proposal/*")
    assert format_of(debate).drafts(debate) == {}


def test_a_turn_waits_for_its_own_last_one_and_for_all_that_it_hears() -> None:
    debate = told(SETUP, *said("r1/proposal/architect", "r1/proposal/security"))

    assert ready(debate) == ["r1/proposal/simplicity"]

    debate = told(SETUP, *PROPOSED, *said("r1/debate/architect", "r1/debate/security"))
    # Its refinement hears the others' answers, not its own.
    assert ready(debate) == ["r1/debate/simplicity"]
    assert list(dependencies(debate, turn("r1/debate/simplicity"))) == [
        "r1/proposal/simplicity",
        "r1/proposal/architect",
        "r1/proposal/security",
    ]


def test_who_loses_its_draft_is_out_and_nobody_waits_for_it() -> None:
    events = [*said("r1/proposal/architect", "r1/proposal/security")]
    debate = told(SETUP, *events, *failed("r1/proposal/simplicity"))

    assert format_of(debate).alive(debate) == ("architect", "security")
    assert ready(debate) == ["r1/debate/architect", "r1/debate/security"]
    assert "r1/proposal/simplicity" in dependencies(debate, turn("r1/debate/architect"))


def test_another_lost_turn_takes_nobody_out() -> None:
    debate = told(SETUP, *PROPOSED, *failed("r1/debate/architect"))

    assert "architect" in format_of(debate).alive(debate)
    assert ready(debate) == ["r1/debate/security", "r1/debate/simplicity"]


def test_whose_key_is_refused_is_out() -> None:
    debate = told(SETUP, *PROPOSED, *refused("r1/debate/architect"))

    assert format_of(debate).alive(debate) == ("security", "simplicity")


def test_one_alone_hears_nobody_and_says_nothing_more() -> None:
    lost = failed("r1/proposal/security", "r1/proposal/simplicity")
    debate = told(SETUP, *said("r1/proposal/architect"), *lost)

    assert ready(debate) == []


def test_what_was_heard_is_shown_and_ones_own_last() -> None:
    debates = said(*of_all("r1/debate/*"))
    debate = told(SETUP, *PROPOSED, *debates)
    parts = format_of(debate).shown(debate, turn("r1/refinement/security"))

    assert [(part.kind, part.label, part.text) for part in parts] == [
        (PartKind.POSITION, "Position A", "r1/proposal/architect"),
        (PartKind.POSITION, "Position C", "r1/proposal/simplicity"),
        (PartKind.CRITIQUE, "What the others said (debate), 1 of 2", "r1/debate/architect"),
        (PartKind.CRITIQUE, "What the others said (debate), 2 of 2", "r1/debate/simplicity"),
        (PartKind.OWN, "Your position, Position B", "r1/proposal/security"),
        (PartKind.OWN, "What you said before (debate)", "r1/debate/security"),
    ]


def test_the_newest_position_counts_and_voters_read_the_last_words() -> None:
    debate = told(
        SETUP,
        *PROPOSED,
        *said(*of_all("r1/debate/*"), "r1/refinement/architect", "r1/rebuttal/architect"),
    )
    form = format_of(debate)

    newest = {agent: made.turn.act for agent, made in form.positions(debate).items()}
    assert newest == {
        "architect": Act.REFINEMENT,
        "security": Act.PROPOSAL,
        "simplicity": Act.PROPOSAL,
    }
    [word] = form.shown(debate, turn("r1/ballot/security"))
    assert word.text == "r1/rebuttal/architect"
    assert form.shown(debate, turn("r0/ballot/security")) == []


def test_it_takes_as_many_turns_one_after_another_as_it_has_phases() -> None:
    happened, waves = list(said()), 0
    while found := ready(told(SETUP, *happened)):
        happened += said(*found)
        waves += 1
    debate = told(SETUP, *happened)

    assert waves == format_of(debate).longest_chain(1) == 4
    assert sorted(debate.contributions) == sorted(keys(format_of(debate).planned(debate, 1)))
    assert format_of(debate).planned(debate, 2) == ()


def test_no_act_is_on_an_agenda_twice() -> None:
    phases = (Phase(act=Act.PROPOSAL), Phase(act=Act.ADJUST), Phase(act=Act.ADJUST))

    with pytest.raises(ValidationError, match="on the agenda once"):
        Agenda(name="twice", words="Twice", phases=phases)
