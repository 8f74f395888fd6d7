"""Format `panel`: when statements and the facilitator are ready, and what each of them sees."""

from collections.abc import Sequence

import pytest

from core.debate.gate import NextStep
from core.debate.log import Event
from core.debate.state import Debate
from core.rules.formats import panel
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    debate_with,
    decided,
    failed,
    keys,
    of_all,
    speeches,
)

FIRST = of_all("r1/statement/*")
SECOND = of_all("r2/statement/*")


def a_debate(*events: Event, rounds: int = 3) -> Debate:
    return debate_with(a_format_setup("panel", rounds=rounds), *events)


def ready(*events: Event, rounds: int = 3) -> Sequence[str]:
    return keys(panel.FORMAT.ready(a_debate(*events), rounds))


def test_in_a_log_of_an_older_version_the_vote_follows_its_call_at_once() -> None:
    before = [*speeches(*FIRST), decided(1, NextStep.GO_ON), *speeches(*SECOND)]

    assert ready(*before, decided(2, NextStep.VOTE), rounds=7) == []


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
    agents = panel.FORMAT.alive(a_debate(*failed(*missed), rounds=5))

    assert agents == tuple(agent for agent in AGENTS if agent != "security" or not is_out)
