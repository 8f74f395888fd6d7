"""Cursors: one page of a list and where the next begins (pure)."""

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from slack_on_loopback.api_call import Arguments
from slack_on_loopback.errors import SlackRefusal

Item = TypeVar("Item")


def page(
    items: Sequence[Item], args: Arguments, default: int, most: int, *, longest: int = 1000
) -> tuple[list[Item], str]:
    """Return one page and the cursor of the next, empty at the end.

    Args:
        items: All of them.
        args: What the app asks for.
        default: Items in a page where it does not say.
        most: The most it may ask for.
        longest: The most it gets.

    Raises:
        SlackRefusal: invalid_cursor, invalid_limit.
    """
    start = _start(args.text("cursor"))
    end = start + min(args.count("limit", default, most), longest)
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return list(items[start:end]), cursor


def _start(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        word, _, number = base64.b64decode(cursor, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise SlackRefusal("invalid_cursor") from None
    if word != "next" or not number.isdigit():
        raise SlackRefusal("invalid_cursor")
    return int(number)
