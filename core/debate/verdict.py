"""The verdict, its cross-check and audit, the shadow answer, and people's decisions on them."""

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
    #: The judge could not be asked: the verdict is the text of the winning position.
    WINNER = "winner"


class RequirementStatus(StrEnum):
    MET = "met"
    NOT_MET = "not met"
    UNKNOWN = "unknown"


class Requirement(Value):
    text: str
    #: The words of the solution that meet it; empty if there are none.
    words: str = ""
    status: RequirementStatus


class Judgement(Value):
    """How one option does on one criterion."""

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
    #: Its id in citations: d1.
    source: str
    #: Id of its debate.
    debate: str
    title: str
    #: The URL at which people find it; empty: none.
    address: str = ""
    relation: Relation
    why: str = ""


class CrossCheck(Value):
    turn: Turn
    #: Id of the option that the judge chose; empty: none of them.
    option: str
    reason: str = ""
    call: Call | None = None


#: How a verdict begins if the offline engine does not decide. No prompt asks for it.
NOT_DECIDED = "Not decided: no model was asked"


class Overrule(Value):
    """The judge decided for another option than the vote, with the ground it gave."""

    #: Id of the option that the vote chose.
    vote: str
    #: Id of the option that the judge chose; empty: none of them.
    judge: str
    #: The major requirement that the vote's option does not meet, or the quote that shows it.
    #: Empty: the judge gave no valid ground, so the vote's option is decided for.
    ground: str = ""
    #: Id of the source that is quoted; empty: a requirement.
    source: str = ""

    @property
    def stands(self) -> bool:
        """Whether the judge's option is decided for."""
        return bool(self.ground)


class AuditKind(StrEnum):
    #: A figure that does not follow from the others.
    SUM = "sum"
    #: A quote that is not in its source, or has another meaning there.
    QUOTE = "quote"
    #: A ballot's reason against the verdict that the verdict leaves out.
    DISSENT = "dissent"
    #: A requirement that the verdict calls met although it is not.
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
    #: The number of reported faults that quote words which do not exist. They are left out.
    invented: int = 0
    #: Why the audit failed; empty: it did not.
    failure: str = ""
    call: Call | None = None
    lost: Usage = Usage()


OVERTURNED_BY = "What would overturn it"
#: Fields of a verdict that are lists of texts, with the titles that people read.
LIST_TITLES: Mapping[str, str] = {
    "reasons": "Reasons",
    "tradeoffs": "Trade-offs",
    "recommendations": "Recommendations",
    "open_questions": "Open questions",
    "overturned_by": OVERTURNED_BY,
}


class Quoting(Value):
    """A value whose texts can contain citations."""

    #: Fields that are one text.
    TEXTS: ClassVar[Sequence[str]] = ()
    #: Fields that are a tuple of texts.
    LISTS: ClassVar[Sequence[str]] = ()

    def with_texts(self, rewrite: Callable[[str], str]) -> Self:
        """A copy in which each text was passed through `rewrite`."""
        changes: dict[str, object] = {name: rewrite(getattr(self, name)) for name in self.TEXTS}
        changes |= {name: tuple(map(rewrite, getattr(self, name))) for name in self.LISTS}
        return self.model_copy(update=changes)


