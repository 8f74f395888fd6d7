"""Explains invalid values and unknown names (pure)."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

from core.figures import quantity
from core.values import PATTERN_WORDS

#: Texts by prefix of pydantic's error type; the first match wins.
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "finite_number": "must be a finite number",
    "string_unicode": "must be readable text",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be less than {lt}",
    "string_pattern_mismatch": "must fit the pattern {pattern}",
    "string_too_short": "must have at least {min_length}",
    "string_too_long": "must have at most {max_length}",
    "too_short": "must have at least {min_length}",
    "too_long": "must have at most {max_length}",
    "int_": "must be a whole number",
    "float_": "must be a number",
    "decimal_": "must be a number, as 1.50",
    "bool_": "must be true or false",
    "string_type": "must be text",
    "list_": "must be a list",
    "tuple_": "must be a list",
    "dict_": "must be a table of keys and values",
    "mapping_": "must be a table of keys and values",
    "model_": "must be a table of keys and values",
    "date_": "must be a date, as 2026-11-22",
}


def complaint(location: str, fault: ErrorDetails) -> str:
    """Return a sentence about one invalid value, without the value, which may be a secret."""
    words = wrong(fault).rstrip(".")
    return f"{location} {words}." if words.startswith(("must ", "is ")) else f"{location}: {words}."


def wrong(fault: ErrorDetails) -> str:
    kind = fault["type"]
    noun = "character" if kind.startswith("string_") else "item"

    def in_words(name: str, limit: Any) -> Any:
        if name.endswith("_length") and isinstance(limit, int):
            return quantity(limit, noun)
        return f"{limit:g}" if isinstance(limit, float) else limit  # 50.0 is said as 50

    if form := PATTERN_WORDS.get(fault.get("ctx", {}).get("pattern", "")):
        return form
    limits = {name: in_words(name, limit) for name, limit in fault.get("ctx", {}).items()}
    for begins, words in _WORDS.items():
        if kind.startswith(begins):
            return words.format_map(limits)
    words = fault["msg"].removeprefix("Value error, ").replace("Input should ", "must ", 1)
    return f"{words[:1].lower()}{words[1:]}"


def nearest(name: str, names: Sequence[str], aliases: Iterable[str] = ()) -> str:
    """Return a hint: the most similar name or alias, or all names."""
    matches = get_close_matches(name.strip().lower(), [*names, *aliases], n=1, cutoff=0.65)
    return f'Did you mean "{matches[0]}"?' if matches else f"There are: {', '.join(names)}."
