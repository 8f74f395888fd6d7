"""The forms of replies about findings, and how they are read (pure)."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from core.acts.replies import NOBODY, one_of
from core.models import FindingStatus, Severity
from core.rules.formats.review import VERDICTS

_SETTLED = re.compile(r"\W*(?:resolved|settled|mended|fixed|closed|done)\b", re.IGNORECASE)


def _status(said: object) -> object:
    """Resolved where that is said in the first word; all else is open."""
    if not isinstance(said, str):
        return said
    return (FindingStatus.RESOLVED if _SETTLED.match(said) else FindingStatus.OPEN).value


class FindingReply(BaseModel):
    """One finding."""

    source: str
    words: str
    wrong: str
    mend: str = ""
    severity: str


class LookReply(BaseModel):
    """How one finding stands."""

    finding: str
    why: str = ""
    status: Annotated[
        str,
        BeforeValidator(_status),
        WithJsonSchema(
            {"type": "string", "enum": [FindingStatus.RESOLVED.value, FindingStatus.OPEN.value]}
        ),
    ]


class ReviewReply(BaseModel):
    """What an agent finds in the subject."""

    findings: list[FindingReply]
    summary: str
    #: Id of the verdict it would give, or `NOBODY`'s word.
    verdict: str = NOBODY


class SecondLookReply(BaseModel):
    """What an agent says when it looks again."""

    looks: list[LookReply]
    new: list[FindingReply] = []
    summary: str
    verdict: str = NOBODY


class SameReply(BaseModel):
    """Which findings say the same."""

    same_as: list[int]


@cache
def review_reply(sources: tuple[str, ...]) -> type[ReviewReply]:
    """The form of a review of these sources."""
    fields: dict[str, Any] = {
        "findings": (list[_finding(sources)], ...),
        "verdict": (one_of((*VERDICTS, NOBODY)), NOBODY),
    }
    return create_model("ReviewReply", __base__=ReviewReply, **fields)


@cache
def second_look_reply(labels: tuple[str, ...], sources: tuple[str, ...]) -> type[SecondLookReply]:
    """The form of a second look at findings of these labels."""
    label: dict[str, Any] = {"finding": (one_of(labels), ...)}
    look = create_model("LookReply", __base__=LookReply, **label)
    fields: dict[str, Any] = {
        "looks": (list[look], ...),
        "new": (list[_finding(sources)], []),
        "verdict": (one_of((*VERDICTS, NOBODY)), NOBODY),
    }
    return create_model("SecondLookReply", __base__=SecondLookReply, **fields)


@cache
def same_reply(labels: tuple[str, ...]) -> type[SameReply]:
    """The form of what says the same among findings of these labels."""
    about = Field(description=f"for {', '.join(labels)}")
    fields: dict[str, Any] = {"same_as": (Annotated[list[int], about], ...)}
    return create_model("SameReply", __base__=SameReply, **fields)


def same_fault(reply: SameReply, labels: Sequence[str]) -> str:
    """What is wrong with the list, as a sentence for the model; empty if it is good."""
    if len(reply.same_as) != len(labels):
        return f'"same_as" must hold {len(labels)} numbers, for {", ".join(labels)}.'
    if not all(1 <= first <= own for own, first in enumerate(reply.same_as, start=1)):
        return 'Each number of "same_as" is that of a finding before it, or its own.'
    return ""


def _finding(sources: tuple[str, ...]) -> type[FindingReply]:
    fields: dict[str, Any] = {"severity": (one_of([one.value for one in Severity]), ...)}
    if sources:
        fields["source"] = (one_of(sources), ...)
    return create_model("FindingReply", __base__=FindingReply, **fields)
