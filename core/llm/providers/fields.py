"""Reads fields of vendors' replies, which may be missing, null or of another type."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, cast


def dig(source: object, *path: str | int) -> Any:
    """What lies at the end of the path, through attributes, keys and list positions, or None."""
    for step in path:
        if isinstance(source, dict):  # nearly all are, and an abstract class takes longer to ask
            source = cast("dict[str | int, object]", source).get(step)
        elif isinstance(step, int):
            items = cast("list[object]", source) if isinstance(source, list) else []
            source = items[step] if -len(items) <= step < len(items) else None
        elif isinstance(source, Mapping):
            source = cast("Mapping[str, object]", source).get(step)
        else:
            source = getattr(source, step, None)
    return source


def items(source: object, *path: str | int) -> list[Any]:
    """The list at the end of the path, or an empty one."""
    value = dig(source, *path)
    return cast("list[Any]", value) if isinstance(value, list) else []


def words(source: object, *path: str | int) -> str:
    """The text at the end of the path, or an empty one."""
    value = dig(source, *path)
    return value if isinstance(value, str) else ""


def count(source: object, *path: str | int) -> int:
    """The number of things at the end of the path; 0 when it is no such number."""
    value = dig(source, *path)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return max(0, value) if whole else 0


def money(source: object, *path: str | int) -> Decimal | None:
    """The amount at the end of the path, or None."""
    value = dig(source, *path)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None
