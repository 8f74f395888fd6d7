"""Formats that plugins bring as agendas: which turns are ready, and what their agents are shown."""

import pytest
from pydantic import ValidationError

from core.models import Act, Agenda, Debate, Phase
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


def test_no_act_is_on_an_agenda_twice() -> None:
    phases = (Phase(act=Act.PROPOSAL), Phase(act=Act.ADJUST), Phase(act=Act.ADJUST))

    with pytest.raises(ValidationError, match="on the agenda once"):
        Agenda(name="twice", words="Twice", phases=phases)
