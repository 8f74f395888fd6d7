"""Structured answers: a flat strict schema from a pydantic model, and reading what came back."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from core.errors import ReplyUnreadable
from core.llm.reply_faults import writable
from core.request import AnswerForm, Part, PartKind
from core.wrong_values import complaint

T = TypeVar("T", bound=BaseModel)

#: Says in one sentence what is wrong with an answer, or None.
Check = Callable[[T], str | None]

_KEPT = ("type", "description", "enum", "const")
#: What may be the beginning of an object.
_OBJECT = re.compile(r"\{\s*[\"}]")
#: Characters of broken JSON that a library may mend: it is slow.
_MENDED_CHARS = 60_000
#: Layers that models put around an answer, and values that are looked at in one of them.
_MOST_LAYERS, _MOST_VALUES = 3, 200
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def answer_form(answer_type: type[BaseModel]) -> AnswerForm:
    """The form every vendor's strict mode accepts: all required, no $ref, no bounds.

    The model has no mappings and no unions: strict schemas cannot describe them.
    """
    full = answer_type.model_json_schema()
    name = _WORDS.sub("_", answer_type.__name__).lower().removesuffix("_reply")
    return AnswerForm(name=name, schema=_flat(full, full.get("$defs", {})))


def _flat(node: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """One node of the schema without anything strict modes refuse."""
    node = _resolved(node, shared)
    flat: dict[str, Any] = {key: node[key] for key in _KEPT if key in node}
    if node.get("type") == "object":
        fields = {key: _flat(value, shared) for key, value in node["properties"].items()}
        flat |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    if node.get("type") == "array":
        flat["items"] = _flat(node.get("items", node.get("prefixItems", [{}])[0]), shared)
    return flat


def _resolved(node: Mapping[str, Any], shared: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node itself, where it only points elsewhere or may also be null."""
    if "$ref" in node:
        return _resolved(shared[node["$ref"].rsplit("/", 1)[-1]], shared)
    choices = [choice for choice in node.get("anyOf", ()) if choice.get("type") != "null"]
    return _resolved(choices[0], shared) if len(choices) == 1 else node


def read_answer(text: str, answer_type: type[T], check: Check[T] | None = None) -> T:
    """The value in a reply, as models write it: fenced, among words, a layer too deep, broken.

    The last object counts that fits the form.

    Raises:
        ReplyUnreadable: There is none, or none that fits; the message lists, for the model, all
            faults of the nearest object.
    """
    names = _names(answer_form(answer_type).schema)
    nearest, fewest = "", len(names) + 1
    # The likeliest first.
    inner = (value for outer in _values(text) for value in _unwrapped(outer, names))
    for candidate in (cast("dict[str, Any]", _tidy(value, names)) for value in inner):
        try:
            value = answer_type.model_validate(candidate)
        except ValidationError as error:
            # What is wrong with the fields, without quoting their content.
            wrong = [
                complaint(f'The reply\'s field "{".".join(map(str, fault["loc"]))}"', fault)
                for fault in error.errors(include_input=False, include_url=False)
            ]
            missing = sum(name not in candidate for name in answer_type.model_fields)
            if missing < fewest:
                nearest, fewest = " ".join(wrong), missing
            continue
        problem = check(value) if check else None
        if not problem:
            return value
        nearest, fewest = problem, -1
    if _is_cut(text):
        nearest = f"The reply ends in the middle of its JSON object. {nearest}".rstrip()
    raise ReplyUnreadable(nearest or "The reply holds no JSON object.")


def _names(schema: Mapping[str, Any]) -> frozenset[str]:
    fields = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    inner = [*fields.values(), *([schema["items"]] if "items" in schema else [])]
    return frozenset(fields).union(*(_names(schema) for schema in inner))


def _values(text: str) -> Iterator[object]:
    """The JSON values in a text: all of it, the whole objects in it, what a library can mend."""
    with suppress(ValueError, RecursionError):
        yield _DECODER.decode(text)
    whole, end = list[object](), 0
    with suppress(ValueError, RecursionError):  # the next object may be a part of a broken one
        while match := _OBJECT.search(text, end):
            value, end = _DECODER.raw_decode(text, match.start())
            whole.append(value)
    yield from reversed(whole)
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end < begin + _MENDED_CHARS and not _is_cut(text):
        from json_repair import loads  # noqa: PLC0415 - few replies need it

        with suppress(Exception):  # what it cannot mend is no answer
            yield loads(text[begin : end + 1])


def _is_cut(text: str) -> bool:
    """Whether a reply ends in the middle of an object: what is missing must not be made up."""
    return text.count("{") > text.count("}")


def _unwrapped(value: object, names: frozenset[str]) -> Sequence[dict[str, Any]]:
    """The objects in a value that have a field of the form, the outermost first; else itself."""
    layer, objects = [value], list[dict[str, Any]]()
    for _ in range(_MOST_LAYERS):
        objects += [cast("dict[str, Any]", item) for item in layer if isinstance(item, dict)]
        layer = [inner for item in layer for inner in _inside(item)][:_MOST_VALUES]
    fitting = [fields for fields in objects if not names.isdisjoint(map(_plain, fields))]
    return fitting or objects[:1]


def _inside(value: object) -> list[object]:
    if isinstance(value, list):
        return list(reversed(cast("list[object]", value)))
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    if isinstance(value, str) and "{" in value:
        with suppress(ValueError, RecursionError):
            return [_DECODER.decode(value)]
    return []


def _tidy(value: Any, names: frozenset[str]) -> Any:
    """A value with its fields named as in the form, and with text that can be written down."""
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, list):
        return [_tidy(item, names) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {
        name if name in names or _plain(name) not in names else _plain(name): _tidy(item, names)
        for name, item in fields.items()
    }


def _plain(name: str) -> str:
    """A field's name as forms have it: "Open Questions" is `open_questions`."""
    return "_".join(re.findall(r"[^\W_]+", _WORDS.sub(" ", name).casefold()))


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which null takes no earlier value's place."""
    return dict(pairs) | {name: value for name, value in pairs if value is not None}


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object_of)


def repair_parts(reply: str, problem: str) -> tuple[Part, Part]:
    """What to add to a request after a reply that could not be read; it goes back as data."""
    task = (
        f"Your previous reply could not be used: {problem}\n"
        "Answer again. Reply with the JSON object alone, with every field filled."
    )
    return (
        Part(kind=PartKind.OTHER, label="Your previous reply", text=reply),
        Part(kind=PartKind.TASK, label="Repair", text=task),
    )
