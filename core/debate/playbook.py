"""Playbooks: kinds of debates with agents, questions, criteria and verdict parts of their own."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from core.debate.rules import Rounds, When
from core.values import Value


def _on_one_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValueError("must be on one line")
    return text


#: A few words, and a sentence or two, in a playbook.
_Words = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60),
    AfterValidator(_on_one_line),
]
_Sentences = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=400),
    AfterValidator(_on_one_line),
]


class StandingQuestion(Value):
    """What a playbook asks people before round 1."""

    question: _Sentences = Field(description="What people are asked.")
    assumption: _Sentences = Field(description="What holds if nobody answers.")


class PlaybookCriterion(Value):
    """What a playbook compares options by."""

    name: _Words = Field(description="A few words; the column's title in the table of options.")
    meaning: _Sentences = Field(description="What it asks of an option.")
    must: bool = Field(
        default=False,
        description="An option that fails it is no good: it is in the table of requirements, too.",
    )


class WantedEvidence(Value):
    """A kind of source that a playbook wants to be there."""

    name: _Words = Field(description="What people call it: `the offer of each vendor`.")
    kinds: tuple[Literal["file", "link", "thread", "tool", "text"], ...] = Field(
        default=("file", "link", "thread", "tool", "text"),
        min_length=1,
        description="`file`, `link`, `thread`, `tool` (what a tool of an MCP server returned) or "
        "`text` (the words that a review was asked for with).",
    )
    words: tuple[_Words, ...] = Field(
        default=(),
        max_length=20,
        description="A source is it only if it holds one of these words or their beginnings; "
        "empty: any source of its kinds is.",
    )


class VerdictPart(Value):
    """A section that a playbook adds to the verdict."""

    title: _Words = Field(description="The section's heading.")
    asks: _Sentences = Field(description="What the judge is to write there.")


class Playbook(Value):
    """A kind of debate, ready-made: who debates and how, and what is asked, weighed and answered.

    A debate keeps the one it began with; whoever changes the file changes later debates. A bound
    may be widened, never narrowed: logs hold what it allowed.
    """

    name: str = Field(
        pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        max_length=40,
        description="What people type: lower case, with hyphens.",
    )
    title: _Words = Field(description="What people read.")
    description: _Sentences = Field(description="What it is for, on one line.")
    agents: tuple[_Words, ...] = Field(
        default=(),
        max_length=10,
        description="Agents of the settings or roles; at least two, or none: then those debate "
        "who would without it.",
    )
    format: str | None = Field(
        default=None,
        description="critique, council, panel, review, or a plugin's; null: as without a playbook.",
    )
    rounds: Rounds | None = Field(
        default=None, description="At most so many; null: as without a playbook."
    )
    when: When | None = Field(
        default=None,
        description="`split`: debate only where first answers differ; `always`; `never`: vote at "
        "once; null: as without a playbook.",
    )
    questions: tuple[StandingQuestion, ...] = Field(
        default=(), max_length=4, description="What people are asked before round 1, always."
    )
    criteria: tuple[PlaybookCriterion, ...] = Field(
        default=(), max_length=6, description="What options are compared by, the gravest first."
    )
    evidence: tuple[WantedEvidence, ...] = Field(
        default=(),
        max_length=6,
        description="Sources that should be there; for what is missing people are asked, and the "
        "verdict says so.",
    )
    verdict: tuple[VerdictPart, ...] = Field(
        default=(), max_length=6, description="Sections of the verdict besides the usual ones."
    )
