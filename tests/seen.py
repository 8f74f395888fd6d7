"""What a person reads in a thread."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.testing import Message


def texts_of(blocks: Sequence[Mapping[str, Any]], *, opened: bool) -> Iterator[str]:
    """Every text that is seen; in folds only where they are opened."""
    for block in blocks:
        if block["type"] == "container":
            yield block["title"]["text"]
            yield from texts_of(block["child_blocks"], opened=opened) if opened else ()
        elif block["type"] in {"section", "header"}:
            yield block["text"]["text"]
        elif block["type"] == "context":
            yield from (element["text"] for element in block["elements"])
        elif block["type"] == "actions":
            yield from (element["text"]["text"] for element in block["elements"])
        elif block["type"] == "plan":
            yield block["title"]
            yield from (task["title"] for task in block["tasks"])
        elif block["type"] == "data_visualization":
            yield block["title"]
            yield from (point["label"] for point in block["chart"]["series"][0]["data"])
        elif block["type"] == "table":
            yield json.dumps(block["rows"])


def seen_in(replies: Sequence[Message], *, opened: bool = False) -> Iterator[str]:
    """What is read in a thread without opening anything, or with everything open."""
    for reply in replies:
        yield from (
            texts_of(reply["blocks"], opened=opened) if reply.get("blocks") else [reply["text"]]
        )