class Verdict(Quoting):
    """The judge's result. The team's decision is a separate event (`Decision`)."""

    TEXTS = ("decision", "solution", "implementation", "dissent")
    LISTS = tuple(LIST_TITLES)

    decision: str
    #: Id of the option decided for; empty: none of them, or there were no options.
    option: str = ""
    #: The main reasons, a sentence each.
    reasons: tuple[str, ...] = ()
    solution: str
    implementation: str = ""
    #: Every major requirement that the judge checked; empty in debates of older versions.
    requirements: tuple[Requirement, ...] = ()
    criteria: tuple[Judgement, ...] = ()
    #: Extra sections that the playbook asks for; empty without one.
    sections: tuple[VerdictSection, ...] = ()
    tradeoffs: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    unmet_requirements: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    dissent: str = ""
    #: Id of the agent that dissents, or `judge`; empty: unknown.
    dissent_by: str = ""
    overturned_by: tuple[str, ...] = ()
    #: Points that only one agent raised and the decision leaves out, the most important first.
    lone: tuple[RaisedPoint, ...] = ()
    notes: tuple[NoteOutcome, ...] = ()
    citations: tuple[Citation, ...] = ()
    #: None: the judge decided for the vote's option, or the vote chose none.
    overrule: Overrule | None = None
    #: Relations to earlier decisions.
    earlier: tuple[EarlierDecision, ...] = ()
    #: Of a review: every finding that counts, with its status at the end.
    findings: tuple[ReviewFinding, ...] = ()
    #: 0 to 100, computed from the debate; None: it cannot be computed. In debates of older
    #: versions the judge's own figure.
    confidence: int | None
    #: What the confidence is computed from, for people to read.
    rests_on: tuple[str, ...] = ()
    #: The judge's own figure, 0 to 100. It is shown but not used.
    judge_confidence: int | None = None
    source: VerdictSource = VerdictSource.JUDGE
    #: Whether turns are missing, because the debate was stopped or too few agents were left.
    partial: bool = False
    warnings: tuple[str, ...] = ()
    call: Call | None = None
    lost: Usage = Usage()

    @property
    def is_undecided(self) -> bool:
        """Whether the offline engine did not decide. It is never so for a model's verdict."""
        declines = self.decision.startswith(NOT_DECIDED)
        return declines and not self.option and self.confidence is None

    def with_texts(self, rewrite: Callable[[str], str]) -> "Verdict":
        verdict = super().with_texts(rewrite)
        sections = tuple(
            section.model_copy(update={"text": rewrite(section.text)}) for section in self.sections
        )
        return verdict.model_copy(update={"sections": sections})


class ShadowAnswer(Quoting):
    """The answer of one model alone, from the question and the sources only.

    It is hidden from agents, judge and people until the verdict.
    """

    TEXTS = ("decision", "solution")
    LISTS = ("alternatives", "reasons", "risks", "overturned_by")

    turn: Turn
    decision: str
    solution: str = ""
    #: The options that the model considered.
    alternatives: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    overturned_by: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    call: Call | None = None


class ShadowChoice(Value):
    turn: Turn
    #: Id of the option; empty: none of them.
    option: str
    call: Call | None = None


class FollowUp(Value):
    #: Id of the message or form. A question that arrives twice has the same one.
    id: str
    by: Person
    text: str
    #: Counted from 1 in its debate; 0 before it is in the log.
    number: int = 0


#: Entries of a debate's record that are not turns; used in place of a turn's key.
VERDICT_ENTRY, DECISION_ENTRY = "verdict", "decision"


class FollowUpAnswer(Value):
    """The answer to a follow-up question: the judge's text, or passages of the debate's record."""

    turn: Turn
    #: Markdown; quotes that are not in the record are struck out.
    text: str
    citations: tuple[Citation, ...] = ()
    #: Quoted entries of the record: id → the key of their turn, "verdict" or "decision".
    entries: Mapping[str, str] = Field(default_factory=dict[str, str])
    #: Why no model answered, for people to read; empty if one did.
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
    #: A newer debate replaces it.
    SUPERSEDE = "supersede"


class Decision(Value):
    """The team's decision on the agents' verdict. The newest one is valid."""

    kind: DecisionKind
    by: Person
    why: str = ""
    #: For `REVISIT`: the day on which people are reminded.
    revisit_on: date | None = None
    #: For `SUPERSEDE`: id of the newer debate.
    superseded_by: str | None = None
    origin: str


class OutcomeKind(StrEnum):
    HELD = "held"
    PARTLY = "partly"
    #: The decision was withdrawn, or was wrong.
    REVERSED = "reversed"
    TOO_EARLY = "too early"


class DecisionOutcome(Value):
    """How an accepted decision turned out, as a person reports. The newest one is valid."""

    kind: OutcomeKind
    by: Person
    why: str = ""
    #: `origin` of the accepted decision; empty in the terminal, which has no accepting.
    decision: str = ""
    origin: str


class Feedback(Value):
    by: Person
    helpful: bool
    comment: str = ""
    #: Identifies the click or form; a person's newest feedback counts.
    origin: str
