"""What a post folds away: a block that opens, and a button where Slack does not take one (pure)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bot.slack.blocks import FOLD, plain_text, read_all_button
from bot.slack.ids import without_addresses
from bot.slack.limits import FOLD_BLOCKS, FOLD_TITLE, MESSAGE_JSON, SECTION_TEXT
from bot.slack.mrkdwn import split
from bot.views.message import Block, sections

#: Stands in a fold's value for the verdict; else the key of a turn does.
VERDICT = "verdict"
#: Characters of a message's blocks as JSON: addresses are filled in later.
_MESSAGE_LIMIT = MESSAGE_JSON - 1700
#: Characters of a fold's value, at most.
_VALUE_LIMIT = 200


@dataclass(frozen=True, kw_only=True)
class FoldedBlock:
    """What is not shown at first."""

    #: What it is, in words of ours.
    title: str
    #: Safe mrkdwn, a title of its own in each; the first ones are kept where not all fit.
    parts: Sequence[str]
    #: Says to the button what to show: "debate/turn" or "debate/verdict", the same for ever.
    value: str


def folded(fold: FoldedBlock, above: Sequence[Block], below: Sequence[Block] = ()) -> list[Block]:
    """Return a message's blocks with a collapsed block between them.

    Where it does not fit, a button opens all of it.
    """
    button = read_all_button(fold.value)
    space = _MESSAGE_LIMIT - _size([*above, *below, button])
    inside, fits = list[Block](), True
    for part in _packed(fold.parts):
        blocks = sections(part)
        room = len(inside) + len(blocks) <= FOLD_BLOCKS and _size([*inside, *blocks]) <= space
        if not room:
            fits = False
            break
        inside += blocks
    if not inside:
        return [*above, *([button] if fold.parts else []), *below]
    container: Block = {
        "block_id": f"{FOLD}{fold.value}",
        "child_blocks": inside,
        "default_collapsed": True,
        "is_collapsible": True,
        "title": plain_text(fold.title[:FOLD_TITLE]),
        "type": "container",
    }
    return [*above, container, *([] if fits else [button]), *below]


def has_room(above: Sequence[Block], below: Sequence[Block]) -> bool:
    """Whether a message can hold these blocks and a fold, or at least its button."""
    return _size([*above, *below, read_all_button("")]) + _VALUE_LIMIT <= _MESSAGE_LIMIT


def in_full(fold: FoldedBlock, most: int) -> list[Block]:
    """Return everything as sections, as many as there may be; says it where that is not all."""
    parts = _packed([without_addresses(part) for part in fold.parts])
    blocks = [block for part in parts for block in sections(part)]
    if len(blocks) <= most:
        return blocks
    return [*blocks[: most - 1], *sections("_… The rest is in the debate's report._")]


def pieces_of(title: str, text: str) -> list[str]:
    whole = f"*{title}*\n{text or '_Nothing was said._'}"
    return split(whole, SECTION_TEXT)


def _packed(parts: Sequence[str]) -> Sequence[str]:
    packed = list[str]()
    for part in parts:
        if packed and len(packed[-1]) + len(part) + 2 <= SECTION_TEXT:
            packed[-1] += f"\n\n{part}"
        else:
            packed.append(part)
    return packed


def _size(blocks: Sequence[Block]) -> int:
    return len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":")))
