"""Fields that forms of replies share, and functions that read them from model text (pure).

The form names every label that a field allows. The reader also accepts clear variants: "P1" for p1,
"c1, because …" for c1, 85 for 0.85. A reply that `narrow_form` does not change has no docstring,
because the docstring would be sent with the form.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

M = TypeVar("M", bound=BaseModel)
#: Longest decision shown in one line, in characters.
DECISION_MAX_CHARS = 300
#: The answer for "none of these labels".
NOBODY = "none"
WORD = re.compile(r"[^\W_]+")
#: Separates a label from a reason. Not "but" or a bracket, which can limit the label: "(in part)".
_REASON = re.compile(r",?\s(?:because|as|since)\s|[:;.]|\s[-–—]\s")
_PERCENT = 100


def label_in(raw: object, labels: Sequence[str]) -> object:
    """The label that the text equals or contains first, in upper or lower case; else the text."""
    if not isinstance(raw, str):
        return raw
    by_words = {" ".join(WORD.findall(label.casefold())): label for label in labels}
    bare = " ".join(WORD.findall(raw.casefold()))
    if bare in by_words:
        return by_words[bare]
    first = bare.partition(" ")[0]
    if NOBODY in by_words and first in {"", "no", "none", "null", "nobody", "nothing"}:
        return NOBODY
    text = f" {bare} "
    places = {text.find(f" {label} "): label for label in by_words if f" {label} " in text}
    return by_words[places[min(places)]] if places else raw


def exact_label(raw: object, labels: Mapping[str, str], default: str) -> str:
    """The label that the text equals, except for a reason after it; so "not met" is not "met"."""
    text = str(raw).casefold()
    heads = (" ".join(WORD.findall(head)) for head in (text, _REASON.split(text, maxsplit=1)[0]))
    return next((labels[head] for head in heads if head in labels), default)


def number_in(raw: object) -> object:
    if not isinstance(raw, str):
        return raw
    bare = raw.strip().removesuffix("%").strip()
    return None if bare.casefold() in {"", "none", "null", "n/a"} else bare.replace(",", ".")


def percent_in(raw: object) -> int | None:
    """A percentage, also if it is written as a share of 1; None if it is none."""
    try:
        value = float(number_in(raw))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    percent = value * _PERCENT if 0 < value < 1 else value
    return round(percent) if 0 <= percent <= _PERCENT else None


def label_type(labels: Sequence[str]) -> Any:
    form: dict[str, Any] = {"type": "string", "enum": list(labels)}
    return Annotated[str, BeforeValidator(partial(label_in, labels=labels)), WithJsonSchema(form)]


def narrow_form(form: type[M], **types: Any) -> type[M]:
    fields = dict[str, Any]()
    for name, kind in types.items():
        field = form.model_fields[name]
        fields[name] = (kind, ... if field.is_required() else field.default)
    return create_model(form.__name__, __base__=form, **fields)


class ChoiceReply(BaseModel):
    reason: str
    option: str


@cache
def choice_reply(options: tuple[str, ...]) -> type[ChoiceReply]:
    return narrow_form(ChoiceReply, option=label_type((*options, NOBODY)))


class SameReply(BaseModel):
    same_as: list[int]


@cache
def same_reply(labels: tuple[str, ...]) -> type[SameReply]:
    field = Field(description=f"for {', '.join(labels)}")
    return narrow_form(SameReply, same_as=Annotated[list[int], field])


def same_fault(reply: SameReply, labels: Sequence[str]) -> str:
    """The fault of the list, as a sentence for the model; empty if there is none."""
    if len(reply.same_as) != len(labels):
        return f'"same_as" must hold {len(labels)} numbers, for {", ".join(labels)}.'
    if not all(1 <= first <= number for number, first in enumerate(reply.same_as, start=1)):
        return 'Each number of "same_as" is that of one before it, or its own.'
    return ""


def lines_of(items: Sequence[str]) -> tuple[str, ...]:
    return tuple(item.strip() for item in items if item.strip())


def first_sentence(text: str) -> str:
    """The first line with words, without Markdown marks; a long line is cut and ends with "…"."""
    bare = text.replace("**", "").replace("`", "")
    lines = (line.strip(" #*_>-") for line in bare.splitlines())
    first = next((line for line in lines if line), "")
    if len(first) <= DECISION_MAX_CHARS:
        return first
    return first[: DECISION_MAX_CHARS - 1].rstrip() + "…"
