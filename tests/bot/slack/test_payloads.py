"""Slack's payloads, with an example file each: installation, person and text."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.slack.origins import Origin, installation_of, message_text
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
    PostedMessage,
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
#: The part of a response that is read, if not all of it.
IN_RESPONSES = {"users_info": "user", "channel_facts": "channel"}


def test_every_example_is_read_and_every_payload_has_an_example() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.json")} == set(READERS)
    for name, reader in READERS.items():
        example = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
        reader.model_validate(example[IN_RESPONSES[name]] if name in IN_RESPONSES else example)


def test_the_time_zone_of_a_person_is_utc_if_unknown() -> None:
    winter = datetime(2026, 1, 5, tzinfo=UTC)
    zones = {"Asia/Tokyo": 9, "America/Los_Angeles": -8, "Mars/Olympus": 0, "../x": 0, None: 0}
    for tz, hours in zones.items():
        zone = SlackUser.model_validate({"tz": tz}).zone
        assert winter.astimezone(zone).utcoffset() == timedelta(hours=hours), tz


#: Ours, another company's, and the organisation of ours.
OURS, THEIRS, ORG = "T0OURS", "T0THEIRS", "E0ORG"
Body = dict[str, Any]


def event(fields: Body | None = None, **envelope: Any) -> Body:
    message = {"type": "message", "user": "U0ANN", "text": "x", "ts": "1.000001", **(fields or {})}
    return {"type": "event_callback", "team_id": OURS, "event": message, **envelope}


def shown_to(team: str | None, organisation: str | None = None, **more: Any) -> Body:
    authorization = {"team_id": team, "enterprise_id": organisation, "user_id": "U0MOOT", **more}
    return {"authorizations": [authorization]}


COMMAND = {"command": "/debate", "user_id": "U0ANN", "user_name": "ann", "team_id": OURS}
USER = {"id": "U0ANN", "name": "ann", "username": "ann", "team_id": OURS}
CLICK = {"type": "block_actions", "team": {"id": OURS, "domain": "x"}, "user": USER}
BY_STRANGER = {"user": {"id": "U0ANN", "name": "ann", "team_id": THEIRS}}
EVERYWHERE = {"enterprise": {"id": ORG}, "team": None, "is_enterprise_install": True}
ALONE, IN_ORG = Origin(OURS, None), Origin(OURS, ORG)
ORG_WIDE = Origin(OURS, ORG, is_org_wide=True)

INSTALLATIONS: dict[str, tuple[Body, Origin]] = {
    "single: an event": (event(), ALONE),
    "single: a click": (CLICK, ALONE),
    "OAuth: an event": (event(**shown_to(OURS, is_enterprise_install=False)), ALONE),
    "OAuth in one workspace of an organisation: a form": (
        {**CLICK, "type": "view_submission", "enterprise": {"id": ORG, "name": "x"}},
        IN_ORG,
    ),
    "organisation-wide: a command": (
        {**COMMAND, "enterprise_id": ORG, "is_enterprise_install": "true"},
        ORG_WIDE,
    ),
    "organisation-wide: an event names no workspace it is shown to": (
        event(context_team_id=OURS, **shown_to(None, ORG, is_enterprise_install=True)),
        ORG_WIDE,
    ),
    "organisation-wide: a click has no team": ({**CLICK, **EVERYWHERE}, ORG_WIDE),
    "organisation-wide: a click of a stranger on a message of ours": (
        {**CLICK, **EVERYWHERE, **BY_STRANGER, "message": {"ts": "1.000001", "team": OURS}},
        ORG_WIDE,
    ),
    "Slack Connect: an event in another company's workspace": (
        event(team_id=THEIRS, enterprise_id="E0THEIRS", context_team_id=OURS, **shown_to(OURS)),
        ALONE,
    ),
    "Slack Connect: an organisation stands in the place of a workspace": (
        event(team_id="E0THEIRS", context_team_id=OURS, **shown_to(None)),
        ALONE,
    ),
    "Slack Connect: a click of a stranger": ({**CLICK, **BY_STRANGER}, ALONE),
    "Slack Connect: a form that a stranger sent": (
        {
            **CLICK,
            **BY_STRANGER,
            "type": "view_submission",
            "team": {"id": THEIRS},
            "view": {"app_installed_team_id": OURS, "team_id": THEIRS},
        },
        ALONE,
    ),
    "nobody's": ({"team": 5, "authorizations": "x", "user": []}, Origin("", None)),
}


@pytest.mark.parametrize("kind", INSTALLATIONS)
def test_a_payload_belongs_to_the_workspace_of_the_installation(kind: str) -> None:
    body, expected = INSTALLATIONS[kind]
    assert installation_of(body) == expected


def section(text: str, **more: Any) -> Body:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def plain(kind: str, text: str) -> Body:
    return {"type": kind, "text": {"type": "plain_text", "text": text}}


def by_app(text: str, *blocks: Body, attachment: Body | None = None) -> Body:
    message = {"bot_id": "B1", "user": "U0", "text": text, "blocks": blocks}
    return {**message, "attachments": [attachment] if attachment else []}


def by_person(text: str, attachment: Body | None = None) -> Body:
    return {"user": "U1", "text": text, "attachments": [attachment] if attachment else []}


WORD = {"type": "text", "text": "Disk of "}
HOST = {"type": "link", "url": "https://h.example.com", "text": "db7"}
RICH = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [WORD, HOST]}]}
PAGE = "https://x.slack.com/archives/C1/p1"
LINKED = {"is_msg_unfurl": True, "author_name": "Priya", "text": "Lost jobs.", "from_url": PAGE}
PRIYAS = "[Forwarded from Priya: Lost jobs.]"
ROWS = [
    [{"type": "raw_text", "text": "Host"}, {"type": "raw_text", "text": "Use"}],
    [{"type": "raw_text", "text": "db7"}, {"type": "raw_number", "value": 99}],
]
PARTS = (
    plain("header", "Disk"),
    section("db7", fields=[{"type": "mrkdwn", "text": "99 %"}]),
    {"type": "context", "elements": [{"type": "plain_text", "text": "since noon"}]},
    {"type": "divider"},
    {"type": "actions", "elements": [plain("button", "Acknowledge")]},
)

#: A message, its text, and the messages that it forwards.
MESSAGES: dict[str, tuple[Body, str, *tuple[str, ...]]] = {
    "a person's blocks repeat the text": ({**by_person("*D*"), "blocks": [RICH]}, "*D*"),
    "a person's text is missing": (
        {**by_person(""), "blocks": [RICH]},
        "Disk of <https://h.example.com|db7>",
    ),
    "an alert in an attachment": (
        by_app("", attachment={"title": "Disk", "fields": [{"title": "H", "value": "db7"}]}),
        "Disk\nH: db7",
    ),
    "its short form only": (by_app("", attachment={"fallback": "Disk full"}), "Disk full"),
    "an alert whose text is for notifications": (by_app("Full!", section("*db7*")), "*db7*"),
    "an alert with a button only": (by_app("Full", PARTS[-1]), "Full"),
    "an alert of parts": (by_app("Alert", *PARTS), "Disk\ndb7\n99 %\nsince noon"),
    "blocks in an attachment": (by_app("", attachment={"blocks": [section("Full")]}), "Full"),
    "a table": (by_app("", {"type": "table", "rows": ROWS}), "Host | Use\ndb7 | 99"),
    "a forwarded message": (by_person("now?", {**LINKED, "is_share": True}), "now?", PRIYAS),
    "a forwarded message without a comment": (by_person("", LINKED), "", PRIYAS),
    "a message that is linked to": (by_person(f"see <{PAGE}>", LINKED), f"see <{PAGE}>"),
    "the preview of a page": (
        by_person("see <https://e.org>", {"from_url": "https://e.org", "text": "An essay."}),
        "see <https://e.org>",
    ),
    "what no payload holds": (
        {"text": 5, "blocks": [None, {"type": []}, [3]], "attachments": {"x": 1}},
        "",
    ),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_all_text_of_a_message_is_read_once(kind: str) -> None:
    message, text, *forwarded = MESSAGES[kind]
    assert message_text(message) == (text, tuple(forwarded))


def test_a_mention_in_code_or_in_a_quote_does_not_count() -> None:
    for text, calls in (
        ("Kafka or PostgreSQL, <@U0MOOT|moot>?", True),
        ("`a` <@U0MOOT> `b`", True),
        ("&gt; Kafka?\n<@U0MOOT> what of this?", True),
        ("```\n<@U0MOOT> Kafka?", False),
        ("type `<@U0MOOT> Kafka?`", False),
        ("&gt; <@U0MOOT> Kafka?\nI am for Kafka.", False),
    ):
        message = PostedMessage.model_validate({"ts": "1.000001", "user": "U1", "text": text})
        assert message.mentions("U0MOOT") is calls, text
