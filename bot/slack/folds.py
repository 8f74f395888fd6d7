"""Blocks that open, and the button in their place where a workspace does not take them (pure)."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from slack_sdk.models.blocks import ActionsBlock, ButtonElement

from bot.slack.ids import ActionId

READ_ALL = "Read it all"
#: Begins the `block_id` of a fold; the rest says what is folded away.
FOLD = "fold/"
#: What Slack says where it does not know a block.
REFUSAL = "invalid_blocks"
_BUTTON = "read-all"


def read_all_button(value: str) -> Mapping[str, Any]:
    """Return the button that shows everything; its value says of what."""
    button = ButtonElement(text=READ_ALL, action_id=ActionId.READ_ALL.value, value=value)
    block = ActionsBlock(block_id=_BUTTON, elements=[button])
    return cast("Mapping[str, Any]", block.to_dict())


def has_fold(payload: Mapping[str, Any]) -> bool:
    """Whether something is folded away in a message, in a block that opens."""
    return any(map(_is_fold, payload.get("blocks") or ()))


def with_buttons(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message with a button in the place of each block that opens, and no button twice."""
    blocks: Sequence[Mapping[str, Any]] = payload.get("blocks") or ()
    is_there = any(block.get("block_id") == _BUTTON for block in blocks)
    shown = list[Mapping[str, Any]]()
    for block in blocks:
        if not _is_fold(block):
            shown.append(block)
        elif not is_there:
            shown.append(read_all_button(str(block["block_id"]).removeprefix(FOLD)))
    return {**payload, "blocks": shown}


def _is_fold(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "container" and str(block.get("block_id", "")).startswith(FOLD)
