"""Model text → typed values: the fields that forms share and how they are read (pure).

The form names every label that may stand in a field. The reader forgives what is clear all the
same: "P1" for p1, "c1, because …" for c1, 85 for 0.85.
"""

import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

M = TypeVar("M", bound=BaseModel)
#: Longest decision shown in one line, in characters.
DECISION_MAX_CHARS = 300
#: What a voter answers whom no critique moved.
NOBODY = "none"
WORD = re.compile(r"[^\W_]+")
_PERCENT = 100


def label_in(raw: object, labels: Sequence[str]) -> object:
    """The label that a text is or names first, in any case; the text where it is none."""
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


def figure_in(raw: object) -> object:
    """A number where it stands as text, with or without a percent sign."""
    if not isinstance(raw, str):
        return raw
    bare = raw.strip().removesuffix("%").strip()
    return None if bare.casefold() in {"", "none", "null", "n/a"} else bare.replace(",", ".")


def of_hundred(raw: object) -> object:
    """From 0 to 100: 0.72 and "72 %" are 72."""
    figure = figure_in(raw)
    try:
        value = float(figure)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return figure
    if 0 < value < 1:
        value *= _PERCENT
    return round(value) if abs(value) <= _PERCENT**2 else figure


def one_of(labels: Sequence[str]) -> Any:
    """The type of a field that holds one of these labels."""
    form: dict[str, Any] = {"type": "string", "enum": list(labels)}
    return Annotated[str, BeforeValidator(partial(label_in, labels=labels)), WithJsonSchema(form)]


def narrowed(form: type[M], **types: Any) -> type[M]:
    """The form with these types for some of its fields, which keep their defaults."""
    fields = dict[str, Any]()
    for name, kind in types.items():
        field = form.model_fields[name]
        fields[name] = (kind, ... if field.is_required() else field.default)
    return create_model(form.__name__, __base__=form, **fields)


class ChoiceReply(BaseModel):
    """Which option somebody chooses, and why."""

    reason: str
    option: str


@cache
def choice_reply(options: tuple[str, ...]) -> type[ChoiceReply]:
    """The form of a choice among these options."""
    return narrowed(ChoiceReply, option=one_of((*options, NOBODY)))


class SameReply(BaseModel):
    """Which of several texts say the same."""

    same_as: list[int]


@cache
def same_reply(labels: tuple[str, ...]) -> type[SameReply]:
    """The form of what says the same among texts of these labels."""
    about = Field(description=f"for {', '.join(labels)}")
    return narrowed(SameReply, same_as=Annotated[list[int], about])


def same_fault(reply: SameReply, labels: Sequence[str]) -> str:
    """What is wrong with the list, as a sentence for the model; empty if it is good."""
    if len(reply.same_as) != len(labels):
        return f'"same_as" must hold {len(labels)} numbers, for {", ".join(labels)}.'
    if not all(1 <= first <= own for own, first in enumerate(reply.same_as, start=1)):
        return 'Each number of "same_as" is that of one before it, or its own.'
    return ""


def firsts_in(reply: SameReply) -> list[int]:
    """The place of the first that says the same as each, counted from 0."""
    firsts = list[int]()
    for number in reply.same_as:  # "5 as 3, 3 as 1": all are 1
        firsts.append(firsts[number - 1] if number <= len(firsts) else len(firsts))
    return firsts


def lines_of(items: Sequence[str]) -> tuple[str, ...]:
    """The items that say something, without white space around."""
    return tuple(item.strip() for item in items if item.strip())


def first_sentence(text: str) -> str:
    """The first line with words in it, without Markdown marks, cut visibly if it is long."""
    bare = text.replace("**", "").replace("`", "")
    lines = (line.strip(" #*_>-") for line in bare.splitlines())
    first = next((line for line in lines if line), "")
    if len(first) <= DECISION_MAX_CHARS:
        return first
    return first[: DECISION_MAX_CHARS - 1].rstrip() + "…"
