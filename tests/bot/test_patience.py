"""The seconds that are built in keep what waits: Slack, `moot health`, a program over MCP."""

from dataclasses import astuple, fields

from bot.app import Parts
from bot.patience import USUAL, Patience
from bot.testing import UNHURRIED
from slack_on_loopback import SlackPace


def test_a_person_is_answered_before_slack_gives_up() -> None:
    slack_waits = SlackPace().ack_seconds
    assert slack_waits == 3.0
    assert USUAL.answer < slack_waits
    # The longest that is asked of Slack for one answer.
    assert USUAL.membership + USUAL.call <= USUAL.answer
    assert USUAL.thread + USUAL.names < USUAL.answer


def test_health_says_which_part_hangs_before_moot_health_gives_up() -> None:
    assert USUAL.check < 5.0


def test_a_program_over_mcp_is_answered_within_a_second() -> None:
    assert USUAL.estimate < 1.0


def test_a_bot_has_the_usual_patience_unless_a_test_gives_it_more() -> None:
    default = {one.name: one.default for one in fields(Parts)}["patience"]
    assert default == USUAL == Patience()
    assert all(
        ours >= 10 * usual for ours, usual in zip(astuple(UNHURRIED), astuple(USUAL), strict=True)
    )
