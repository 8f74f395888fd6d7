"""The verdict, its cross-check and audit, one model's answer alone; what people do with it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field

from core.debate.contributions import NoteOutcome, RaisedPoint, ReviewFinding
from core.debate.evidence import Citation
from core.debate.people import Person
from core.debate.turn import Turn
from core.usage import Call, Usage
from core.values import Value


class VerdictSource(StrEnum):
    JUDGE = "judge"
    FALLBACK_JUDGE = "fallback-judge"
    #: The judge could not be asked: the winning position stands as it is.
    WINNER = "winner"


class RequirementStatus(StrEnum):
    MET = "met"
    NOT_MET = "not met"
    UNKNOWN = "unknown"


class Requirement(Value):
    text: str
    #: The words of the solution that show it; empty where there are none.
    words: str = ""
    status: RequirementStatus


class Judgement(Value):
    option: str
    criterion: str
    words: str


class Relation(StrEnum):
    CONFIRMS = "confirms"
    REFINES = "refines"
    CONTRADICTS = "contradicts"


class VerdictSection(Value):
    title: str
    text: str


class EarlierDecision(Value):
    #: How it is cited: d1.
    source: str
    #: Id of its debate, what it was, and where people find it (empty: nowhere).
    debate: str
    title: str
    address: str = ""
    relation: Relation
    why: str = ""


class CrossCheck(Value):
    turn: Turn
    #: Id of the option; empty: none of them.
    option: str
    reason: str = ""
    call: Call | None = None


#: How a verdict begins in which the offline engine declines to decide. No prompt asks for it.
NOT_DECIDED = "Not decided: no model was asked"


class Overrule(Value):
    """That a judge decided for another option than the vote chose, and on what ground."""

    #: Ids of the options that the vote and the judge chose; the judge's may be empty: none of them.
    vote: str
    judge: str
    #: The major requirement that the vote's option breaks, or the quote that shows it; empty: the
    #: judge named none that is there, and the vote stands.
    ground: str = ""
    #: Id of the source that is quoted; empty: a requirement.
    source: str = ""

    @property
    def stands(self) -> bool:
        return bool(self.ground)


class AuditKind(StrEnum):
    #: A figure that does not follow from the others.
    SUM = "sum"
    #: A quote that is not there, or says something else.
    QUOTE = "quote"
    #: A reason against it that a ballot holds and the verdict leaves out.
    DISSENT = "dissent"
    #: A requirement that is called met and is not.
    REQUIREMENT = "requirement"


class AuditFault(Value):
    kind: AuditKind
    words: str
    why: str


class Audit(Value):
    turn: Turn
    #: The model, as `provider/model`.
    auditor: str
    faults: tuple[AuditFault, ...] = ()
    #: Faults that are about words which stand nowhere.
    invented: int = 0
    #: Why there is none; empty: there is one.
    failure: str = ""
    call: Call | None = None
    lost: Usage = Usage()


OVERTURNED_BY = "What would overturn it"
#: Fields of a verdict that hold several texts each, and their titles in what people read.
LIST_TITLES: Mapping[str, str] = {
    "reasons": "Reasons",
    "tradeoffs": "Trade-offs",
    "recommendations": "Recommendations",
    "open_questions": "Open questions",
    "overturned_by": OVERTURNED_BY,
}


class Quoting(Value):
    #: Fields that hold one text each, and those that hold several.
    TEXTS: ClassVar[Sequence[str]] = ()
    LISTS: ClassVar[Sequence[str]] = ()

    def with_texts(self, rewritten: Callable[[str], str]) -> Self:
        changes: dict[str, object] = {name: rewritten(getattr(self, name)) for name in self.TEXTS}
        changes |= {name: tuple(map(rewritten, getattr(self, name))) for name in self.LISTS}
        return self.model_copy(update=changes)


class Verdict(Quoting):
    """The judge's result. It is the agents' verdict, not yet the team's decision."""

    TEXTS = ("decision", "solution", "implementation", "dissent")
    LISTS = tuple(LIST_TITLES)

    decision: str
    #: Id of the option decided for; empty: none of them, or there were none.
    option: str = ""
    #: What weighs most, each in a sentence.
    reasons: tuple[str, ...] = ()
    solution: str
    implementation: str = ""
    #: Every major requirement the judge looked at; empty in debates of older versions.
    requirements: tuple[Requirement, ...] = ()
    criteria: tuple[Judgement, ...] = ()
    #: What the playbook asked for besides; empty without one.
    sections: tuple[VerdictSection, ...] = ()
    tradeoffs: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    unmet_requirements: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    dissent: str = ""
    #: Id of the agent that holds it, the judge's where nobody else does; empty: nobody said whose.
    dissent_by: str = ""
    overturned_by: tuple[str, ...] = ()
    #: What one agent alone raised and the decision leaves out; what weighs most first.
    lone: tuple[RaisedPoint, ...] = ()
    notes: tuple[NoteOutcome, ...] = ()
    citations: tuple[Citation, ...] = ()
    #: None: the judge decided for the option that the vote chose, or the vote chose none.
    overrule: Overrule | None = None
    #: How it stands to what was decided earlier.
    earlier: tuple[EarlierDecision, ...] = ()
    #: Of a review: every finding that counts, as it stood at the end.
    findings: tuple[ReviewFinding, ...] = ()
    #: 0 to 100, computed from the debate; None: none can be given. In debates of older versions:
    #: what the judge said.
    confidence: int | None
    #: What it rests on, in words for people.
    rests_on: tuple[str, ...] = ()
    #: What the judge itself said, 0 to 100: a footnote.
    judge_confidence: int | None = None
    source: VerdictSource = VerdictSource.JUDGE
    #: Written after a stop or with the quorum lost: not all turns were taken.
    partial: bool = False
    warnings: tuple[str, ...] = ()
    call: Call | None = None
    lost: Usage = Usage()

    @property
    def is_undecided(self) -> bool:
        """Whether our own engine declined to decide; what a model writes is the team's to judge."""
        declines = self.decision.startswith(NOT_DECIDED)
        return declines and not self.option and self.confidence is None

    def with_texts(self, rewritten: Callable[[str], str]) -> "Verdict":
        verdict = super().with_texts(rewritten)
        sections = tuple(
            section.model_copy(update={"text": rewritten(section.text)})
            for section in self.sections
        )
        return verdict.model_copy(update={"sections": sections})


