"""The rules of a debate (format, rounds, limits, votes, questions to people), and playbooks."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from core.debate.agents import Summarization
from core.values import Money, Seconds, Value

#: The default cap on the cost of a debate, in US dollars. It allows models whose price is unknown;
#: a cap from settings or a command does not.
USUAL_DEBATE_COST = Decimal(5)


class Limits(Value):
    """Limits of a debate. Times are in seconds, money in US dollars."""

    turn_seconds: Seconds = Field(default=180.0, description="For one turn with its retries.")
    round_seconds: Seconds = Field(default=900.0, description="For one round.")
    debate_seconds: Seconds = Field(default=3600.0, description="For the whole debate.")
    outage_seconds: Seconds = Field(
        default=21600.0,
        description="To wait while no model can be reached; the other limits do not count it.",
    )
    debate_cost: Money | None = Field(
        default=USUAL_DEBATE_COST, description="What one debate may cost; null: no cap."
    )
    quorum: int = Field(default=2, ge=1, description="Agents that must be able to speak.")


class VoteRules(Value):
    """How ballots are counted."""

    exclude_self: bool = Field(
        default=True, description="Leave out how agents rank their own positions."
    )
    weights: Mapping[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=dict[str, float], description="Weight per agent id; 1 where none is given."
    )


class When(StrEnum):
    """When the first answers are debated."""

    #: If they differ, or the question asks for a design or an estimate.
    SPLIT = "split"
    ALWAYS = "always"
    #: The agents vote on the first answers.
    NEVER = "never"


class ShadowWhen(StrEnum):
    """When a debate has a shadow answer."""

    #: If several models take part.
    MIXED = "mixed"
    ALWAYS = "always"
    NEVER = "never"


class Ending(StrEnum):
    """When the rounds end."""

    #: After the set number of rounds.
    FIXED = "fixed"
    #: As soon as no agent changed its mind in a round, or all agree.
    CONVERGED = "converged"


#: No debate has more rounds.
MOST_ROUNDS = 15


class Termination(Value):
    """When the rounds end."""

    ending: Ending = Field(
        default=Ending.CONVERGED,
        validation_alias="type",
        serialization_alias="type",
        description="After all rounds, or as soon as a round moved nobody or all agree.",
    )
    min_rounds: int = Field(
        default=1, ge=1, description="Fewest rounds, unless the debate is skipped."
    )


class Clarifying(Value):
    """Whether and how agents may ask people before the first round."""

    enabled: bool = Field(default=False, description="Whether they may ask.")
    per_agent: int = Field(default=5, ge=1, le=20, description="Questions per agent.")
    wait_seconds: Seconds = Field(
        default=900.0, description="To answer; then assumptions are used."
    )
    rounds: int = Field(
        default=1, ge=1, le=3, description="Rounds of questions: the first and follow-ups."
    )
    #: The default is for logs of older versions.
    correct_seconds: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="To correct an answer by an edit."
    )


#: How many rounds a debate has.
Rounds = Annotated[int, Field(ge=1, le=MOST_ROUNDS)]


class DebateRules(Value):
    """How a debate is held. Bounds may be widened, never narrowed, or older logs become invalid."""

    format: str = Field(default="critique", description="A built-in format, or a plugin's.")
    rounds: Rounds = Field(default=3, description="Rounds before the vote, at most.")
    when: When = Field(
        default=When.SPLIT, description="Debate only where first answers differ, always, or never."
    )
    termination: Termination = Field(default=Termination(), description="When the rounds end.")
    clarifying: Clarifying = Field(
        default=Clarifying(),
        validation_alias="clarifications",
        serialization_alias="clarifications",
        description="Questions to people before round 1.",
    )
    summarization: Summarization = Field(
        default=Summarization(), description="How prompts shorten older turns."
    )
    shadow: ShadowWhen = Field(
        default=ShadowWhen.MIXED,
        description="Whether one model also answers alone, hidden until the verdict: if several "
        "models take part, always, or never.",
    )
    audit: bool = Field(
        default=True,
        description="Have a model of another vendor than the judge's look for faults in the "
        "verdict before it is posted, where there is one.",
    )
    sealed: bool = Field(
        default=False,
        description="Hide agents' stances, ballots and verdict until they are revealed, so that "
        "people vote independently.",
    )
    reveal_after_hours: int = Field(
        default=0,
        ge=0,
        le=2000,
        description="Hours after its start at which a sealed debate is revealed; 0: a person does.",
    )
    evidence_characters: int = Field(
        default=24_000, ge=1000, description="Passages of sources in a prompt, in characters."
    )


#: The format of reviews.
REVIEW = "review"


def _on_one_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValueError("must be on one line")
    return text


#: Short and long texts of a playbook.
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
    """A question that a playbook asks people before round 1."""

    question: _Sentences = Field(description="What people are asked.")
    assumption: _Sentences = Field(description="Used if nobody answers.")


class PlaybookCriterion(Value):
    """A criterion by which a playbook compares options."""

    name: _Words = Field(description="A few words; the column's title in the table of options.")
    meaning: _Sentences = Field(description="What it asks of an option.")
    must: bool = Field(
        default=False,
        description="Whether an option must meet it; it is then also a requirement.",
    )


class WantedEvidence(Value):
    """A kind of source that a playbook asks for."""

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
        description="A source counts only if it contains one of these words, or a word that begins "
        "with one; empty: any source of these kinds counts.",
    )


class VerdictPart(Value):
    """A section that a playbook adds to the verdict."""

    title: _Words = Field(description="The section's heading.")
    asks: _Sentences = Field(description="What the judge is to write there.")


class Playbook(Value):
    """A ready-made kind of debate: its agents, format, questions, criteria, evidence and sections.

    A debate has a copy of its playbook; changes of the file affect only later debates. Bounds may
    be widened, never narrowed, or older logs become invalid.
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
        description="Agents of the settings, or roles; at least two. Empty: as without a playbook.",
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
        default=(),
        max_length=6,
        description="Criteria to compare options by, the most important first.",
    )
    evidence: tuple[WantedEvidence, ...] = Field(
        default=(),
        max_length=6,
        description="Sources that should be given. People are asked for missing ones, and the "
        "verdict names them.",
    )
    verdict: tuple[VerdictPart, ...] = Field(
        default=(), max_length=6, description="Sections of the verdict besides the usual ones."
    )
