"""Whose installation, which person, which words: read from any payload of Slack's, each once.

Slack writes each of the three into other fields for a command, an event, a click and a form, and
into others again where the app is installed for an organisation, where a channel is shared with
another company, or where an app posts in somebody's name. Payloads arrive unchecked here, so what
is missing or of a wrong type reads as empty.

Sources: https://docs.slack.dev/apis/events-api (the envelope of an event),
https://docs.slack.dev/apis/slack-connect (shared channels),
https://docs.slack.dev/reference/messaging/attachments.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

#: The account under which Slack itself posts: reminders, answers, notices.
SLACKBOT = "USLACKBOT"
#: What a person writes has one of these subtypes; every other one is an edit, a deletion, a join
#: or the post of an app. `me_message` is `/me`, `thread_broadcast` a reply that the channel sees.
WRITTEN_BY_PEOPLE = frozenset({"", "thread_broadcast", "file_share", "me_message"})
#: Slack's notice that stands in place of a deleted message which has replies.
DELETED = "tombstone"
#: Where the workspace stands, the surest place first: an event in a shared channel names the
#: workspace in which it happened as `team_id`, which may be another company's. Where the app is
#: installed for an organisation, `team` of a click is null; what was clicked is a message of ours.
_WORKSPACES = (
    ("view", "app_installed_team_id"),
    ("team", "id"),
    ("team",),
    ("authorizations", 0, "team_id"),
    ("context_team_id",),
    ("team_id",),
    ("message", "team"),
    ("user", "team_id"),
    ("view", "team_id"),
)
_ORGANISATIONS = (("enterprise", "id"), ("enterprise_id",), ("team", "enterprise_id"))
#: The same of an event that says to whom it is shown: its `enterprise_id` may be another company's.
_ORGANISATIONS_OF_EVENT = (("authorizations", 0, "enterprise_id"), ("context_enterprise_id",))
_PEOPLE = (
    ("user", "id"),
    ("user_id",),
    ("event", "user"),
    ("event", "user", "id"),
    ("event", "message", "user"),
    ("event", "previous_message", "user"),
)
_NAMES = (("user", "name"), ("user", "username"), ("user_name",))


def text_at(body: Any, *path: str | int) -> str:
    value = value_at(body, *path)
    return value if isinstance(value, str) else ""


def _link(element: Any) -> str:
    label = text_at(element, "text")
    return f"<{text_at(element, 'url')}|{label}>" if label else f"<{text_at(element, 'url')}>"


#: Elements of blocks that hold words, by type, and how they read as `mrkdwn`.
#: Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
_LEAVES: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(
        ("text", "plain_text", "mrkdwn", "markdown", "raw_text"),
        lambda element: text_at(element, "text"),
    ),
    "raw_number": lambda element: str(value_at(element, "value") or ""),
    "link": _link,
    "user": lambda element: f"<@{text_at(element, 'user_id')}>",
    "channel": lambda element: f"<#{text_at(element, 'channel_id')}>",
    "usergroup": lambda element: f"<!subteam^{text_at(element, 'usergroup_id')}>",
    "broadcast": lambda element: f"<!{text_at(element, 'range')}>",
    "emoji": lambda element: f":{text_at(element, 'name')}:",
    "date": lambda element: text_at(element, "fallback"),
    "image": lambda element: text_at(element, "alt_text"),
}
#: Blocks and elements that hold others: in which fields, and what parts those.
_CONTAINERS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "rich_text": (("elements",), "\n"),
    "rich_text_list": (("elements",), "\n"),
    "rich_text_section": (("elements",), ""),
    "rich_text_preformatted": (("elements",), ""),
    "rich_text_quote": (("elements",), ""),
    "section": (("text", "fields"), "\n"),
    "header": (("text",), ""),
    "context": (("elements",), " "),
    "table": (("rows",), "\n"),
}


class Origin(NamedTuple):
    """Where the app is installed that a payload was sent to."""

    workspace: str
    #: On Enterprise Grid; None: the workspace stands alone.
    organisation: str | None
    #: The app was installed for the whole organisation.
    is_org_wide: bool = False


class Author(NamedTuple):
    id: str
    #: Empty where the payload does not say it.
    name: str


class MessageText(NamedTuple):
    text: str
    #: Messages of others that it passes on, each with the name of its author.
    forwarded: tuple[str, ...] = ()


def installation_of(body: Mapping[str, Any]) -> Origin:
    """The installation that a payload was sent to; empty where it names none.

    Ids of workspaces begin with T; an organisation's, which may stand in their place, with E.
    """
    names = [name for path in _WORKSPACES if (name := text_at(body, *path))]
    workspaces = [name for name in names if name.startswith("T")]
    # `is_enterprise_install` of an event's authorization counts before the payload's own.
    is_org_wide = value_at(body, "authorizations", 0, "is_enterprise_install")
    if is_org_wide is None:
        is_org_wide = value_at(body, "is_enterprise_install")
    is_shown_to = value_at(body, "authorizations", 0) is not None
    organisations = _ORGANISATIONS_OF_EVENT if is_shown_to else _ORGANISATIONS
    return Origin(
        workspace=next(iter([*workspaces, *names]), ""),
        organisation=_first(body, organisations) or None,
        is_org_wide=is_org_wide in (True, "true"),
    )


def person_of(body: Mapping[str, Any]) -> Author:
    return Author(_first(body, _PEOPLE), _first(body, _NAMES))


def message_text(message: Mapping[str, Any]) -> MessageText:
    """What a message says to those who see it: its text or blocks, and its attachments.

    People's blocks repeat their text; the text of an app with blocks is for notifications only. The
    preview of a page that a message links to is nobody's words, and left out.
    """
    text, blocks = text_at(message, "text"), _blocks_text(message, "blocks")
    is_typed = text_at(message, "user") and not text_at(message, "bot_id")
    parts = [text or blocks if is_typed else blocks or text]
    forwarded = list[str]()
    for attachment in _objects(value_at(message, "attachments")):
        words = _attachment_words(attachment)
        if _is_forward(attachment, text):
            author = text_at(attachment, "author_name") or text_at(attachment, "author_subname")
            forwarded.append(f"[Forwarded from {author or 'another message'}: {words}]")
        elif not text_at(attachment, "from_url"):
            parts.append(words)
    return MessageText("\n".join(part for part in parts if part.strip()), tuple(forwarded))


def _is_forward(attachment: Mapping[str, Any], text: str) -> bool:
    is_unfurl = value_at(attachment, "is_msg_unfurl")
    is_linked = is_unfurl and text_at(attachment, "from_url") in text
    return bool(value_at(attachment, "is_share") or (is_unfurl and not is_linked))


def _attachment_words(attachment: Mapping[str, Any]) -> str:
    fields = (
        ": ".join(filter(None, (text_at(field, "title"), text_at(field, "value"))))
        for field in _objects(value_at(attachment, "fields"))
    )
    own = [*(text_at(attachment, name) for name in ("pretext", "title", "text")), *fields]
    return (
        _blocks_text(attachment, "blocks")
        or "\n".join(filter(None, own))
        or _blocks_text(attachment, "message_blocks")
        or text_at(attachment, "fallback")
    )


def _blocks_text(holder: Mapping[str, Any], name: str) -> str:
    return "\n".join(_texts_in(value_at(holder, name)))


def _texts_in(value: Any) -> Iterator[str]:
    """The texts of a block, or of a list of them; the cells of a table's row are one text."""
    for item in value if is_list(value) else [value]:
        text = " | ".join(_texts_in(item)) if is_list(item) else _text_of(item)
        if text.strip():
            yield text


def _text_of(element: Any) -> str:
    """The words of a block or of an element in it; what people press or choose is none."""
    kind = text_at(element, "type")
    if kind in _LEAVES:
        return _LEAVES[kind](element)
    fields, joint = _CONTAINERS.get(kind, ((), ""))
    return joint.join(text for name in fields for text in _texts_in(value_at(element, name)))


def _first(body: Mapping[str, Any], paths: Iterable[tuple[str | int, ...]]) -> str:
    return next((name for path in paths if (name := text_at(body, *path))), "")


def value_at(body: Any, *path: str | int) -> Any:
    for step in path:
        if isinstance(step, int):
            body = body[step] if is_list(body) and len(body) > step else None
        else:
            body = body.get(step) if is_object(body) else None
    return body


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if is_object(item)) if is_list(value) else iter(())


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def is_object(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, dict)
