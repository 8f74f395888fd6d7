"""Views in cases of their own: what failed, letters, long names, texts of many posts."""

from typing import Any

import pytest

from bot.views.board import board
from bot.views.group_post import group_post, turn
from bot.views.message import MOST_PAGES, PAGE_LIMIT, in_pages
from bot.views.notices import source_line
from bot.views.options import option_labels
from bot.views.verdict import shortcomings
from bot.views.vote import in_figures
from core.debate.contributions import Contribution, Failure, Summary, SummaryKind
from core.debate.evidence import Source, SourceKind, SourceReference
from core.debate.people import Person
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    ContributionMade,
    SummaryMade,
    TurnFailed,
)
from core.debate.vote import Option
from core.rules.options import options_of
from core.rules.voting import count
from core.testing import a_setup
from tests.bot.plays import a_debate, a_verdict
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
PAGE = "x" * (PAGE_LIMIT - 10)
SUMMARY_TURN = Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER)


def test_the_board_says_what_is_read_in_the_place_of_a_summary_that_failed() -> None:
    failed = TurnFailed(failure=Failure(turn=SUMMARY_TURN, reason="Groq failed (500)."))

    assert "Groq failed (500). The full text is used." in board(a_debate(failed)).text


def test_letters_are_explained_below_posts_and_the_boards_summary() -> None:
    text = "**Still PostgreSQL.** Position B forgets backups, and C's answer overlooks it."
    contribution = Contribution(turn=Turn(act=Act.DEBATE, round=1, agent="architect"), text=text)
    summary = Summary(
        turn=SUMMARY_TURN,
        kind=SummaryKind.ROUND,
        text=text,
        before_chars=900,
        after_chars=len(text),
        method="rounds",
    )
    events = [ContributionMade(contribution=contribution), SummaryMade(summary=summary)]
    debate = a_debate(*events, setup=a_setup().model_copy(update={"format": "council"}))

    views = (group_post(debate, [contribution]), turn(debate, contribution)[-1], board(debate))
    for view in views:
        assert "B is Security, C is Simplicity." in str(view.blocks)


def test_a_name_that_does_not_fit_its_bar_stands_whole_beside_a_number() -> None:
    events = [
        *speeches(*of_all("r1/proposal/*")),
        options(LONG, f"{LONG}, nightly"),
        *(voted(1, agent, o1=0.8, o2=0.2) for agent in AGENTS),
    ]
    debate = debate_with(a_format_setup("critique"), *events)
    ballots = [*debate.ballots.values()]
    tally = count(dict.fromkeys(AGENTS, "o1"), ballots, options=options_of(debate))
    blocks: list[Any] = in_figures(debate, tally)
    chart = next(block for block in blocks if block["type"] == "data_visualization")
    table = next(block for block in blocks if block["type"] == "table")

    assert chart["chart"]["axis_config"]["categories"] == ["1", "2"]
    names = [row[0]["text"] for row in table["rows"][1:]]
    assert names == [f"1. {LONG}", f"2. {LONG}, nightly"]


def test_options_that_differ_late_have_labels_that_differ() -> None:
    begin = "Keep every job of the payment service in one queue that all teams of the house share, "
    ends = (f"{begin}run by the platform team with {name}" for name in ("Kafka", "PostgreSQL"))
    items = [Option(id=f"o{number}", name=name) for number, name in enumerate(ends)]

    assert list(option_labels(items).values()) == [
        "…platform team with Kafka",
        "…platform team with PostgreSQL",
    ]


@pytest.mark.parametrize("address", ["https://s.test/F1", "https://s.test/F1/last-night.log"])
def test_a_file_whose_name_reads_as_an_address_keeps_its_name(address: str) -> None:
    reference = SourceReference(
        kind=SourceKind.FILE,
        title="last-night.log",
        address=address,
        fetch="F1",
        by=Person(id="U1"),
    )
    reading = Turn(act=Act.READING, round=0, agent="reader", target="1")
    text = source_line(Source(turn=reading, reference=reference, text="11:02 begun")).text

    assert f"Agents quote last-night.log (<{address}|open>) as `e1`:" in text


def test_text_of_too_many_posts_says_how_many_it_lacks() -> None:
    assert in_pages("\n\n".join([PAGE] * MOST_PAGES)) == [PAGE] * MOST_PAGES
    *texts, last = in_pages("\n\n".join([PAGE] * (MOST_PAGES + 2)))
    assert texts == [PAGE] * (MOST_PAGES - 1)
    assert "3 more posts are left out" in last


def test_a_banner_of_warnings_has_no_more_lines_than_it_has_room_for() -> None:
    for size in range(20, 120):  # so that some last line just fits, and some just does not
        warnings = tuple(f"{number:02} {'x' * size}" for number in range(90))
        _, *lines, last = shortcomings(a_debate(), a_verdict(warnings=warnings)).split("\n")

        assert last == "• …"
        assert len("\n".join(lines)) < 1200
