"""Buttons and the blocks that hold them as plain JSON, cut to Slack's limits (pure).

The SDK's classes are not used: they take a hundred times as long, and raise where a text is long.
The local Slack of the tests refuses what Slack does.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.slack.ids import ActionId
from bot.slack.limits import BUTTON_TEXT, BUTTON_VALUE
from bot.slack.mrkdwn import literal

#: One block or element as JSON.
Block = Mapping[str, Any]
READ_ALL = "Read it all"
#: Begins the `block_id` of a fold; the rest says what is folded away.
FOLD = "fold/"
#: Begins the `block_id` of a plan; the rest is done/total, so that it changes as Slack asks for.
PLAN = "progress/"
#: What Slack says where it does not know a block.
REFUSAL = "invalid_blocks"
_PLAN_WIDTH = 20


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
    """A button; `label` is for screen readers, `style` is `primary` or `danger`."""
    # Cut, it would name something else.
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
    """A row of buttons; no block where there are none."""
    return [actions(block, *elements)] if elements else []


def read_all_button(value: str) -> Block:
    """Return the button that shows everything; its value says of what."""
    reading = button(READ_ALL, ActionId.READ_ALL, value, label=f"{READ_ALL} of this post")
    return actions("read-all", reading)


def without_newer(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message with older blocks in place of newer ones; itself where it has none of these.

    Equal blocks are dropped: a message has one button that shows everything.
    """
    there, blocks = payload.get("blocks") or (), list[Block]()
    if not any(block["type"] in _FALLBACKS for block in there):
        return payload
    for block in there:
        if block["type"] not in _FALLBACKS:
            blocks.append(block)
        elif (older := _FALLBACKS[block["type"]](block)) and older not in (*there, *blocks):
            blocks.append(older)
    return {**payload, "blocks": blocks}


def _progress_of(plan: Block) -> Block:
    count, total = map(int, plan["block_id"].removeprefix(PLAN).split("/"))
    full = _PLAN_WIDTH * count // total
    bar = "█" * full + "░" * (_PLAN_WIDTH - full)
    text = verbatim(f"*{literal(plan['title'])}*\n`{bar}`")
    return {"expand": True, "text": text, "type": "section"}


#: Type of a block that not every workspace takes yet → what is shown in its place there; None:
#: nothing, as what follows says the same. The `block_id` holds what that needs to know.
_FALLBACKS: Mapping[str, Callable[[Block], Block | None]] = {
    "container": lambda fold: read_all_button(fold["block_id"].removeprefix(FOLD)),
    "plan": _progress_of,
    # The vote's table has the figures of its chart.
    "data_visualization": lambda _chart: None,
}
