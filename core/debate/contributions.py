"""Texts of a debate: contributions, findings, questions, answers, notes; and failed turns."""

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
    #: The subject must not be accepted before it is fixed.
    BLOCKER = "blocker"
    #: It will cost much or affect many people, and should be fixed first.
    MAJOR = "major"
    #: Worth fixing, but the subject can be accepted without.
    MINOR = "minor"
    #: A typing error, a name, a word.
    DETAIL = "detail"


class FindingStatus(StrEnum):
    OPEN = "open"
    #: An answer settles it; no changed text shows it.
    ANSWERED = "answered"
    #: A changed text fixes it.
    RESOLVED = "resolved"
    #: An agent found it on the second look.
    NEW = "new"


class ReviewFinding(Value):
    severity: Severity
    #: The words it is about, checked when the finding was made. If they are unverified, the
    #: finding does not count.
    citation: Citation
    #: What is wrong with these words.
    wrong: str
    #: How it could be fixed.
    mend: str = ""
    #: Counted from 1 in its review, the most severe first; 0: not merged with other findings yet.
    number: int = 0
    #: Ids of the agents that found it; empty inside the contribution of the agent that found it.
    raised_by: tuple[str, ...] = ()
    status: FindingStatus = FindingStatus.OPEN
    #: The reason for the status.
    why: str = ""
    #: The words of a changed text that fix it, checked on the second look.
    mended_by: Citation | None = None
    #: Lines of the diff from the subject to the changed text at its words: "- old", "+ new".
    changed: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether its words are in the subject."""
        return self.citation.status is CitationStatus.VERIFIED

    @property
    def is_open(self) -> bool:
        return self.counts and self.status in {FindingStatus.OPEN, FindingStatus.NEW}


class Findings(Value):
    turn: Turn
    items: tuple[ReviewFinding, ...]
    call: Call | None = None
    #: The usage of failed attempts before the call.
    lost: Usage = Usage()
    #: How they were merged, if no model did it.
    warnings: tuple[str, ...] = ()


class RaisedKind(StrEnum):
    RISK = "risk"
    IDEA = "idea"
    FACT = "fact"
    #: A fact that the agent lacks, if people were not asked for it before.
    MISSING = "missing"


class RaisedPoint(Value):
    agent: str
    kind: RaisedKind
    text: str


class Contribution(Value):
    turn: Turn
    text: str
    #: The agent's own summary of the text in one sentence; empty if it gave none.
    answer: str = ""
    #: The agent's own list of the main points, the most important first.
    points: tuple[str, ...] = ()
    #: Only in first answers: points that must not be lost, whichever position wins.
    raised: tuple[RaisedPoint, ...] = ()
    #: None if no model was asked (a proposal carried over from the last refinement).
    call: Call | None = None
    #: Key of the turn whose text was carried over, if any.
    carried_from: str | None = None
    #: In the order of the text.
    citations: tuple[Citation, ...] = ()
    #: What the agent searched for in the sources before it wrote the text; empty: nothing.
    looked_up: str = ""
    #: The agent's probability, 0 to 1, that each option is the best, by option id; empty if it
    #: gave none.
    stance: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: Options that nobody named before: their names and the agent's probabilities for them.
    new_options: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: Of a review: all its findings, also those that do not count. Of a second look: their status.
    findings: tuple[ReviewFinding, ...] = ()
    warnings: tuple[str, ...] = ()


class FailureCause(StrEnum):
    """The cause of a failed turn, and its consequence for later turns."""

    #: Temporary: the next turn may succeed.
    PASSING = "passing"
    #: The call could exceed a cap on money: no further call can be paid.
    CAP = "cap"
    #: The provider rejects our key: this agent can no longer be asked.
    KEY = "key"


class Failure(Value):
    """A turn that failed after its retries. No agent reads it."""

    turn: Turn
    #: For people to read; no secrets, no prompts.
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
    #: The context method, or the name of the fallback if no model could write a summary.
    method: str
    call: Call | None = None
    lost: Usage = Usage()
    warnings: tuple[str, ...] = ()


class Note(Value):
    id: str
    author: Person
    #: Empty if the note was edited to nothing, was deleted, or became an answer.
    text: str
    #: Counts the notes of a debate from 1, in order of arrival. The fold sets it; it never changes.
    number: int = 0
    #: The number of contributions when the note arrived. Later turns read it.
    after: int = 0
    #: The time of the last edit, in a form that the surface can order; empty: never edited.
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
    #: Facts that the agent relies on, in its words.
    facts: tuple[str, ...] = ()
    #: What was wrong with the reply: unreadable, empty or surplus questions.
    warnings: tuple[str, ...] = ()
    call: Call | None = None


class Clarification(Value):
    """A question to people from one or several agents. Numbered from 1 in its debate."""

    number: int
    question: str
    assumption: str
    asked_by: tuple[str, ...]


class Clarifications(Value):
    turn: Turn
    items: tuple[Clarification, ...]
    until: datetime
    #: Names the questions that were left out because there were too many.
    warnings: tuple[str, ...] = ()
    #: The call that merged questions with the same meaning; None: no model was asked.
    call: Call | None = None
    lost: Usage = Usage()
    #: Whether answers can change until an event closes the questions. In older logs the last
    #: answer closed them.
    closed_by_event: bool = False


class Answer(Value):
    number: int
    #: Empty: skipped.
    text: str
    by: Person
    #: Id of the message or form. An answer that arrives twice has the same one.
    origin: str = ""
    #: Identifies a correction; empty for the first answer to its question.
    change: str = ""
    #: The time of its message's last edit, in a form that the surface can order; empty: none.
    edited: str = ""
    #: Id of the note that had this text before a person assigned it to a question; empty: none.
    note: str = ""
    #: Whether it was given in a message, which its author can edit.
    is_editable: bool = False

    @property
    def key(self) -> str:
        """The key of its event. The first answer to a question has no suffix."""
        return "/".join(filter(None, (f"answer/{self.number}", self.change)))
