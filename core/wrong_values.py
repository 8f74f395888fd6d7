"""What is wrong with a value that somebody set, in plain words instead of pydantic's (pure)."""

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
    "dict_": "a table of keys and values",
    "mapping_": "a table of keys and values",
    "model_": "a table of keys and values",
    "date_": "a date, as 2026-11-22",
}


def complaint(where: str, fault: ErrorDetails) -> str:
    """A sentence on one wrong value. It does not repeat the value, which may be a secret."""
    words = wrong(fault).rstrip(".")
    return f"{where} {words}." if words.startswith(("must ", "is ")) else f"{where}: {words}."


def wrong(fault: ErrorDetails) -> str:
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
