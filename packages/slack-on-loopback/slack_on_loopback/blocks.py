"""Block Kit's blocks: shapes, limits, and what a whole message or view may hold (pure).

Source: https://docs.slack.dev/reference/block-kit/blocks and slack_sdk's models. The total size
of a message's blocks is not documented; it was reported at about 13,200 characters (bolt-js#2509)
and counts the containers too, so it is measured on the compact JSON.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from slack_on_loopback.checks import (
    Check,
    Rule,
    anything,
    at_least_one,
    choice,
    either,
    flag,
    many,
    problem,
    shape,
    string,
    tagged,
)
from slack_on_loopback.elements import (
    ACCESSORIES,
    ACTION_ELEMENTS,
    BUTTONS,
    CONTEXT_ACTIONS,
    CONTEXT_ELEMENTS,
    IDENTIFIER,
    IMAGE,
    INPUT_ELEMENTS,
    SLACK_FILE,
    URL,
    any_text,
    plain_text,
)
from slack_on_loopback.json_values import Json, as_list, compact, objects, text_at
from slack_on_loopback.rich_text import RICH_TEXT

SurfaceKind = Literal["message", "modal", "home"]
MOST_BLOCKS: dict[SurfaceKind, int] = {"message": 50, "modal": 100, "home": 100}
MOST_BLOCK_CHARACTERS = 13_200
MOST_MARKDOWN_CHARACTERS = 12_000


def _block(
    name: str,
    required: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
    *rules: Rule,
) -> Check:
    base = {"type": choice(name), **(required or {})}
    return shape(base, {"block_id": IDENTIFIER, **(optional or {})}, *rules)


def _collapse_rule(found: Json) -> str | None:
    if found.get("is_collapsible") and found.get("has_header_divider"):
        return "has_header_divider cannot be set when is_collapsible is true"
    return None


def _children(value: Any, path: str) -> Iterator[str]:
    """Blocks inside a block; late, because a container holds blocks again."""
    yield from tagged(BLOCKS, "block")(value, path)


_CELL = tagged(
    {
        "raw_text": shape({"type": choice("raw_text"), "text": string(3000)}),
        "raw_number": shape(
            {"type": choice("raw_number"), "value": anything}, {"text": string(3000)}
        ),
        "rich_text": RICH_TEXT,
    },
    "table cell",
)
_COLUMN = shape({}, {"align": choice("left", "center", "right"), "is_wrapped": flag})
_SOURCE = shape({"type": choice("url"), "url": URL, "text": string(3000)})
_TASK = _block(
    "task_card",
    {
        "task_id": IDENTIFIER,
        "title": string(3000),
        "status": choice("pending", "in_progress", "complete", "error"),
    },
    {"details": RICH_TEXT, "output": RICH_TEXT, "sources": many(_SOURCE, 100)},
)
_CARD = _block(
    "card",
    None,
    {
        "hero_image": IMAGE,
        "icon": IMAGE,
        "title": any_text(150),
        "subtitle": any_text(150),
        "body": any_text(200),
        "actions": many(tagged(BUTTONS, "card action"), 25),
    },
    at_least_one("hero_image", "title", "actions", "body"),
)
BLOCKS: dict[str, Check] = {
    "section": _block(
        "section",
        None,
        {
            "text": any_text(3000),
            "fields": many(any_text(2000), 10),
            "accessory": tagged(ACCESSORIES, "section accessory"),
            "expand": flag,
        },
        at_least_one("text", "fields"),
    ),
    "divider": _block("divider"),
    "image": _block(
        "image",
        {"alt_text": string(2000)},
        {"image_url": URL, "slack_file": SLACK_FILE, "title": plain_text(2000)},
        either("image_url", "slack_file"),
    ),
    "actions": _block("actions", {"elements": many(tagged(ACTION_ELEMENTS, "action element"), 25)}),
    "context": _block(
        "context", {"elements": many(tagged(CONTEXT_ELEMENTS, "context element"), 10)}
    ),
    "context_actions": _block(
        "context_actions",
        {"elements": many(tagged(CONTEXT_ACTIONS, "context_actions element"), 5)},
    ),
    "input": _block(
        "input",
        {"label": plain_text(2000), "element": tagged(INPUT_ELEMENTS, "input element")},
        {"hint": plain_text(2000), "optional": flag, "dispatch_action": flag},
    ),
    "file": _block("file", {"external_id": IDENTIFIER, "source": choice("remote")}),
    "call": _block(
        "call", {"call_id": IDENTIFIER}, {"api_decoration_available": flag, "call": anything}
    ),
    "header": _block("header", {"text": plain_text(150)}),
    "markdown": _block("markdown", {"text": string(MOST_MARKDOWN_CHARACTERS)}),
    "video": _block(
        "video",
        {
            "alt_text": string(2000),
            "title": plain_text(199),
            "thumbnail_url": URL,
            "video_url": URL,
        },
        {
            "title_url": URL,
            "description": plain_text(200),
            "provider_icon_url": URL,
            "provider_name": string(200),
            "author_name": string(49),
        },
    ),
    "rich_text": RICH_TEXT,
    "table": _block(
        "table",
        {"rows": many(many(_CELL, 20), 100)},
        {"column_settings": many(_COLUMN, 20, 0)},
    ),
    "task_card": _TASK,
    "plan": _block("plan", {"title": string(3000)}, {"tasks": many(_TASK, 50, 0)}),
    "alert": _block(
        "alert",
        {"text": any_text(3000)},
        {"level": choice("default", "info", "warning", "error", "success")},
    ),
    "card": _CARD,
    "carousel": _block("carousel", {"elements": many(_CARD, 10)}),
    "container": _block(
        "container",
        {"child_blocks": many(_children, 10)},
        {
            "title": plain_text(150),
            "rich_text_title": RICH_TEXT,
            "subtitle": any_text(150),
            "width": choice("narrow", "standard", "wide", "full"),
            "icon": IMAGE,
            "is_collapsible": flag,
            "default_collapsed": flag,
            "has_header_divider": flag,
        },
        at_least_one("title", "rich_text_title"),
        _collapse_rule,
    ),
    "auth_provider": _block(
        "auth_provider",
        {"value": string(150), "name": plain_text(75), "is_connected": flag},
        {
            "description": plain_text(150),
            "icon_url": URL,
            "auth_url": URL,
            "disconnect_url": URL,
            "connected_identity": plain_text(75),
            "connected_context": plain_text(75),
            "accessory": tagged({"overflow": BUTTONS["overflow"]}, "auth_provider accessory"),
            "fallback": many(_children, 10),
        },
    ),
}
# Where a block may not be. An alert outside a modal is refused (node-slack-sdk#2567).
_FORBIDDEN: dict[SurfaceKind, frozenset[str]] = {
    "message": frozenset({"alert", "auth_provider"}),
    "modal": frozenset(
        {"file", "table", "task_card", "plan", "context_actions", "markdown", "call"}
    ),
    "home": frozenset(
        {"alert", "file", "table", "task_card", "plan", "context_actions", "markdown", "call"}
    ),
}


def block_problems(value: Any, surface: SurfaceKind, path: str = "/blocks") -> list[str]:
    """Return what Slack would refuse about a list of blocks; empty when all is well."""
    items = as_list(value)
    if items is None:
        return [problem(path, "must be an array")]
    found = list(many(tagged(BLOCKS, "block"), MOST_BLOCKS[surface], 0)(items, path))
    return found + _together(objects(items), surface, path)


def too_long(blocks: list[Json]) -> bool:
    """Whether a message's blocks are too long together (`msg_blocks_too_long`)."""
    return len(compact(blocks)) > MOST_BLOCK_CHARACTERS


