"""Buttons and the blocks that hold them as plain JSON, cut to Slack's limits (pure).

The SDK's classes are not used: they take a hundred times as long, and raise where a text is long.
The local Slack of the tests refuses what Slack does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.slack.ids import ActionId, BlockId
from bot.slack.limits import BUTTON_TEXT, BUTTON_VALUE

#: One block or element as JSON.
Block = Mapping[str, Any]


def plain_text(words: str) -> Block:
    """Text without formatting; codes of emoji are shown as such."""
    return {"emoji": True, "text": words, "type": "plain_text"}


def verbatim(text: str) -> Block:
    """Safe mrkdwn: Slack turns no word that looks like a mention into one."""
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
    """A button; `label` is for screen readers, `style` is `primary` or `danger`.

    Raises:
        ValueError: The value is too long: cut, it would name something else.
    """
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


def actions(block: BlockId | str, *elements: Block) -> Block:
    return {"block_id": str(block), "elements": list[Block](elements), "type": "actions"}


def row(block: BlockId, elements: Sequence[Block]) -> list[Block]:
    """A row of buttons; no block where there are none."""
    return [actions(block, *elements)] if elements else []