class ShadowAnswer(Quoting):
    """What one model answered alone, from the question and the sources only.

    No agent, judge or person is shown it before the verdict.
    """

    TEXTS = ("decision", "solution")
    LISTS = ("alternatives", "reasons", "risks", "overturned_by")

    turn: Turn
    decision: str
    solution: str = ""
    #: What it chose between, and why as it did.
    alternatives: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    overturned_by: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    call: Call | None = None

    @property
    def text(self) -> str:
        lists = (*self.alternatives, *self.reasons, *self.risks, *self.overturned_by)
        return "\n".join((self.decision, self.solution, *lists))


class ShadowChoice(Value):
    turn: Turn
    #: Id of the option; empty: none of them.
    option: str
    call: Call | None = None


class FollowUp(Value):
    #: What brought it (a message, a form): what arrives twice is known by it.
    id: str
    by: Person
    text: str
    #: Counted from 1 in its debate; 0 before it is in the log.
    number: int = 0


#: Entries of a debate's record that no agent said: in place of the key of a turn.
VERDICT_ENTRY, DECISION_ENTRY = "verdict", "decision"


class FollowUpAnswer(Value):
    """What a debate's record says to a question: the judge's words, or passages of the record."""

    turn: Turn
    #: Markdown; quotes that do not stand in the record are struck out.
    text: str
    citations: tuple[Citation, ...] = ()
    #: Entries of the record that it quotes: id → the key of their turn, "verdict" or "decision".
    entries: Mapping[str, str] = Field(default_factory=dict[str, str])
    #: Why no model answers, in words for people; empty where one does.
    fault: str = ""
    call: Call | None = None
    lost: Usage = Usage()

    @property
    def usage(self) -> Usage:
        return self.call.usage + self.lost if self.call else self.lost


class DecisionKind(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    REVISIT = "revisit"
    #: A newer debate stands in its place.
    SUPERSEDE = "supersede"


class Decision(Value):
    """What the team decided after the agents' verdict. The newest one stands."""

    kind: DecisionKind
    by: Person
    why: str = ""
    #: With `REVISIT`: when to look at it again.
    revisit_on: date | None = None
    #: With `SUPERSEDE`: id of the newer debate.
    superseded_by: str | None = None
    origin: str


class OutcomeKind(StrEnum):
    HELD = "held"
    PARTLY = "partly"
    #: It was taken back, or was wrong.
    REVERSED = "reversed"
    TOO_EARLY = "too early"


class DecisionOutcome(Value):
    """How an accepted decision turned out, as somebody of the team says. The newest one stands."""

    kind: OutcomeKind
    by: Person
    why: str = ""
    #: Origin of the accepted decision; empty on a terminal, where nobody accepts.
    decision: str = ""
    origin: str


class Feedback(Value):
    by: Person
    helpful: bool
    comment: str = ""
    #: Tells one piece of feedback from the next; a person's newest one counts.
    origin: str