def _together(blocks: list[Json], surface: SurfaceKind, path: str) -> list[str]:
    return [
        *_misplaced(blocks, surface, path),
        *_repeated_ids(blocks, path),
        *_cumulative(blocks, path),
    ]


def _misplaced(blocks: list[Json], surface: SurfaceKind, path: str) -> Iterator[str]:
    for index, block in enumerate(blocks):
        kind = block.get("type")
        if kind in _FORBIDDEN[surface]:
            yield problem(f"{path}/{index}", f"block type not allowed in a {surface}: {kind}")


def _repeated_ids(blocks: list[Json], path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        block_id = text_at(block, "block_id")
        if block_id and block_id in seen:
            yield problem(f"{path}/{index}/block_id", f"`block_id` {block_id} already exists")
        seen.add(block_id)
        yield from _repeated_actions(block, f"{path}/{index}")


def _repeated_actions(block: Json, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, element in enumerate(objects(block.get("elements"))):
        action_id = text_at(element, "action_id")
        if action_id and action_id in seen:
            yield problem(
                f"{path}/elements/{index}/action_id", f"`action_id` {action_id} already exists"
            )
        seen.add(action_id)


def _cumulative(blocks: list[Json], path: str) -> Iterator[str]:
    markdown = sum(len(text_at(b, "text")) for b in blocks if b.get("type") == "markdown")
    if markdown > MOST_MARKDOWN_CHARACTERS:
        words = f"all markdown blocks together must be less than {MOST_MARKDOWN_CHARACTERS + 1}"
        yield problem(path, f"{words} characters")
    if sum(b.get("type") == "table" for b in blocks) > 1:
        yield problem(path, "only_one_table_allowed")


def with_ids(blocks: list[Json], prefix: str) -> list[Json]:
    """Return the blocks with the ids that Slack fills in where the app gave none."""
    return [_with_id(block, f"{prefix}{index}") for index, block in enumerate(blocks)]


def _with_id(block: Json, name: str) -> Json:
    filled = {**block, "block_id": block.get("block_id") or name}
    elements = as_list(block.get("elements"))
    if elements is not None and block.get("type") in {"actions", "context_actions"}:
        filled["elements"] = [
            _with_action(e, f"{name}a{i}") for i, e in enumerate(objects(elements))
        ]
    for key in ("accessory", "element"):
        element = block.get(key)
        if isinstance(element, dict):
            filled[key] = _with_action(objects([element])[0], f"{name}{key[0]}")
    return filled


def _with_action(element: Json, name: str) -> Json:
    if element.get("type") == "image":
        return element
    return {**element, "action_id": element.get("action_id") or name}


def interactive_elements(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    """Yield (block_id, element) for everything in the blocks that people can use."""
    for block in blocks:
        block_id = text_at(block, "block_id")
        found = [*objects(block.get("elements")), *objects([block.get("accessory")])]
        found += objects([block.get("element")])
        yield from ((block_id, element) for element in found if element.get("action_id"))
        nested = [*objects(block.get("child_blocks")), *_cards(block)]
        yield from interactive_elements(nested)


def _cards(block: Json) -> list[Json]:
    cards = objects(block.get("elements")) if block.get("type") == "carousel" else []
    cards += [block] if block.get("type") == "card" else []
    return [
        {"block_id": card.get("block_id"), "elements": card.get("actions") or []} for card in cards
    ]
