"""Reads fields of vendors' replies, which may be missing, null or of another type."""

from decimal import Decimal, InvalidOperation
from typing import Any, cast


def dig(source: Any, *path: str | int) -> Any:
    """The value at a path of keys and list indexes, or None."""
    for step in path:
        if isinstance(source, dict):
            source = cast("dict[str | int, Any]", source).get(step)
        elif isinstance(source, list) and isinstance(step, int):
            values = cast("list[Any]", source)
            source = values[step] if step < len(values) else None
        else:
            return None
    return source


def items(source: object, *path: str | int) -> list[Any]:
    value = dig(source, *path)
    return cast("list[Any]", value) if isinstance(value, list) else []


def words(source: object, *path: str | int) -> str:
    value = dig(source, *path)
    return value if isinstance(value, str) else ""


def count(source: object, *path: str | int) -> int:
    value = dig(source, *path)
    is_whole_number = isinstance(value, int) and not isinstance(value, bool)
    return max(0, value) if is_whole_number else 0


def money(source: object, *path: str | int) -> Decimal | None:
    value = dig(source, *path)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None
