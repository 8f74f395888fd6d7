"""Whose installation, which person, which words: payloads of every kind of install, as a table."""

from typing import Any

import pytest

from bot.slack.origins import Origin, installation_of, person_of, words_of
from bot.slack.payloads import PostedMessage

#: Ours, another company's, and the organisation of ours.
OURS, THEIRS, ORG = "T0OURS", "T0THEIRS", "E0ORG"


def event(fields: dict[str, Any] | None = None, **envelope: Any) -> dict[str, Any]:
    own = {"type": "message", "user": "U0ANN", "text": "x", "ts": "1.000001", **(fields or {})}
    return {"type": "event_callback", "team_id": OURS, "event": own, **envelope}


def shown_to(team: str | None, organisation: str | None = None, **more: Any) -> dict[str, Any]:
    authorization = {"team_id": team, "enterprise_id": organisation, "user_id": "U0MOOT", **more}
    return {"authorizations": [authorization]}


COMMAND = {"command": "/debate", "user_id": "U0ANN", "user_name": "ann", "team_id": OURS}
USER = {"id": "U0ANN", "name": "ann", "username": "ann", "team_id": OURS}
CLICK = {"type": "block_actions", "team": {"id": OURS, "domain": "x"}, "user": USER}
STRANGER = {"id": "U0ANN", "name": "ann", "team_id": THEIRS}

INSTALLATIONS: dict[str, tuple[dict[str, Any], Origin]] = {
    "single: a command": (COMMAND, Origin(OURS, None)),
    "single: an event": (event(), Origin(OURS, None)),
    "single: a click": (CLICK, Origin(OURS, None)),
    "OAuth: an event": (
        event(**shown_to(OURS, is_enterprise_install=False)),
        Origin(OURS, None),
    ),
    "OAuth in one workspace of an organisation: a command": (
        {**COMMAND, "enterprise_id": ORG, "is_enterprise_install": "false"},
        Origin(OURS, ORG),
    ),
    "OAuth in one workspace of an organisation: a form": (
        {**CLICK, "type": "view_submission", "enterprise": {"id": ORG, "name": "x"}},
        Origin(OURS, ORG),
    ),
    "organisation-wide: a command": (
        {**COMMAND, "enterprise_id": ORG, "is_enterprise_install": "true"},
        Origin(OURS, ORG, is_everywhere=True),
    ),
    "organisation-wide: an event names no workspace it is shown to": (
        event(
            enterprise_id=ORG,
            context_team_id=OURS,
            **shown_to(None, ORG, is_enterprise_install=True),
        ),
        Origin(OURS, ORG, is_everywhere=True),
    ),
    "organisation-wide: a click has no team": (
        {**CLICK, "team": None, "enterprise": {"id": ORG}, "is_enterprise_install": True},
        Origin(OURS, ORG, is_everywhere=True),
    ),
    "organisation-wide: a click of a stranger on a message of ours": (
        {
            **CLICK,
            "team": None,
            "enterprise": {"id": ORG},
            "is_enterprise_install": True,
            "user": STRANGER,
            "message": {"ts": "1.000001", "team": OURS},
        },
        Origin(OURS, ORG, is_everywhere=True),
    ),
    "Slack Connect: an event in another company's workspace": (
        event(
            team_id=THEIRS,
            enterprise_id="E0THEIRS",
            is_ext_shared_channel=True,
            context_team_id=OURS,
            context_enterprise_id=None,
            **shown_to(OURS, is_enterprise_install=False),
        ),
        Origin(OURS, None),
    ),
    "Slack Connect: an organisation stands in the place of a workspace": (
        event(team_id="E0THEIRS", context_team_id=OURS, **shown_to(None)),
        Origin(OURS, None),
    ),
    "Slack Connect: a click of a stranger": (
        {**CLICK, "user": STRANGER},
        Origin(OURS, None),
    ),
    "Slack Connect: a form that a stranger sent": (
        {
            **CLICK,
            "type": "view_submission",
            "team": {"id": THEIRS},
            "user": STRANGER,
            "view": {"app_installed_team_id": OURS, "team_id": THEIRS},
        },
        Origin(OURS, None),
    ),
    "removed from an organisation": (
        event({"type": "app_uninstalled"}, **shown_to(OURS, ORG, is_enterprise_install=True)),
        Origin(OURS, ORG, is_everywhere=True),
    ),
    "nobody's": ({"team": 5, "authorizations": "x", "user": []}, Origin("", None)),
}


