"""Slack's payloads, one example file each, read into values."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.slack.payloads import (
    ChannelEvent,
    Click,
    Command,
    Delivery,
    FormSubmission,
    Identity,
    Interaction,
    MessageEvent,
    MessageShortcut,
    Page,
    Payload,
    Refusal,
    SessionStopped,
    SlackChannel,
    SlackUser,
)

EXAMPLES = Path(__file__).parents[2] / "payloads"
READERS: dict[str, type[Payload]] = {
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
    "channel_facts": SlackChannel,
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
#: What is read of an answer, where that is not all of it.
IN_ANSWERS = {"users_info": "user", "channel_facts": "channel"}


def test_every_example_is_read_and_every_payload_has_an_example() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.json")} == set(READERS)
    for name, reader in READERS.items():
        example = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
        reader.model_validate(example[IN_ANSWERS[name]] if name in IN_ANSWERS else example)


def test_a_person_is_where_slack_says_or_in_utc() -> None:
    winter = datetime(2026, 1, 5, tzinfo=UTC)
    zones = {"Asia/Tokyo": 9, "America/Los_Angeles": -8, "Mars/Olympus": 0, "../x": 0, None: 0}
    for tz, hours in zones.items():
        zone = SlackUser.model_validate({"tz": tz}).zone
        assert winter.astimezone(zone).utcoffset() == timedelta(hours=hours), tz
