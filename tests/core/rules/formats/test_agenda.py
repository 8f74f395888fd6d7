"""Formats that plugins bring as agendas: which turns are ready, and what their agents are shown."""

import pytest
from pydantic import ValidationError

from core.debate.agenda import Agenda, Phase
from core.debate.state import Debate
from core.debate.turn import Act
from core.rules.formats.registry import format_of
from tests.core.rules.formats.told import (
    keys,
)


def ready(debate: Debate, rounds: int = 1) -> list[str]:
    return keys(format_of(debate).ready(debate, rounds))


def test_no_act_is_on_an_agenda_twice() -> None:
    phases = (Phase(act=Act.PROPOSAL), Phase(act=Act.ADJUST), Phase(act=Act.ADJUST))

    with pytest.raises(ValidationError, match="on the agenda once"):
        Agenda(name="twice", words="Twice", phases=phases)
