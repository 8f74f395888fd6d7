"""Faults of replies (cut off, echo, refusal, loop) and structured answers read from text (pure).

Servers of small models report "completed" for a reply that the token cap cut, or repeat the prompt.
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
from core.wrong_values import complaint

T = TypeVar("T", bound=BaseModel)

#: Returns the fault of an answer in one sentence, or None.
Check = Callable[[T], str | None]

#: Keywords of JSON Schema that all strict modes accept.
_SCHEMA_KEYWORDS = ("type", "description", "enum", "const")
#: The possible beginning of a JSON object.
_OBJECT = re.compile(r"\{\s*[\"}]")
#: Longest broken JSON, in characters, that is repaired by a library, which is slow.
_MAX_REPAIR_CHARS = 60_000
#: Layers around an answer that are searched, and values per layer.
_MOST_LAYERS, _MOST_VALUES = 3, 200
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: A refusal that is the whole reply. A longer one ("… from the record: nobody asked") is an answer.
_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very |really )?sorry|i apologi[sz]e|sorry|unfortunately|as an ai)?\b"
    r"[^.\n]{0,60}?\bi (?:can(?:no|['’])?t|am unable to|am not able to|won['’]t|will not)"
    r" (?:help|assist|comply|participate|take part|do that|fulfil that)"
    r"(?: (?:in |with )?(?:this|that|it|you|debates?|(?:this|that|your|the) request))?[.!]?",
    re.IGNORECASE,
)
#: A reply is a loop if its last words repeat so often; so many words are searched.
_LOOP_REPEATS, _LOOP_WORDS = 8, 240
#: A code fence around a whole reply, and a polite line before it.
_FENCED = re.compile(r"```(?:markdown|md|text)?[ ]*\n(.*)\n```", re.DOTALL)
_PREAMBLE = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok)[!,.]? (?:here(?:['’]s| is| are)|below is)\b"
    r"[^\n.:]{0,80}:[ ]*\n+",
    re.IGNORECASE,
)
#: Characters. A shorter task may be part of a good reply.
_MIN_ECHO_CHARS = 80


def reply_fault(
    request: ModelRequest, reply: ModelReply, limits: Capability
) -> ReplyUnusable | None:
    """The fault of a reply; None if it is an answer."""
    model, text, usage = request.model, reply.text, reply.usage
    # Some servers do not limit reasoning.
    if _is_cut_off(request, usage.output_tokens - usage.reasoning_tokens, limits):
        return ReplyCutOff(usage=usage)
    if _is_echo(request, text):
        return ReplyUnusable(f"{model} repeated its prompt instead of answering.", usage=usage)
    if _REFUSAL.fullmatch(text.strip()):
        refusal = " ".join(text.split())
        return ReplyUnusable(f"{model} refused to answer: {refusal}", usage=usage)
    words = text.split()[-_LOOP_WORDS:]
    if any(
        words[-length * _LOOP_REPEATS :] == words[-length:] * _LOOP_REPEATS
        for length in range(1, len(words) // _LOOP_REPEATS + 1)
    ):
        return ReplyUnusable(f"{model} repeated the same words again and again.", usage=usage)
    return None


def with_setting_hint(
    error: ReplyUnusable, provider: str, request: ModelRequest, limits: Capability
) -> ReplyUnusable:
    """The error; if the reply was cut off, with the setting that allows a longer one."""
    tokens = error.usage.output_tokens
    if not isinstance(error, ReplyCutOff) and not _is_cut_off(request, tokens, limits):
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


def _is_cut_off(request: ModelRequest, tokens: int, limits: Capability) -> bool:
    return tokens >= output_reserve(limits, request)


def _is_echo(request: ModelRequest, text: str) -> bool:
    marks = (f"<<<{request.delimiter}", f">>>{request.delimiter}")
    if request.delimiter and any(mark in text for mark in marks):
        return True
    word_lists = [part.text.split() for part in request.parts if part.kind is PartKind.TASK]
    # Whitespace may differ. The check for single words is fast and rules out most replies.
    tasks = [" ".join(words) for words in word_lists if all(word in text for word in words)]
    reply_text = " ".join(text.split()) if tasks else ""
    return any(len(task) >= _MIN_ECHO_CHARS and task in reply_text for task in tasks)


def without_preamble(text: str) -> str:
    """The text without a code fence around it and without "Sure! Here is my proposal:"."""
    bare = text.strip()
    fence = _FENCED.fullmatch(bare)
    if fence and "```" not in fence[1]:
        bare = fence[1].strip()
    preamble = _PREAMBLE.match(bare)
    return (bare[preamble.end() :] if preamble else bare) or text


def storable_text(text: str) -> str:
    """The text without NUL and without lone surrogates, which databases and JSON refuse.

    A stream may split a character beyond U+FFFF into two surrogates in two chunks: these are
    joined. A lone surrogate becomes U+FFFD.
    """
    pairs = text.replace("\0", "").encode("utf-16-le", "surrogatepass")
    return pairs.decode("utf-16-le", "replace")


@cache
def answer_form(answer_type: type[BaseModel]) -> AnswerForm:
    """The schema of a type as strict modes of all vendors accept it.

    All fields are required; there is no $ref and no bound. The type has no mappings and no unions,
    which strict schemas cannot describe.
    """
    full = answer_type.model_json_schema()
    name = _WORDS.sub("_", answer_type.__name__).lower().removesuffix("_reply")
    return AnswerForm(name=name, schema=_flat(full, full.get("$defs", {})))


def _flat(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A node of the schema without the keywords that strict modes refuse."""
    node = _resolve(node, definitions)
    flat: dict[str, Any] = {key: node[key] for key in _SCHEMA_KEYWORDS if key in node}
    if node.get("type") == "object":
        fields = {key: _flat(value, definitions) for key, value in node["properties"].items()}
        flat |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    if node.get("type") == "array":
        flat["items"] = _flat(node.get("items", node.get("prefixItems", [{}])[0]), definitions)
    return flat


