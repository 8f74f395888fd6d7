"""The seconds that are built in keep what waits: Slack, `moot health`, a program over MCP."""

from dataclasses import astuple, fields

from bot.app import Parts
from bot.testing import UNHURRIED
from bot.timeouts import DEFAULT_TIMEOUTS
from slack_on_loopback import SlackPace


def test_a_person_is_answered_before_slack_gives_up() -> None:
    slack_waits = SlackPace().ack_seconds
    assert slack_waits == 3.0
    assert DEFAULT_TIMEOUTS.answer < slack_waits
    # The longest that is asked of Slack for one answer.
    assert DEFAULT_TIMEOUTS.membership + DEFAULT_TIMEOUTS.call <= DEFAULT_TIMEOUTS.answer
    assert DEFAULT_TIMEOUTS.thread + DEFAULT_TIMEOUTS.names < DEFAULT_TIMEOUTS.answer


def test_health_says_which_part_hangs_before_moot_health_gives_up() -> None:
    assert DEFAULT_TIMEOUTS.check < 5.0


def test_a_bot_has_the_default_timeouts_unless_a_test_gives_it_more() -> None:
    default = {field.name: field.default for field in fields(Parts)}["timeouts"]
    assert default == DEFAULT_TIMEOUTS
    assert all(
        ours >= 10 * default
        for ours, default in zip(astuple(UNHURRIED), astuple(DEFAULT_TIMEOUTS), strict=True)
    )
