"""Helpers for untyped JSON: typed access, copies and sizes (pure)."""

import json
from collections.abc import Iterable
from typing import Any, cast

Json = dict[str, Any]


def as_object(value: Any) -> Json | None:
    """Return the value if it is a JSON object, else None."""
    return cast("Json", value) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any] | None:
    """Return the value if it is a JSON array, else None."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def objects(value: Any) -> list[Json]:
    """Return the JSON objects of an array; empty for any other value."""
    return [item for item in map(as_object, as_list(value) or []) if item is not None]


def child(value: Json | None, *keys: str) -> Json:
    """Return the nested object under the keys; empty if a key is missing."""
    here: Json | None = value
    for key in keys:
        here = as_object((here or {}).get(key))
    return here or {}


def text_at(value: Json, key: str) -> str:
    """Return the string under a key, or an empty one."""
    text = value.get(key)
    return text if isinstance(text, str) else ""


def compact(value: Any) -> str:
    """Return the shortest JSON text of a value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def copy(value: Json) -> Json:
    """Return a deep copy."""
    return _copied(value)


def without(value: Json, keys: Iterable[str]) -> Json:
    """Return a deep copy that lacks the named keys."""
    dropped = set(keys)
    return {key: _copied(item) for key, item in value.items() if key not in dropped}


def _copied(value: Any) -> Any:
    # JSON has no cycles and only two mutable types, so this is several times faster than deepcopy.
    # Most values are text; a call for each would cost most of the time.
    if isinstance(value, dict):
        fields = cast("Json", value).items()
        return {key: item if isinstance(item, str) else _copied(item) for key, item in fields}
    if isinstance(value, list):
        return [_copied(item) for item in cast("list[Any]", value)]
    return value


def present(**fields: Any) -> Json:
    """Return an object of the fields that are not None."""
    return {key: item for key, item in fields.items() if item is not None}


def parse_json(text: str) -> Any:
    """Parse JSON text; None when it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None