@pytest.mark.parametrize("kind", INSTALLATIONS)
def test_everything_belongs_to_the_workspace_that_the_app_is_installed_in(kind: str) -> None:
    body, expected = INSTALLATIONS[kind]
    assert installation_of(body) == expected


PEOPLE: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "a command": (COMMAND, ("U0ANN", "ann")),
    "a click": (CLICK, ("U0ANN", "ann")),
    "a form without a name": ({"user": {"id": "U0ANN", "username": "ann"}}, ("U0ANN", "ann")),
    "a message": (event(), ("U0ANN", "")),
    "an edit": (
        event({"user": None, "message": {"user": "U0ANN"}, "subtype": "message_changed"}),
        ("U0ANN", ""),
    ),
    "a deletion": (event({"user": None, "previous_message": {"user": "U0ANN"}}), ("U0ANN", "")),
    "a change of a person": (event({"user": {"id": "U0ANN"}}), ("U0ANN", "")),
    "a webhook": (event({"user": None, "bot_id": "B1"}), ("", "")),
}


@pytest.mark.parametrize("kind", PEOPLE)
def test_the_person_is_found_in_every_payload(kind: str) -> None:
    body, expected = PEOPLE[kind]
    assert person_of(body) == expected


#: Of the message's own fields: whether a person may have written it, as far as it says.
AUTHORS: dict[str, tuple[dict[str, Any], bool]] = {
    "somebody": ({"user": "U0ANN"}, True),
    "with a file": ({"user": "U0ANN", "subtype": "file_share"}, True),
    "/me": ({"user": "U0ANN", "subtype": "me_message"}, True),
    "a reply for the channel, too": ({"user": "U0ANN", "subtype": "thread_broadcast"}, True),
    "an app in somebody's name": ({"user": "U0ANN", "bot_id": "B1", "app_id": "A1"}, True),
    "Slackbot": ({"user": "USLACKBOT"}, False),
    "a workflow": ({"bot_id": "B1", "subtype": "bot_message"}, False),
    "a webhook": ({"bot_id": "B1", "username": "alerts"}, False),
    "a join": ({"user": "U0ANN", "subtype": "channel_join"}, False),
    "a deleted message": ({"user": "USLACKBOT", "subtype": "tombstone"}, False),
}


@pytest.mark.parametrize("kind", AUTHORS)
def test_what_people_write_is_told_from_what_apps_and_slack_write(kind: str) -> None:
    fields, expected = AUTHORS[kind]
    message = PostedMessage.model_validate({"ts": "1.000001", "text": "x", **fields})
    assert message.may_be_of_person is expected


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    section = {"type": "rich_text_section", "elements": list(elements)}
    return {"type": "rich_text", "elements": [section]}


def section(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


WORD = {"type": "text", "text": "Disk of "}
HOST = {"type": "link", "url": "https://h.example.com", "text": "db7"}
FIELDS = [{"title": "Host", "value": "db7"}]
FORWARDED = {
    "is_share": True,
    "is_msg_unfurl": True,
    "author_name": "Priya",
    "text": "Redis lost 40 jobs.",
    "from_url": "https://x.slack.com/archives/C1/p1",
    "fallback": "[today] priya: Redis lost 40 jobs.",
}
LINKED = {key: value for key, value in FORWARDED.items() if key != "is_share"}
BY_APP = {"bot_id": "B1", "user": "U0BOT"}
BUTTON = {
    "type": "actions",
    "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Acknowledge"}}],
}

