"""Builders for buttons and their blocks as plain JSON, cut to Slack's limits (pure).

The SDK's classes are not used: they are a hundred times slower, and raise if a text is too long.
The local Slack of the tests rejects the same payloads as Slack.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.slack.ids import ActionId
from bot.slack.limits import BUTTON_TEXT, BUTTON_VALUE
from bot.slack.mrkdwn import literal

#: One block or element as JSON.
Block = Mapping[str, Any]
READ_ALL = "Read it all"
#: Prefix of the `block_id` of a collapsible section; the value of its `read_all_button` follows.
FOLD = "fold/"
#: Prefix of the `block_id` of a plan; `<done>/<total>` follows. Slack wants another id per update.
PLAN = "progress/"
#: Slack's error code for a block type that the workspace does not support.
REFUSAL = "invalid_blocks"
_PLAN_WIDTH = 20


def plain_text(text: str) -> Block:
    """Text without formatting; Slack renders codes of emoji."""
    return {"emoji": True, "text": text, "type": "plain_text"}


def verbatim(text: str) -> Block:
    """Safe mrkdwn in which Slack creates no mentions or links by itself."""
    return {"text": text, "type": "mrkdwn", "verbatim": True}


def button(
    text: str,
    action: ActionId | str,
    value: str = "",
    *,
    label: str,
    style: str = "",
    confirm: Block | None = None,
) -> Block:
    """A button; `label` is for screen readers, `style` is `primary` or `danger`."""
    # A value that is cut could be the id of something else.
    if len(value) > BUTTON_VALUE:
        raise ValueError(f"a button keeps {BUTTON_VALUE} characters, not {len(value)}")
    return {
        "accessibility_label": label[:BUTTON_TEXT],
        "action_id": str(action),
        **({"confirm": confirm} if confirm else {}),
        **({"style": style} if style else {}),
        "text": plain_text(text[:BUTTON_TEXT]),
        "type": "button",
        **({"value": value} if value else {}),
    }


def confirmation(title: str, text: str, *, confirm: str, deny: str) -> Block:
    return {
        "title": plain_text(title),
        "text": {"text": text, "type": "mrkdwn"},
        "confirm": plain_text(confirm),
        "deny": plain_text(deny),
    }


def actions(block: str, *elements: Block) -> Block:
    return {"block_id": block, "elements": list[Block](elements), "type": "actions"}


def row(block: str, elements: Sequence[Block]) -> list[Block]:
    """A row of buttons; no block if there are none."""
    return [actions(block, *elements)] if elements else []


def read_all_button(value: str) -> Block:
    """Return the row with the button that opens the full text of a post; `value` is the post."""
    read_all = button(READ_ALL, ActionId.READ_ALL, value, label=f"{READ_ALL} of this post")
    return actions("read-all", read_all)


def without_newer(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message with older block types in place of newer ones; unchanged if it has no newer ones.

    A fallback that equals another block is dropped, so that there is one button for the full text.
    """
    newer, blocks = payload.get("blocks") or (), list[Block]()
    if not any(block["type"] in _FALLBACKS for block in newer):
        return payload
    for block in newer:
        if block["type"] not in _FALLBACKS:
            blocks.append(block)
        elif (older := _FALLBACKS[block["type"]](block)) and older not in (*newer, *blocks):
            blocks.append(older)
    return {**payload, "blocks": blocks}


def _progress_bar(plan: Block) -> Block:
    count, total = map(int, plan["block_id"].removeprefix(PLAN).split("/"))
    full = _PLAN_WIDTH * count // total
    bar = "█" * full + "░" * (_PLAN_WIDTH - full)
    text = verbatim(f"*{literal(plan['title'])}*\n`{bar}`")
    return {"expand": True, "text": text, "type": "section"}


#: By newer block type: builds the older block for workspaces that do not support that type yet.
#: None leaves the block out. The `block_id` has the values that the builder needs.
_FALLBACKS: Mapping[str, Callable[[Block], Block | None]] = {
    "container": lambda section: read_all_button(section["block_id"].removeprefix(FOLD)),
    "plan": _progress_bar,
    # The table of the vote, which follows, has the same figures as the chart.
    "data_visualization": lambda _chart: None,
}
