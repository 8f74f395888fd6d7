"""What is said in a debate: contributions, their summaries, notes of people, failed turns."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from core.debate.evidence import Citation, SourceReference
from core.debate.findings import ReviewFinding
from core.debate.people import Person
from core.debate.turn import Turn
from core.usage import Call, Usage
from core.values import Value


class RaisedKind(StrEnum):
    RISK = "risk"
    IDEA = "idea"
    FACT = "fact"
    #: A fact that it lacks, where people were not asked before.
    MISSING = "missing"


class RaisedPoint(Value):
    agent: str
    kind: RaisedKind
    text: str


class Contribution(Value):
    turn: Turn
    text: str
    #: What the text says in one sentence, as its author put it; empty: not said.
    answer: str = ""
    #: What weighs most in it, as its author put it; the gravest first.
    points: tuple[str, ...] = ()
    #: Of a first answer: what its author would not have anybody miss, whoever wins.
    raised: tuple[RaisedPoint, ...] = ()
    #: None when no model was asked (a proposal carried over from the last refinement).
    call: Call | None = None
    #: Key of the turn whose text was carried over, if any.
    carried_from: str | None = None
    #: What it quotes, in the order of the text.
    citations: tuple[Citation, ...] = ()
    #: What it looked up in the sources before it spoke; empty: nothing.
    looked_up: str = ""
    #: How likely the agent now holds each option the best: 0 to 1 by option id; empty: not said.
    stance: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: Options that its stance names first: their names, each with its share.
    new_options: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: Of a review: what it found, struck out or not; of a second look: how its findings stand.
    findings: tuple[ReviewFinding, ...] = ()
    warnings: tuple[str, ...] = ()


class FailureCause(StrEnum):
    """What a failed turn says about the turns after it."""

    #: Nothing: the next one may go well.
    PASSING = "passing"
    #: A cap on money could be passed: nothing more can be paid.
    CAP = "cap"
    #: The provider refuses our key: this agent cannot be asked any more.
    KEY = "key"


class Failure(Value):
    """A turn that failed after its retries. It is a fact, never text in the debate."""

    turn: Turn
    #: Words for people; no secrets, no prompts.
    reason: str
    usage: Usage = Usage(attempts=1)
    cause: FailureCause = FailureCause.PASSING


class SummaryKind(StrEnum):
    #: One agent's own history: its proposals, the critiques of them, its refinements.
    PERSPECTIVE = "perspective"
    CONTRIBUTION = "contribution"
    ROUND = "round"
    META = "meta"
    #: The last round's positions, for the judge.
    JUDGE = "judge"


class Summary(Value):
    turn: Turn
    kind: SummaryKind
    text: str
    before_chars: int
    after_chars: int
    #: How it was made: the context method, or the fallback that had to do.
    method: str
    call: Call | None = None
    lost: Usage = Usage()
    warnings: tuple[str, ...] = ()


class Note(Value):
    id: str
    author: Person
    #: Empty: it says nothing any more, as it was edited away, deleted, or is an answer now.
    text: str
    #: Counts the notes of a debate, given by the fold: what others go by stays as it is.
    number: int = 0
    #: Contributions that existed when it arrived; turns after it see it.
    after: int = 0
    #: When it was edited last, in an order of its surface; empty: it was not.
    change: str = ""
    references: tuple[SourceReference, ...] = ()


class NoteOutcome(Value):
    note: str
    used: bool
    explanation: str
