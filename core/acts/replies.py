"""Model text → typed values: the form of structured replies and how they are read (pure).

The form names every label that may stand in a field. The reader forgives what is clear all the
same: "P1" for p1, "c1, because …" for c1, 85 for 0.85.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from core.models import (
    NextStep,
    QuestionKind,
)
from core.rules.options import MOST_OPTIONS

#: Longest decision shown in one line, in characters.
DECISION_MAX_CHARS = 300
#: What a voter answers whom no critique moved.
NOBODY = "none"
WORD = re.compile(r"[^\W_]+")
_PERCENT = 100


def label_in(said: object, labels: Sequence[str]) -> object:
    """The label that a text is or names first, in any case; the text where it is none."""
    if not isinstance(said, str):
        return said
    known = {label.casefold(): label for label in labels}
    bare = " ".join(WORD.findall(said.casefold()))
    if bare in known:
        return known[bare]
    words = bare.split()
    if NOBODY in known and words[:1] in ([], ["no"], ["none"], ["null"], ["nobody"], ["nothing"]):
        return NOBODY
    found = sorted((words.index(label), known[label]) for label in known if label in words)
    return found[0][1] if found else said


def figure_in(said: object) -> object:
    """A number where it stands as text, with or without a percent sign."""
    if not isinstance(said, str):
        return said
    bare = said.strip().removesuffix("%").strip()
    return None if bare.casefold() in {"", "none", "null", "n/a"} else bare.replace(",", ".")


def of_hundred(said: object) -> object:
    """From 0 to 100: 0.72 and "72 %" are 72."""
    figure = figure_in(said)
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


#: What a model may call the kind of a question: whether something is to be done is a choice, too.
_WHETHER = "whether"
QUESTION_KINDS: Mapping[str, QuestionKind] = {
    QuestionKind.CHOICE.value: QuestionKind.CHOICE,
    _WHETHER: QuestionKind.CHOICE,
    QuestionKind.DESIGN.value: QuestionKind.DESIGN,
    QuestionKind.ESTIMATE.value: QuestionKind.ESTIMATE,
}


class OptionsReply(BaseModel):
    """What there is to choose between, and which of it each position stands for."""

    options: list[str]
    #: For each position in the labels' order: the number of its option, counted from 1.
    stands_for: list[int]
    kind: str


@cache
def options_reply(labels: tuple[str, ...]) -> type[OptionsReply]:
    """The form of a list of options for positions of these labels."""
    fields: dict[str, Any] = {
        "stands_for": (Annotated[list[int], Field(description=f"for {', '.join(labels)}")], ...),
        "kind": (one_of(tuple(QUESTION_KINDS)), ...),
    }
    return create_model("OptionsReply", __base__=OptionsReply, **fields)


def options_fault(reply: OptionsReply, labels: Sequence[str]) -> str:
    """What is wrong with the list, as a sentence for the model; empty if it is good."""
    names = [name.strip().casefold() for name in reply.options]
    if not all(names):
        return "Each option needs a name."
    if len(set(names)) < len(names):
        return "Each option must be named once."
    if len(names) > MOST_OPTIONS:
        return f"There can be {MOST_OPTIONS} options at most; there are {len(names)}."
    if len(reply.stands_for) != len(labels):
        return f'"stands_for" must hold {len(labels)} numbers: for {", ".join(labels)}.'
    if names and not all(1 <= number <= len(names) for number in reply.stands_for):
        return f'Each number of "stands_for" must be from 1 to {len(names)}.'
    if reply.kind not in QUESTION_KINDS:
        return f'"kind" must be one of {", ".join(QUESTION_KINDS)}.'
    if reply.kind == _WHETHER and len(names) == 1:
        return (
            "A question whether to do something has two options at least: to do it and not to do "
            "it, also where no position stands for one of them."
        )
    return ""


class QuestionReply(BaseModel):
    """One clarifying question."""

    question: str
    assumption: str


class QuestionsReply(BaseModel):
    """What an agent wants to know."""

    questions: list[QuestionReply]


class FacilitationReply(BaseModel):
    """What a facilitator answers."""

    focus: str
    question: str
    assumption: str
    decision: str


@cache
def facilitation_reply() -> type[FacilitationReply]:
    """The form of a decision: every step, also where the prompt says that one is not open.

    A vendor's cache is another one for each form.
    """
    fields: dict[str, Any] = {"decision": (one_of([step.value for step in NextStep]), ...)}
    return create_model("FacilitationReply", __base__=FacilitationReply, **fields)


class CastRoleReply(BaseModel):
    """One role that is to take part."""

    reason: str
    role: str


class CastingReply(BaseModel):
    """Who is to take part."""

    agents: list[CastRoleReply]


@cache
def casting_reply(roles: tuple[str, ...]) -> type[CastingReply]:
    """The form of a choice among these roles."""
    fields: dict[str, Any] = {"role": (one_of(roles), ...)}
    one = create_model("CastRoleReply", __base__=CastRoleReply, **fields)
    agents: dict[str, Any] = {"agents": (list[one], ...)}
    return create_model("CastingReply", __base__=CastingReply, **agents)


class CrossCheckReply(BaseModel):
    """What the judge chooses when it reads the positions in the opposite order."""

    reason: str
    option: str


@cache
def cross_check_reply(options: tuple[str, ...]) -> type[CrossCheckReply]:
    """The form of a choice among these options."""
    fields: dict[str, Any] = {"option": (one_of((*options, NOBODY)), ...)}
    return create_model("CrossCheckReply", __base__=CrossCheckReply, **fields)


class ShadowReply(BaseModel):
    """What one model answers alone: what weighs, then what follows from it."""

    options: list[str]
    reasons: list[str]
    risks: list[str]
    overturned_by: list[str]
    decision: str
    solution: str


def facilitation_fault(reply: FacilitationReply) -> str | None:
    """What is wrong with the decision, as a sentence for the model; None if it is good."""
    steps = [step.value for step in NextStep]
    if reply.decision in steps:
        return None
    return f'"decision" must be one of {", ".join(steps)}, not "{reply.decision}".'


def clamp(value: float, low: float, high: float) -> float:
    """The value, or the nearer end of the range."""
    return max(low, min(high, value))


def first_sentence(text: str) -> str:
    """The first line with words in it, without Markdown marks, cut visibly if it is long."""
    lines = (line.strip(" #*_>`-") for line in text.splitlines())
    first = next((line for line in lines if line), "")
    if len(first) <= DECISION_MAX_CHARS:
        return first
    return first[: DECISION_MAX_CHARS - 1].rstrip() + "…"
