"""Slack's payloads, one example file each, read into values."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.slack import payloads
from bot.slack.payloads import (
    ChannelEvent,
    ChannelFacts,
    Click,
    Command,
    Delivery,
    FormSubmission,
    Identity,
    Interaction,
    MessageEvent,
    MessageShortcut,
    Page,
    Refusal,
    SessionStopped,
    SlackUser,
    plain,
)

EXAMPLES = Path(__file__).parents[2] / "payloads"
READERS: dict[str, type[payloads.Payload]] = {
    "command": Command,
    "command_in_direct_message": Command,
    "message_in_thread": MessageEvent,
    "message_thread_broadcast": MessageEvent,
    "message_changed": MessageEvent,
    "message_by_bot": MessageEvent,
    "app_mention": MessageEvent,
    "block_actions": Click,
    "block_actions_in_home": Click,
    "view_submission": FormSubmission,
    "block_actions_in_form": Click,
    "message_action": MessageShortcut,
    "app_home_opened": Interaction,
    "replies_page": Page,
    "channel_facts": ChannelFacts,
    "channels_page": Page,
    "agent_session_stopped": SessionStopped,
    "channel_archive": ChannelEvent,
    "channel_unarchive": ChannelEvent,
    "member_joined_channel": ChannelEvent,
    "app_uninstalled": Delivery,
    "tokens_revoked": Delivery,
    "users_info": SlackUser,
    "auth_test": Identity,
    "refusal_missing_scope": Refusal,
}


@pytest.mark.parametrize(
    ("tz", "hours"),
    [("Asia/Tokyo", 9), ("America/Los_Angeles", -8), ("Mars/Olympus", 0), ("../x", 0), ("", 0)],
)
def test_a_person_is_where_slack_says_or_in_utc(tz: str, hours: int):
    winter = datetime(2026, 1, 5, tzinfo=SlackUser.model_validate({"user": {"tz": tz}}).zone)
    assert winter.utcoffset() == timedelta(hours=hours)
    assert SlackUser.model_validate({"user": {"tz": None}}).zone.utcoffset(winter) == timedelta()


def example(name: str) -> Any:
    return json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))


def test_every_example_is_read_and_every_payload_has_an_example():
    assert {file.stem for file in EXAMPLES.glob("*.json")} == set(READERS)
    for name, reader in READERS.items():
        reader.model_validate(example(name))


def test_a_commands_text_is_what_was_typed():
    command = Command.model_validate(example("command"))
    assert command.words == "Postgres & Kafka, or one queue with latency < 50 ms?"
    assert not command.is_direct
    assert Command.model_validate(example("command_in_direct_message")).is_direct


def test_a_click_says_who_where_and_what():
    click = Click.model_validate(example("block_actions"))
    assert (click.user_id, click.channel_id, click.value) == ("U0ADA0001", "C0ARCH001", "dabcdefg")
    assert click.message_ts == "1763000000.000100"
    assert Click.model_validate(example("block_actions_in_home")).channel_id == ""


def test_a_click_without_actions_is_refused():
    with pytest.raises(ValidationError):
        Click.model_validate({**example("block_actions"), "actions": []})


def test_posts_are_recognised_by_the_key_in_their_metadata():
    page = Page.model_validate(example("replies_page"))
    assert [message.key for message in page.messages] == ["dabcdefg/board", ""]
    assert page.next_cursor == "bmV4dF90czoxNzYz"


def test_escaping_is_undone_once():
    assert plain("&amp;lt; &lt;!channel&gt;") == "&lt; <!channel>"