def _resolve(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node that a $ref points to, or the only alternative to null; else the node itself."""
    if "$ref" in node:
        return _resolve(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    choices = [choice for choice in node.get("anyOf", ()) if choice.get("type") != "null"]
    return _resolve(choices[0], definitions) if len(choices) == 1 else node


def read_answer(text: str, answer_type: type[T], check: Check[T] | None = None) -> T:
    """Read the answer from a reply: in a fence, among words, in an outer object, or broken JSON.

    If several objects fit the form, the last one counts.

    Raises:
        ReplyUnreadable: No object fits; the message tells the model all faults of the object with
            the fewest missing fields.
    """
    names = _names(answer_form(answer_type).schema)
    faults, fewest = "", len(names) + 1
    inner = (value for outer in _values(text) for value in _unwrap(outer))
    for candidate in (cast("dict[str, Any]", _tidy(value, names)) for value in inner):
        try:
            value = answer_type.model_validate(candidate)
        except ValidationError as error:
            # Without the content of the fields.
            complaints = [
                complaint(f'The reply\'s field "{".".join(map(str, fault["loc"]))}"', fault)
                for fault in error.errors(include_input=False, include_url=False)
            ]
            missing = sum(name not in candidate for name in answer_type.model_fields)
            if missing < fewest:
                faults, fewest = " ".join(complaints), missing
            continue
        problem = check(value) if check else None
        if not problem:
            return value
        faults, fewest = problem, -1
    if _is_cut(text):
        faults = f"The reply ends in the middle of its JSON object. {faults}".rstrip()
    raise ReplyUnreadable(faults or "The reply holds no JSON object.")


def _names(schema: Mapping[str, Any]) -> frozenset[str]:
    fields = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties", {}))
    inner = [*fields.values(), *([schema["items"]] if "items" in schema else [])]
    return frozenset(fields).union(*(_names(schema) for schema in inner))


def _values(text: str) -> Iterator[object]:
    """The JSON values in a text, the likeliest first.

    The whole text, then the complete objects in it from the last to the first, then broken JSON as
    a library repairs it.
    """
    with suppress(ValueError, RecursionError):
        yield _DECODER.decode(text)
    objects, end = list[object](), 0
    with suppress(ValueError, RecursionError):  # the next object may be inside a broken one
        while match := _OBJECT.search(text, end):
            value, end = _DECODER.raw_decode(text, match.start())
            objects.append(value)
    yield from reversed(objects)
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end < begin + _MAX_REPAIR_CHARS and not _is_cut(text):
        from json_repair import loads  # noqa: PLC0415 - few replies need it

        with suppress(Exception):  # text that it cannot repair is no answer
            yield loads(text[begin : end + 1])


def _is_cut(text: str) -> bool:
    """Whether a reply ends inside an object; repairing it would invent the rest."""
    return text.count("{") > text.count("}")


def _unwrap(value: object) -> Iterator[dict[str, Any]]:
    """The objects in a value, the outermost first; models wrap answers in objects or lists."""
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
    """The value with field names as in the form, and text that can be stored."""
    if isinstance(value, str):
        return storable_text(value)
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
    """The field name in snake case: "Open Questions" is `open_questions`."""
    return "_".join(re.findall(r"[^\W_]+", _WORDS.sub(" ", name).casefold()))


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its fields; of a repeated field the last value that is not null counts."""
    return dict(pairs) | {name: value for name, value in pairs if value is not None}


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object_of)


def repair_parts(reply: str, problem: str) -> tuple[Part, Part]:
    """The parts that ask for the answer once more; the unreadable reply is quoted as data."""
    task = (
        f"Your previous reply could not be used: {problem}\n"
        "Answer again. Reply with the JSON object alone, with every field filled."
    )
    return (
        Part(kind=PartKind.OTHER, label="Your previous reply", text=reply),
        Part(kind=PartKind.TASK, label="Repair", text=task),
    )
