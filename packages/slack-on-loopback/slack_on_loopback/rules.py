"""Slack's rules about text, metadata, views, names and identity (pure).

Sources: https://docs.slack.dev/reference/methods, /surfaces/modals and /messaging/message-metadata.
"""

import re
from typing import Any

from pydantic_core import SchemaValidator

from slack_on_loopback.block_kit import plain
from slack_on_loopback.blocks import SurfaceKind, block_problems, too_long
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.json_values import Json, as_list, as_object, objects
from slack_on_loopback.schema import ANYTHING, FLAG, kind, many, need, problem, problems, string

POST_TEXT = 40_000
UPDATE_TEXT = 4_000
MOST_PINS = 100

_VIEW = {
    "callback_id": string(255, 0),
    "private_metadata": string(3000, 0),
}
_MODAL = kind(
    "modal",
    **_VIEW,
    title=need(plain(24)),
    blocks=need(many(ANYTHING, 100)),
    submit=plain(24),
    close=plain(24),
    submit_disabled=FLAG,
)
_HOME = kind("home", **_VIEW, blocks=need(many(ANYTHING, 100, 0)))
_VIEWS = {"modal": SchemaValidator(_MODAL), "home": SchemaValidator(_HOME)}


def cut_text(text: str) -> tuple[str, bool]:
    """Return a posted text within 40,000 characters and whether it was cut."""
    return text[:POST_TEXT], len(text) > POST_TEXT


def check_message_blocks(blocks: Any) -> list[Json]:
    """Return the blocks of a message.

    Raises:
        SlackRefusal: invalid_blocks_format, invalid_blocks, msg_blocks_too_long.
    """
    items = as_list(blocks)
    if items is None:
        raise SlackRefusal("invalid_blocks_format")
    faults = block_problems(items, "message")
    if faults:
        raise SlackRefusal("invalid_blocks", faults)
    if too_long(objects(items)):
        raise SlackRefusal("msg_blocks_too_long")
    return objects(items)


def check_view(value: Any, surface: SurfaceKind) -> Json:
    """Return a modal or home view that Slack would accept.

    Raises:
        SlackRefusal: invalid_arguments with the path of each problem.
    """
    view = as_object(value)
    if view is None:
        raise SlackRefusal("invalid_arguments", [problem("/view", "must be an object")])
    faults = list(problems(_VIEWS[surface], view, "/view"))
    faults += block_problems(view.get("blocks", []), surface, "/view/blocks")
    inputs = any(block.get("type") == "input" for block in objects(view.get("blocks")))
    if not faults and surface == "modal" and inputs and "submit" not in view:
        faults = [problem("/view", "missing required field: submit (the view has input blocks)")]
    if faults:
        raise SlackRefusal("invalid_arguments", faults)
    return view


def check_metadata(value: Any) -> Json | None:
    """Return message metadata, or None for the empty object that removes it.

    Raises:
        SlackRefusal: invalid_metadata_format, invalid_metadata_schema.
    """
    metadata = as_object(value)
    if metadata is None:
        raise SlackRefusal("invalid_metadata_format")
    if not metadata:
        return None
    event_type, payload = metadata.get("event_type"), as_object(metadata.get("event_payload"))
    if not isinstance(event_type, str) or not event_type or payload is None:
        raise SlackRefusal("invalid_metadata_format")
    if not all(_flat(item) for item in payload.values()):
        raise SlackRefusal("invalid_metadata_schema")
    return metadata


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _flat_object(value: Any) -> bool:
    fields = as_object(value)
    return fields is not None and all(_scalar(item) for item in fields.values())


def _flat(value: Any) -> bool:
    items = as_list(value)
    if items is not None:
        return all(_scalar(item) or _flat_object(item) for item in items)
    return _scalar(value) or _flat_object(value)


def check_channel_name(name: str) -> str:
    """Return a channel name that Slack would accept.

    Raises:
        SlackRefusal: invalid_name_required, invalid_name_maxlength, invalid_name_specials.
    """
    if not name:
        raise SlackRefusal("invalid_name_required")
    if len(name) > 80:  # noqa: PLR2004 Slack's limit, named by the error
        raise SlackRefusal("invalid_name_maxlength")
    if not re.fullmatch(r"[^\W_A-Z][\w-]*", name) or name != name.lower():
        raise SlackRefusal("invalid_name_specials")
    return name


def mentions(text: str, user_id: str) -> bool:
    return re.search(rf"<@{re.escape(user_id)}(\|[^>]*)?>", text) is not None


_KEPT = re.compile(r"<(?:[@#!][^<>]+|https?://[^<>]+|mailto:[^<>]+)>")


def as_typed(text: str, names: dict[str, str]) -> str:
    """Convert typed text as Slack does: entities escaped, @name and #name as ids.

    Args:
        text: the text as typed.
        names: `@name` or `#name` → `<@U…>` or `<#C…>`.
    """
    parts: list[str] = []
    end = 0
    for match in _KEPT.finditer(text):
        parts += [_plain(text[end : match.start()], names), match.group()]
        end = match.end()
    return "".join([*parts, _plain(text[end:], names)])


def _plain(text: str, names: dict[str, str]) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(
        r"(?<!\S)[@#][\w.-]*\w", lambda m: names.get(m.group().lower(), m.group()), escaped
    )
