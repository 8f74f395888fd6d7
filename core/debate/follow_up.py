"""What follows a verdict: questions to the judge, the team's decision, its outcome, feedback."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum

from pydantic import Field

from core.debate.evidence import Citation
from core.debate.people import Person
from core.debate.turn import Turn
from core.usage import Call, Usage
from core.values import Value


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