WORDS: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "a person's blocks repeat the text": (
        {"user": "U1", "text": "*Disk* of db7", "blocks": [rich(WORD, HOST)]},
        "*Disk* of db7",
        (),
    ),
    "a person's text is missing": (
        {"user": "U1", "text": "", "blocks": [rich(WORD, HOST)]},
        "Disk of <https://h.example.com|db7>",
        (),
    ),
    "an alert in an attachment": (
        {**BY_APP, "text": "", "attachments": [{"title": "Disk full", "fields": FIELDS}]},
        "Disk full\nHost: db7",
        (),
    ),
    "an alert in an attachment with nothing but its short form": (
        {**BY_APP, "text": "", "attachments": [{"fallback": "Disk full on db7"}]},
        "Disk full on db7",
        (),
    ),
    "an alert whose text says less": (
        {**BY_APP, "text": "Disk full", "blocks": [section("Disk full: *db7* at 99 %"), BUTTON]},
        "Disk full: *db7* at 99 %",
        (),
    ),
    "an alert whose text says all": (
        {**BY_APP, "text": "Disk full on db7 since noon", "blocks": [section("Disk full")]},
        "Disk full on db7 since noon",
        (),
    ),
    "an alert of several parts": (
        {
            **BY_APP,
            "text": "Alert",
            "blocks": [
                {"type": "header", "text": {"type": "plain_text", "text": "Disk"}},
                section("db7", fields=[{"type": "mrkdwn", "text": "99 %"}]),
                {"type": "context", "elements": [{"type": "plain_text", "text": "since noon"}]},
                {"type": "divider"},
            ],
        },
        "Alert\nDisk\ndb7\n99 %\nsince noon",
        (),
    ),
    "blocks within an attachment": (
        {
            **BY_APP,
            "text": "",
            "attachments": [{"blocks": [section("Disk full")], "color": "#f00"}],
        },
        "Disk full",
        (),
    ),
    "a table": (
        {
            **BY_APP,
            "text": "",
            "blocks": [
                {
                    "type": "table",
                    "rows": [
                        [{"type": "raw_text", "text": "Host"}, {"type": "raw_text", "text": "Use"}],
                        [{"type": "raw_text", "text": "db7"}, {"type": "raw_number", "value": 99}],
                    ],
                }
            ],
        },
        "Host | Use\ndb7 | 99",
        (),
    ),
    "a forwarded message": (
        {"user": "U1", "text": "<@U0MOOT> what now?", "attachments": [FORWARDED]},
        "<@U0MOOT> what now?",
        ("[Forwarded from Priya: Redis lost 40 jobs.]",),
    ),
    "a forwarded message without a comment": (
        {"user": "U1", "text": "", "attachments": [LINKED]},
        "",
        ("[Forwarded from Priya: Redis lost 40 jobs.]",),
    ),
    "a message that is linked to": (
        {"user": "U1", "text": f"see <{LINKED['from_url']}>", "attachments": [LINKED]},
        f"see <{LINKED['from_url']}>",
        (),
    ),
    "the preview of a page": (
        {
            "user": "U1",
            "text": "see <https://e.org>",
            "attachments": [{"from_url": "https://e.org", "title": "E", "text": "An essay."}],
        },
        "see <https://e.org>",
        (),
    ),
    "what no payload holds": (
        {"text": 5, "blocks": [None, {"type": []}, [3]], "attachments": {"x": 1}},
        "",
        (),
    ),
}


@pytest.mark.parametrize("kind", WORDS)
def test_all_words_of_a_message_are_read_once(kind: str) -> None:
    message, text, forwarded = WORDS[kind]
    assert words_of(message) == (text, forwarded)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("<@U0MOOT> Kafka or PostgreSQL?", True),
        ("Kafka or PostgreSQL, <@U0MOOT|moot>?", True),
        ("type `<@U0MOOT> Kafka or PostgreSQL?`", False),
        ("```\n<@U0MOOT> Kafka?\n```", False),
        ("```\n<@U0MOOT> Kafka?", False),
        ("&gt; <@U0MOOT> Kafka or PostgreSQL?\nI am for Kafka.", False),
        ("&gt; Kafka or PostgreSQL?\n<@U0MOOT> what of this?", True),
        ("`a` <@U0MOOT> `b`", True),
        ("<@U0OTHER>", False),
    ],
)
def test_a_mention_in_code_or_in_a_quote_calls_nobody(text: str, *, calls: bool) -> None:
    message = PostedMessage.model_validate({"ts": "1.000001", "user": "U1", "text": text})
    assert message.mentions("U0MOOT") is calls
