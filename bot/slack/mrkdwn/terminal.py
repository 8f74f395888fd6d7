"""Slack's messages → text for a terminal: no marks, no codes, tables aligned (pure)."""

import re
import textwrap
from bisect import bisect_left
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len

from bot.slack.mrkdwn.escape import GAP
from bot.slack.mrkdwn.newer_blocks import is_newer, older

#: What Slack writes between `<` and `>`: address or sign, and the words shown for it.
_ANGLES = re.compile(r"<([^<>|\s]+)(?:\|([^<>]*))?>|<(![^<>|]*)\|([^<>]*)>")
#: Marks that may begin a span, and those that may end one; both only at the edge of a word.
_OPENING = re.compile(r"(?<![\w*])[*_~`](?=\S)")
_CLOSING = re.compile(r"(?<=\S)[*_~`](?![\w*])")
_EMOJI = re.compile(r":([a-z0-9_+-]{1,60}):")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_BULLET = re.compile(r"(?:[•◦▪>]|\d{1,2}\.) ")
#: More than indents a line, or a few tabs.
_GAPS = re.compile(r"[ \t]{20,}|\t+")
_FENCE = "```"
#: An address of a message: long, and of no use outside the workspace.
_PERMALINK = "/archives/"
_INDENT = "  "
#: What is said of a step of a plan; nothing of one to come.
_STATES = {"complete": " ✓", "in_progress": " …", "error": " failed", "pending": ""}

#: What stands for an emoji's name, and for a person's id; empty where that is not known.
Shown = Callable[[str], str]


def _unknown(_: str) -> str:
    return ""


def message_text(
    message: Mapping[str, Any], width: int, *, emoji: Shown = _unknown, person: Shown = _unknown
) -> str:
    """Return what a message shows, indented: its blocks, or its text where it has none.

    Args:
        message: As Slack keeps it.
        width: Characters in a line; what is in a table or a block of code may be longer.
        emoji: Says what stands for an emoji's name.
        person: Says who has an id.
    """
    blocks = message.get("blocks") or [{"type": "section", "text": {"text": message["text"]}}]
    parts = (_block(block) for block in blocks)
    text = "\n".join(part for part in parts if part)
    lines, in_code = list[str](), False
    for line in text.split("\n"):
        if line.startswith(_FENCE):
            in_code = not in_code
        elif in_code:
            lines.append(_INDENT + _unescaped(line))
        else:
            # textwrap goes through a long gap once for each line that would fit into it.
            words = _GAPS.sub(" ", line)
            words = _EMOJI.sub(lambda found: emoji(found[1]) or found[0], words)
            words = _unmarked(_unmarked(words))  # one mark inside another
            words = _unescaped(_ANGLES.sub(lambda found: _angled(found, person), words))
            hanging = _INDENT * 2 if _BULLET.match(words) else _INDENT
            lines += textwrap.wrap(
                words, width, initial_indent=_INDENT, subsequent_indent=hanging
            ) or [""]
    return "\n".join(lines)


def _block(block: Mapping[str, Any]) -> str:
    """A block as mrkdwn; buttons are for clicking, not for reading."""
    match block["type"]:
        case "header" | "section":
            return str(block["text"]["text"])
        case "container":
            folded = "\n".join(_block(child) for child in block["child_blocks"])
            return f"*{block['title']['text']}*\n{folded}"
        case "context":
            return "\n".join(str(one.get("text", "")) for one in block["elements"])
        case "table":
            rows = [[str(cell["text"]) for cell in row] for row in block["rows"]]
            widths = [max(map(cell_len, column)) for column in zip_longest(*rows, fillvalue="")]
            lines = list[str]()
            for row in rows:
                sized = zip(row, widths, strict=True)
                padded = (cell + " " * (width - cell_len(cell)) for cell, width in sized)
                lines.append("  ".join(padded).rstrip())
            return "\n".join([_FENCE, *lines, _FENCE])
        case "plan":
            steps = (f"• {task['title']}{_STATES[task['status']]}" for task in block["tasks"])
            return "\n".join([f"*{block['title']}*", *steps])
        case "data_visualization" if is_newer(block):
            return f"{block['title']}\n{older(block)['text']['text']}"
        case _:
            return ""


def _unmarked(line: str) -> str:
    """The line without the marks of its outermost spans; read once, however many there are."""
    closing: dict[str, list[int]] = {}
    for found in _CLOSING.finditer(line):
        closing.setdefault(found.group(), []).append(found.start())
    pieces, done = list[str](), 0
    for found in _OPENING.finditer(line):
        start = found.start()
        ends = closing.get(found.group(), [])
        at = bisect_left(ends, start + 2)  # something stands between the two marks
        if start >= done and at < len(ends):
            pieces += [line[done:start], line[start + 1 : ends[at]]]
            done = ends[at] + 1
    return "".join([*pieces, line[done:]])


def _angled(found: re.Match[str], person: Shown) -> str:
    """What is shown for a link, a mention or a date."""
    target, label = found[1] or found[3], found[2] or found[4] or ""
    if target.startswith("@"):
        return f"@{label or person(target[1:]) or target[1:]}"
    if target.startswith(("!", "#")):
        return label or target
    if not label or label == target:
        return target
    return label if _PERMALINK in target else f"{label} ({target})"


def _unescaped(text: str) -> str:
    for entity, sign in _ENTITIES:
        text = text.replace(entity, sign)
    return text.replace(GAP, "")
