"""What is said in a debate: contributions, findings, questions, answers, notes, failed turns."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from core.debate.evidence import Citation, CitationStatus, SourceReference
from core.debate.people import Person
from core.debate.turn import Turn
from core.usage import Call, Usage
from core.values import Value


class Severity(StrEnum):
    #: The subject must not go ahead with it.
    BLOCKER = "blocker"
    #: It will cost much, or go wrong for many; it is to be mended first.
    MAJOR = "major"
    #: Worth mending; nothing falls with it.
    MINOR = "minor"
    #: A slip, a name, a word.
    DETAIL = "detail"


class FindingStatus(StrEnum):
    OPEN = "open"
    #: What was said about it takes away what was wrong; no changed text shows it.
    ANSWERED = "answered"
    #: A changed text mends it.
    RESOLVED = "resolved"
    #: It came with the second look.
    NEW = "new"


class ReviewFinding(Value):
    severity: Severity
    #: The words, checked when the finding was made: unverified, and it does not count.
    citation: Citation
    wrong: str
    mend: str = ""
    #: Counted from 1 in its review, the gravest first; 0: not merged with the others' yet.
    number: int = 0
    #: Ids of the agents who found it; empty where it stands in its agent's own text.
    raised_by: tuple[str, ...] = ()
    status: FindingStatus = FindingStatus.OPEN
    why: str = ""
    #: The words of a changed text that mend it, checked when the agent looked again.
    mended_by: Citation | None = None
    #: Lines of the diff from the subject to the changed text at its words: "- old", "+ new".
    changed: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether its words stand in the subject."""
        return self.citation.status is CitationStatus.VERIFIED

    @property
    def is_open(self) -> bool:
        return self.counts and self.status in {FindingStatus.OPEN, FindingStatus.NEW}


class Findings(Value):
    turn: Turn
    items: tuple[ReviewFinding, ...]
    call: Call | None = None
    lost: Usage = Usage()
    #: How they came to be, where no model merged them.
    warnings: tuple[str, ...] = ()


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


class Question(Value):
    text: str
    assumption: str


class Questions(Value):
    turn: Turn
    questions: tuple[Question, ...]
    #: Facts that the agent relies on, as it put them.
    facts: tuple[str, ...] = ()
    #: What was wrong with the reply: unreadable, empty or surplus questions.
    warnings: tuple[str, ...] = ()
    call: Call | None = None


class Clarification(Value):
    """A question put to people, asked by one agent or several. Numbered from 1 in its debate."""

    number: int
    question: str
    assumption: str
    asked_by: tuple[str, ...]


class Clarifications(Value):
    turn: Turn
    items: tuple[Clarification, ...]
    until: datetime
    #: Questions that were left out, as there were too many.
    warnings: tuple[str, ...] = ()
    #: How a model merged what asks the same in other words; None: none did.
    call: Call | None = None
    lost: Usage = Usage()
    #: Whether answers can change until an event closes the questions; in logs of before the last
    #: answer closed them.
    closed_by_event: bool = False


class Answer(Value):
    number: int
    #: Empty: skipped.
    text: str
    by: Person
    #: What brought it (a message, a form): what arrives twice is known by it.
    origin: str = ""
    #: Tells one correction from the next; empty: the first answer to its question.
    change: str = ""
    #: When its message had been edited, in an order of its surface; empty: it was not.
    edited: str = ""
    #: Id of the note that these words were until somebody said which question they answer.
    note: str = ""
    #: Whether it stands in a message, which its author can edit.
    is_editable: bool = False

    @property
    def key(self) -> str:
        """Its event's: the first answer to a question has the question's own."""
        return "/".join(filter(None, (f"answer/{self.number}", self.change)))
