"""Names of options beside their bars."""

from collections.abc import Sequence
from typing import Any

import pytest

from bot.views.vote import in_figures
from core.debate.state import Debate
from core.debate.turn_events import BallotCast, VoteTallied
from core.rules.options import options_of
from core.rules.voting import count
from tests.core.rules.formats.told import (
    AGENTS,
    a_format_setup,
    debate_with,
    of_all,
    options,
    speeches,
    voted,
)

LONG = "Export only what changed since the last run"


def counted(*names: str) -> Debate:
    """A debate in which all held the first option the better one."""
    cast = [voted(1, agent, o1=0.8, o2=0.2) for agent in AGENTS]
    events = [*speeches(*of_all("r1/proposal/*")), options(*names), *cast]
    debate = debate_with(a_format_setup("critique"), *events)
    ballots = [event.ballot for event in cast if isinstance(event, BallotCast)]
    positions: dict[str, str] = dict.fromkeys(AGENTS, "o1")
    tally = count(positions, ballots, options=options_of(debate))
    return debate_with(a_format_setup("critique"), *events, VoteTallied(tally=tally))


@pytest.mark.parametrize(
    ("names", "bars", "rows"),
    [
        (("Kafka", "SQS"), ["Kafka", "SQS"], ["Kafka", "SQS"]),
        ((LONG, f"{LONG}, nightly"), ["1", "2"], [f"1. {LONG}", f"2. {LONG}, nightly"]),
    ],
)
def test_a_name_that_does_not_fit_its_bar_stands_whole_beside_a_number(
    names: Sequence[str], bars: Sequence[str], rows: Sequence[str]
) -> None:
    debate = counted(*names)
    assert debate.tally
    blocks: list[Any] = in_figures(debate, debate.tally)
    chart = next(block for block in blocks if block["type"] == "data_visualization")
    table = next(block for block in blocks if block["type"] == "table")

    assert chart["chart"]["axis_config"]["categories"] == bars
    assert [row[0]["text"] for row in table["rows"][1:]] == rows
