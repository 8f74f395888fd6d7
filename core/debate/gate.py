"""Whether another round is held: the result of the gate, and the facilitator's decision."""

from decimal import Decimal
from enum import StrEnum

from core.debate.questions import Question
from core.debate.turn import Act, Turn
from core.usage import Call
from core.values import Value


class GateReason(StrEnum):
    #: The first answers differ, or the one all put first is not far enough ahead.
    SPLIT = "split"
    #: The question wants a design or an estimate: its first answers are always debated.
    OPEN_QUESTION = "open question"
    #: Too few first ballots say anything about options.
    NOT_COMPARABLE = "not comparable"
    #: The last round moved somebody, and they do not agree yet.
    MOVED = "moved"
    #: All hold the same option best, and it is 30 points ahead of the second.
    AGREED = "agreed"
    #: The last round moved nobody; all hold the same option best.
    SETTLED = "settled"
    #: The last round moved nobody, and they still hold different options best.
    DEADLOCK = "deadlock"


#: Reasons for which no further round is held.
ENDS_ROUNDS = frozenset({GateReason.AGREED, GateReason.SETTLED, GateReason.DEADLOCK})


class NoDebateReason(StrEnum):
    """Why no round can be of use, whatever was asked for."""

    #: There are only checklists, and none takes a side on the question.
    NO_MODEL = "no model"
    #: One agent has nobody to answer.
    ALONE = "alone"


class Gate(Value):
    turn: Turn
    reason: GateReason
    #: None: there is something to debate. Beside the reason, not one of its values: older versions
    #: can read no log that has a value they do not know, and leave out a field they do not know.
    undebatable: NoDebateReason | None = None
    #: One model speaks for all agents on a choice: its vote stands though the answers differ. A
    #: field of its own for the same reason.
    vote_only: bool = False
    #: The decision is hard to undo: it is debated though all agree. A field for the same reason.
    hard_to_undo: bool = False
    #: The question is whether rules are kept: its vote stands though the answers differ.
    checks_rules: bool = False
    #: Id of the option on which they agree, or on which they lie furthest apart.
    option: str = ""
    #: How far apart the probabilities for it lie, 0 to 1.
    spread: float = 0.0
    #: The least and the most that anybody gives the option all put first, 0 to 1; None: not all put
    #: the same first, or an older version weighed it.
    lowest: float | None = None
    highest: float | None = None
    #: How far that option leads the second on average, 0 to 1; None as above.
    lead: float | None = None
    moved: tuple[str, ...] = ()
    #: What the rounds that are not held would have cost, in US dollars; None: not known.
    saved: Decimal | None = None

    @property
    def skips(self) -> Act | None:
        """The step of the round that is left out; None where a further round was weighed."""
        return Act(self.turn.target) if self.turn.target else None

    @property
    def ends_rounds(self) -> bool:
        is_agreed = self.reason in ENDS_ROUNDS and not self.hard_to_undo
        is_ended = is_agreed or self.undebatable is not None or self.vote_only
        return is_ended and self.skips is None


class NextStep(StrEnum):
    GO_ON = "go_on"
    ASK = "ask"
    VOTE = "vote"


class Guidance(Value):
    turn: Turn
    next_step: NextStep
    focus: str = ""
    #: What to ask people, and what holds if nobody answers.
    question: Question | None = None
    #: With the vote: a round of closing statements is held before it. Older versions held none.
    closing: bool = False
    #: By rule, without asking the facilitator: the round moved nobody, or all agree.
    gate: Gate | None = None
    call: Call | None = None
