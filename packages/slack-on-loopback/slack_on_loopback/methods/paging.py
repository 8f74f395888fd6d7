"""Cursors: one page of a list and the cursor of the next (pure)."""

import base64
from collections.abc import Sequence
from typing import TypeVar

from slack_on_loopback.api_call import ApiCall
from slack_on_loopback.errors import SlackRefusal

Item = TypeVar("Item")


def page(
    items: Sequence[Item], call: ApiCall, default: int, most: int, *, longest: int = 1000
) -> tuple[list[Item], str]:
    """Return one page and the cursor of the next, empty at the end.

    Args:
        items: The full list.
        call: The app's call.
        default: Items in a page if the call gives no limit.
        most: The largest limit that a call may give.
        longest: The longest page.
    """
    start = _start(call.text("cursor"))
    end = start + min(call.count("limit", default, most), longest)
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return list(items[start:end]), cursor


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        word, number = base64.b64decode(cursor, validate=True).decode().split(":")
        if word == "next":
            return int(number)
    except ValueError:  # not base64, not text, not two parts, not a number
        pass
    raise SlackRefusal("invalid_cursor")
