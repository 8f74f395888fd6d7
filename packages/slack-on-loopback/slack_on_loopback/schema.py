"""Schemas of JSON objects, checked by pydantic, with Slack's error messages (pure)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticCustomError, SchemaValidator, ValidationError, core_schema
from pydantic_core.core_schema import CoreSchema, TypedDictField

from slack_on_loopback.json_values import Json, as_object

Field = CoreSchema | TypedDictField
_IN_SLACKS_WORDS = "in_slacks_words"
_WRONG_TYPE = "wrong_type"
_TAG = "type="
#: pydantic's error type → Slack's message, formatted with the error's context.
_WORDS = {
    "bool_type": "must be a boolean",
    "dict_type": "must be an object",
    "finite_number": "must be a number",
    "float_type": "must be a number",
    "extra_forbidden": "invalid additional property: {field}",
    "int_type": "must be an integer",
    "list_type": "must be an array",
    "missing": "missing required field: {field}",
    "string_too_long": "must be less than {over} characters",
    "string_too_short": "must be more than {under} characters",
    "string_type": "must be a string",
    "too_long": "no more than {max_length} items allowed",
    "too_short": "no fewer than {min_length} items allowed",
    "unknown_type": "unsupported type for {noun}: {type}",
    _WRONG_TYPE: "missing required field: type",
}
ANYTHING = core_schema.any_schema()
FLAG = core_schema.bool_schema(strict=True)
NUMBER = core_schema.float_schema(strict=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """A check across fields of an object; it runs after the checks of the fields."""

    words: str
    holds: Callable[[Json], bool]


def problem(path: str, words: str) -> str:
    """Format a problem as Slack does in `response_metadata.messages`."""
    return f"[ERROR] {words} [json-pointer:{path}]"


def string(most: int, least: int = 1) -> CoreSchema:
    """A string of `least` to `most` characters."""
    return core_schema.str_schema(min_length=least, max_length=most, strict=True)


def whole(low: int, high: int) -> CoreSchema:
    """A whole number within bounds."""
    within = _worded(core_schema.int_schema(ge=low, le=high), f"must be between {low} and {high}")
    return core_schema.chain_schema([core_schema.int_schema(strict=True), within])


def choice(*values: str) -> CoreSchema:
    """One of a few words."""
    return _worded(core_schema.literal_schema(list(values)), f"must be one of: {', '.join(values)}")


def matching(pattern: str, words: str) -> CoreSchema:
    """A string that a pattern matches as a whole."""
    return _worded(core_schema.str_schema(pattern=f"^(?:{pattern})$", strict=True), words)


def many(item: CoreSchema, most: int, least: int = 1) -> CoreSchema:
    """A list of `least` to `most` items."""
    return core_schema.list_schema(item, min_length=least, max_length=most, strict=True)


def need(value: CoreSchema) -> TypedDictField:
    """A required field; all others may be missing or null."""
    return core_schema.typed_dict_field(value, required=True)


def shape(*rules: Rule, **fields: Field) -> CoreSchema:
    """An object with these fields and no others."""

    def check(value: Json) -> Json:
        for rule in rules:
            if not rule.holds(value):
                raise PydanticCustomError(_IN_SLACKS_WORDS, "{words}", {"words": rule.words})
        return value

    typed = {
        name: field
        if field["type"] == "typed-dict-field"
        else core_schema.typed_dict_field(core_schema.nullable_schema(field), required=False)
        for name, field in fields.items()
    }
    schema = core_schema.typed_dict_schema(typed, extra_behavior="forbid", strict=True)
    return core_schema.no_info_after_validator_function(check, schema) if rules else schema


def kind(name: str, /, *rules: Rule, **fields: Field) -> CoreSchema:
    """An object of this `type`."""
    schema = shape(*rules, type=need(choice(name)), **fields)
    schema["metadata"] = {"kind": name}
    return schema


def kind_of(schema: CoreSchema) -> str:
    """Return the `type` in a schema made by `kind`."""
    return schema.get("metadata", {})["kind"]


def one_of(noun: str, *kinds: CoreSchema, ref: str | None = None) -> CoreSchema:
    """An object whose `type` selects the schema; the noun is for the error message."""
    return core_schema.tagged_union_schema(
        {f"{_TAG}{kind_of(schema)}": schema for schema in kinds},
        discriminator=lambda found: f"{_TAG}{(as_object(found) or {}).get('type')}",
        custom_error_type=_WRONG_TYPE,
        custom_error_message=noun,
        ref=ref,
    )


def problems(schema: SchemaValidator, value: Any, path: str) -> Iterator[str]:
    """Yield the problems of a value, each with its JSON pointer below `path`."""
    try:
        schema.validate_python(value)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False):
            # pydantic puts the tag of each union into the location.
            steps = [str(step) for step in error["loc"] if not str(step).startswith(_TAG)]
            details: Json = {**error.get("ctx", {})}
            error_type, kind = error["type"], (as_object(error["input"]) or {}).get("type")
            if error_type in {"missing", "extra_forbidden"}:
                details["field"] = steps.pop()
            elif error_type == _WRONG_TYPE and isinstance(kind, str):
                error_type, details = "unknown_type", {"noun": error["msg"], "type": kind}
            details["over"] = details.get("max_length", 0) + 1
            details["under"] = details.get("min_length", 0) - 1
            words = _WORDS[error_type].format(**details) if error_type in _WORDS else error["msg"]
            yield problem("/".join([path, *steps]), words)


def _worded(schema: CoreSchema, words: str) -> CoreSchema:
    return core_schema.custom_error_schema(schema, _IN_SLACKS_WORDS, custom_error_message=words)
