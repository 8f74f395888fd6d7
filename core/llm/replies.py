"""What a reply is worth: none, cut off or an echo; its text; the structured answer in it (pure).

Servers of small models say "completed" where the token cap cut the text, and repeat the prompt.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from core.capabilities import Capability
from core.errors import ReplyCutOff, ReplyUnreadable, ReplyUnusable
from core.llm.prices import output_reserve
from core.request import AnswerForm, ModelReply, ModelRequest, Part, PartKind
from core.usage import Usage
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
#: A whole reply that refuses. One that goes on ("… from the record: nobody asked") is an answer.
_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very |really )?sorry|i apologi[sz]e|sorry|unfortunately|as an ai)?\b"
    r"[^.\n]{0,60}?\bi (?:can(?:no|['’])?t|am unable to|am not able to|won['’]t|will not)"
    r" (?:help|assist|comply|participate|take part|do that|fulfil that)"
    r"(?: (?:in |with )?(?:this|that|it|you|debates?|(?:this|that|your|the) request))?[.!]?",
    re.IGNORECASE,
)
#: Words at the end of a reply, and how often the same ones in a row are a loop.
_LOOKED_AT, _REPEATED = 240, 8
#: A fence around a whole reply, and a line for whoever asked.
_FENCED = re.compile(r"```(?:markdown|md|text)?[ ]*\n(.*)\n```", re.DOTALL)
_PREAMBLE = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok)[!,.]? (?:here(?:['’]s| is| are)|below is)\b"
    r"[^\n.:]{0,80}:[ ]*\n+",
    re.IGNORECASE,
)
#: A shorter task may stand in an honest reply.
_LEAST_ECHOED = 80


def fault_in(request: ModelRequest, reply: ModelReply, limits: Capability) -> ReplyUnusable | None:
    """What is wrong with a whole reply; None if it is an answer."""
    model, text, usage = request.model, reply.text, reply.usage
    if _is_cut_off(request, usage, limits):
        return ReplyCutOff(usage=usage)
    if _is_echo(request, text):
        return ReplyUnusable(f"{model} repeated its prompt instead of answering.", usage=usage)
    if _REFUSAL.fullmatch(text.strip()):  # nothing but that the model will not answer
        said = " ".join(text.split())
        return ReplyUnusable(f"{model} refused to answer: {said}", usage=usage)
    if _repeats_itself(text):
        return ReplyUnusable(f"{model} repeated the same words again and again.", usage=usage)
    return None


def explained(
    error: ReplyUnusable, provider: str, request: ModelRequest, limits: Capability
) -> ReplyUnusable:
    """The error; of a reply that was cut off with the setting that gives it room."""
    if not isinstance(error, ReplyCutOff) and not _is_cut_off(request, error.usage, limits):
        return error
    text = f"The reply of {provider} was cut off at its length limit."
    if any(limits.reasoning_tokens.values()) or limits.efforts:
        return ReplyCutOff(text, usage=error.usage)
    record = (
        f"{{provider: {provider}, match: {request.model!r}, "
        "reasoning_tokens: {low: 4096, medium: 12288, high: 32768}}"
    )
    hint = f"If {request.model} reasons before it answers, give it room: `models: [{record}]`."
    if request.max_output_tokens >= limits.output_tokens:
        hint += f" `output_tokens` there bounds a reply too; it is {limits.output_tokens}."
    return ReplyCutOff(f"{text} {hint}", usage=error.usage)


def _is_cut_off(request: ModelRequest, usage: Usage, limits: Capability) -> bool:
    return usage.output_tokens >= output_reserve(limits, request.max_output_tokens, request.effort)


def _is_echo(request: ModelRequest, text: str) -> bool:
    marks = (f"<<<{request.delimiter}", f">>>{request.delimiter}")
    if request.delimiter and any(mark in text for mark in marks):
        return True
    word_lists = [part.text.split() for part in request.parts if part.kind is PartKind.TASK]
    # Whitespace may differ. Most replies lack some word of the task, and that is seen at once.
    tasks = [" ".join(words) for words in word_lists if all(word in text for word in words)]
    reply_text = " ".join(text.split()) if tasks else ""
    return any(len(task) >= _LEAST_ECHOED and task in reply_text for task in tasks)


def _repeats_itself(text: str) -> bool:
    """Whether the reply ends in the same words again and again, as a model that is caught does."""
    words = text.split()[-_LOOKED_AT:]
    return any(
        words[-length * _REPEATED :] == words[-length:] * _REPEATED
        for length in range(1, len(words) // _REPEATED + 1)
    )


def without_preamble(text: str) -> str:
    """A text without the fence around all of it, and without "Sure! Here is my proposal:"."""
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    if fenced and "```" not in fenced[1]:
        bare = fenced[1].strip()
    preamble = _PREAMBLE.match(bare)
    return (bare[preamble.end() :] if preamble else bare) or text


def writable(text: str) -> str:
    """The text as databases and JSON hold it: without NUL, and no half of a surrogate pair.

    A character beyond U+FFFF may come in halves, one at the end of a stream's chunk and one at the
    beginning of the next: they are joined. A half alone becomes U+FFFD.
    """
    pairs = text.replace("\0", "").encode("utf-16-le", "surrogatepass")
    return pairs.decode("utf-16-le", "replace")


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
    inner = (value for outer in _values(text) for value in _unwrapped(outer))
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


def _unwrapped(value: object) -> Iterator[dict[str, Any]]:
    """The objects in a value, the outermost first: models put layers around an answer."""
    layer = [value]
    for _ in range(_MOST_LAYERS):
        yield from (cast("dict[str, Any]", item) for item in layer if isinstance(item, dict))
        layer = [inner for item in layer for inner in _inside(item)][:_MOST_VALUES]


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
