"""What is wrong with a value that somebody set, in plain words instead of pydantic's (pure)."""

import re
from typing import Any

from pydantic_core import ErrorDetails

from core.figures import quantity

_MUST = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "finite_number": "must be a finite number",
    "string_unicode": "must be readable text",
}
#: By the beginning of pydantic's type of fault, where its kinds differ in nothing for people.
_MUST_BE = {
    "int_": "a whole number",
    "float_": "a number",
    "decimal_": "a number, as 1.50",
    "bool_": "true or false",
    "string_type": "text",
    "list_": "a list",
    "tuple_": "a list",
    "set_": "a list",
    "frozen_set_": "a list",
    "dict_": "a table of keys and values",
    "mapping_": "a table of keys and values",
    "model_": "a table of keys and values",
    "dataclass_": "a table of keys and values",
    "url_": "an address, as https://moot.example.com",
    "date_": "a date, as 2026-11-22",
    "datetime_": "a date with a time, as 2026-11-22T14:30:00Z",
    "path_": "the path of a file or folder",
}


#: What is wrong with a field of a reply, as it is said to a model; and as Pydantic says it, in logs
#: of older versions.
_FIELD = re.compile(r"The reply's field \"([\w.]+)\"")
_OLD_FIELD = re.compile(r"(?:\A|(?<=[:.;] ))([a-z_]+(?:\.\w+)*): Field required\b")


def for_people(text: str) -> str:
    """What is wrong with a model's reply, with its fields named in words."""
    text = _OLD_FIELD.sub(r"""The reply's field "\1" is missing""", text)
    return _FIELD.sub(lambda match: f"The reply's field {_field_words(match[1])}", text)


def _field_words(path: str) -> str:
    """A field in words: `requirements.0.status` is `"requirements", number 1, "status"`."""
    names = (
        f"number {int(name) + 1}" if name.isdecimal() else f'"{name.replace("_", " ")}"'
        for name in path.split(".")
    )
    return ", ".join(names)


def complaint(where: str, fault: ErrorDetails) -> str:
    """A sentence on one wrong value. It does not repeat the value, which may be a secret.

    Args:
        where: What the value is of: an option, a key of a file, a variable.
        fault: What pydantic says of it.
    """
    words = wrong(fault).rstrip(".")
    return f"{where} {words}." if words.startswith(("must ", "is ")) else f"{where}: {words}."


def wrong(fault: ErrorDetails) -> str:
    """What is wrong with one value: `must be a whole number`; else the words of our own check."""
    kind = fault["type"]
    # 50.0 is said as 50.
    limits: dict[str, Any] = {
        name: f"{limit:g}" if isinstance(limit, float) else limit
        for name, limit in fault.get("ctx", {}).items()
    }
    match kind:
        case "enum" | "literal_error":
            return f"must be {limits.get('expected')}"
        case "greater_than_equal":
            return f"must be {limits.get('ge')} or more"
        case "greater_than":
            return f"must be more than {limits.get('gt')}"
        case "less_than_equal":
            return f"must be {limits.get('le')} or less"
        case "less_than":
            return f"must be less than {limits.get('lt')}"
        case "string_pattern_mismatch":
            return f"must fit the pattern {limits.get('pattern')}"
        case "string_too_short" | "string_too_long" | "too_short" | "too_long":
            noun = "character" if kind.startswith("string_") else "item"
            if kind.endswith("_short"):
                return f"must have at least {quantity(limits.get('min_length', 1), noun)}"
            return f"must have at most {quantity(limits.get('max_length', 0), noun)}"
        case _ if kind in _MUST:
            return _MUST[kind]
        case _:
            pass
    if what := next((what for begins, what in _MUST_BE.items() if kind.startswith(begins)), ""):
        return f"must be {what}"
    words = fault["msg"].removeprefix("Value error, ")
    words = words.replace("Input should ", "must ", 1)
    return f"{words[:1].lower()}{words[1:]}"
