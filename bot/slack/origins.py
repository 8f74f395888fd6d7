"""Reads the installation, the person and the text from any payload of Slack.

Their fields differ between commands, events, clicks and forms, and also if the app is installed for
an organisation, if a channel is shared with another company, or if an app posts as a user. Payloads
are not validated before, so a field that is missing or of a wrong type is read as empty.

Sources: https://docs.slack.dev/apis/events-api (the envelope of an event),
https://docs.slack.dev/apis/slack-connect (shared channels),
https://docs.slack.dev/reference/messaging/attachments.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

#: The account under which Slack itself posts: reminders, answers, notices.
SLACKBOT = "USLACKBOT"
#: Subtypes of messages that people write. All others are edits, deletions, joins or posts of apps.
#: `me_message` is `/me`; `thread_broadcast` is a reply that is also shown in the channel.
WRITTEN_BY_PEOPLE = frozenset({"", "thread_broadcast", "file_share", "me_message"})
#: Subtype of Slack's notice that replaces a deleted message with replies.
DELETED = "tombstone"
#: Paths to the id of the workspace, the most reliable first. In an event of a shared channel,
#: `team_id` is the workspace of the author, which may be another company's. In a click, `team` is
#: null if the app is installed for an organisation; then the message, which is ours, has it.
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
#: The same for events with `authorizations`: their `enterprise_id` may be another company's.
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


#: By type of an element: its text as `mrkdwn`.
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
#: By type of a block or element that contains others: the fields with them, and the separator.
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
    """The installation of the app that a payload was sent to."""

    workspace: str
    #: On Enterprise Grid; None: the workspace belongs to no organisation.
    organisation: str | None
    #: The app was installed for the whole organisation.
    is_org_wide: bool = False


class Author(NamedTuple):
    id: str
    #: Empty if the payload does not have it.
    name: str


class MessageText(NamedTuple):
    text: str
    #: Forwarded messages, each with the name of its author.
    forwarded: tuple[str, ...] = ()


def installation_of(body: Mapping[str, Any]) -> Origin:
    """The installation that a payload was sent to; its ids are empty if the payload has none.

    The fields can have the id of a workspace, which begins with T, or of an organisation (E).
    """
    ids = [id_ for path in _WORKSPACES if (id_ := text_at(body, *path))]
    workspaces = [id_ for id_ in ids if id_.startswith("T")]
    # `is_enterprise_install` of an event's authorization counts before the payload's own.
    is_org_wide = value_at(body, "authorizations", 0, "is_enterprise_install")
    if is_org_wide is None:
        is_org_wide = value_at(body, "is_enterprise_install")
    has_authorization = value_at(body, "authorizations", 0) is not None
    organisations = _ORGANISATIONS_OF_EVENT if has_authorization else _ORGANISATIONS
    return Origin(
        workspace=next(iter([*workspaces, *ids]), ""),
        organisation=_first(body, organisations) or None,
        is_org_wide=is_org_wide in (True, "true"),
    )


def person_of(body: Mapping[str, Any]) -> Author:
    return Author(_first(body, _PEOPLE), _first(body, _NAMES))


def message_text(message: Mapping[str, Any]) -> MessageText:
    """The text of a message as people see it: its text or blocks, and its attachments.

    Blocks of people repeat the text. The text of an app with blocks is for notifications only.
    Previews of linked pages are left out, because nobody wrote them.
    """
    text, blocks = text_at(message, "text"), _blocks_text(message, "blocks")
    is_by_person = text_at(message, "user") and not text_at(message, "bot_id")
    parts = [text or blocks if is_by_person else blocks or text]
    forwarded = list[str]()
    for attachment in _objects(value_at(message, "attachments")):
        attachment_text = _attachment_text(attachment)
        is_unfurl = value_at(attachment, "is_msg_unfurl")
        is_linked = is_unfurl and text_at(attachment, "from_url") in text
        if value_at(attachment, "is_share") or (is_unfurl and not is_linked):  # forwarded
            author = text_at(attachment, "author_name") or text_at(attachment, "author_subname")
            forwarded.append(f"[Forwarded from {author or 'another message'}: {attachment_text}]")
        elif not text_at(attachment, "from_url"):
            parts.append(attachment_text)
    return MessageText("\n".join(part for part in parts if part.strip()), tuple(forwarded))


def _attachment_text(attachment: Mapping[str, Any]) -> str:
    fields = (
        ": ".join(filter(None, (text_at(field, "title"), text_at(field, "value"))))
        for field in _objects(value_at(attachment, "fields"))
    )
    texts = [*(text_at(attachment, name) for name in ("pretext", "title", "text")), *fields]
    return (
        _blocks_text(attachment, "blocks")
        or "\n".join(filter(None, texts))
        or _blocks_text(attachment, "message_blocks")
        or text_at(attachment, "fallback")
    )


def _blocks_text(parent: Mapping[str, Any], name: str) -> str:
    return "\n".join(_texts_in(value_at(parent, name)))


def _texts_in(value: Any) -> Iterator[str]:
    """The texts of a block or a list of blocks; the cells of a table row are one text."""
    for item in value if is_list(value) else [value]:
        text = " | ".join(_texts_in(item)) if is_list(item) else _element_text(item)
        if text.strip():
            yield text


def _element_text(element: Any) -> str:
    """The text of a block or of an element in it; empty for buttons and menus."""
    kind = text_at(element, "type")
    if kind in _LEAVES:
        return _LEAVES[kind](element)
    fields, separator = _CONTAINERS.get(kind, ((), ""))
    return separator.join(text for name in fields for text in _texts_in(value_at(element, name)))


def _first(body: Mapping[str, Any], paths: Iterable[tuple[str | int, ...]]) -> str:
    return next((text for path in paths if (text := text_at(body, *path))), "")


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
