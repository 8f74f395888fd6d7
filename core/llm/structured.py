"""Structured answers: a flat strict schema from a pydantic model, and reading what came back."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from core.errors import ReplyUnreadable
from core.request import AnswerForm, Part, PartKind

T = TypeVar("T", bound=BaseModel)

#: Says in one sentence what is wrong with an answer, or None.
Check = Callable[[T], str | None]

_KEPT = ("type", "description", "enum", "const")
_FENCE = "```"
#: What may be the beginning of an object.
_OBJECT = re.compile(r"\{\s*[\"}]")
#: How many of them are tried in one text, and how often all of the text is read.
_MOST_TRIES, _MOST_READINGS = 200, 4
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@cache
def answer_form(answer_type: type[BaseModel]) -> AnswerForm:
    """The form every vendor's strict mode accepts: all required, no $ref, no bounds.

    Raises:
        TypeError: The model has a field no strict schema can describe (a mapping, a union).
    """
    full = answer_type.model_json_schema()
    name = _WORDS.sub("_", answer_type.__name__).lower().removesuffix("_reply")
    return AnswerForm(name=name, schema=_flat(full, full.get("$defs", {})))


def _flat(node: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """One node of the schema without anything strict modes refuse."""
    node = _resolved(node, shared)
    flat: dict[str, Any] = {key: node[key] for key in _KEPT if key in node}
    if node.get("type") == "object":
        if "properties" not in node:
            raise TypeError("A strict schema cannot describe a mapping; use a list of pairs.")
        fields = {key: _flat(value, shared) for key, value in node["properties"].items()}
        flat |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    if node.get("type") == "array":
        flat["items"] = _flat(node.get("items", node.get("prefixItems", [{}])[0]), shared)
    if not flat:
        raise TypeError("A strict schema cannot describe this field.")
    return flat


def _resolved(node: Mapping[str, Any], shared: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node itself, where it only points elsewhere or may also be null."""
    if "$ref" in node:
        return _resolved(shared[node["$ref"].rsplit("/", 1)[-1]], shared)
    choices = [choice for choice in node.get("anyOf", ()) if choice.get("type") != "null"]
    return _resolved(choices[0], shared) if len(choices) == 1 else node


def read_answer(text: str, answer_type: type[T], check: Check[T] | None = None) -> T:
    """The value in a reply, tolerant of code fences and of words around it.

    Args:
        text: The reply.
        answer_type: What it must be.
        check: Further conditions.

    Raises:
        ReplyUnreadable: It is not there or not right; the words say what is wrong, for the model.
    """
    # The first JSON object: inside code fences first, then anywhere.
    fenced = [fence.partition("\n") for fence in text.split(_FENCE)[1:-1:2]]
    json_fenced = [words for name, _, words in fenced if name.strip().lower() in {"", "json"}]
    objects = (_first_object(one) for one in (*json_fenced, text))
    found = next((one for one in objects if one is not None), None)
    if found is None:
        raise ReplyUnreadable("The reply holds no JSON object.")
    try:
        value = answer_type.model_validate(found)
    except ValidationError as error:
        # What is wrong with the fields, without quoting their content.
        errors = error.errors(include_input=False, include_url=False, include_context=False)
        wrong = [f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in errors]
        raise ReplyUnreadable("; ".join(wrong)) from None
    problem = check(value) if check else None
    if problem:
        raise ReplyUnreadable(problem)
    return value


def _first_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in the text.

    An object may stand inside one that is broken, so every brace is tried, within bounds: else a
    text of broken objects would be read again from each of them.
    """
    decoder = json.JSONDecoder(strict=False)
    read = 0
    for found in islice(_OBJECT.finditer(text), _MOST_TRIES):
        try:
            return cast("dict[str, Any]", decoder.raw_decode(text, found.start())[0])
        except json.JSONDecodeError as error:
            read += error.pos - found.start()
        except (ValueError, RecursionError):  # a number of 5,000 digits; a thousand objects deep
            return None
        if read > _MOST_READINGS * len(text):
            return None
    return None


def repair_parts(reply: str, problem: str) -> tuple[Part, Part]:
    """What to add to a request after a reply that could not be read.

    Args:
        reply: The reply; it goes back as data.
        problem: What is wrong with it.
    """
    task = (
        f"Your previous reply could not be used: {problem}\n"
        "Answer again. Reply with the JSON object alone, with every field filled."
    )
    return (
        Part(kind=PartKind.OTHER, label="Your previous reply", text=reply),
        Part(kind=PartKind.TASK, label="Repair", text=task),
    )
