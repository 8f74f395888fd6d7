"""Options, ballots, the tally, and the gate: whether another round is held."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum

from pydantic import Field

from core.debate.contributions import Question
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.usage import Call, Usage
from core.values import Value


class QuestionKind(StrEnum):
    #: Which one of several.
    CHOICE = "choice"
    #: How something is to be done: what there is to choose from is only sketched.
    DESIGN = "design"
    #: How much, how many, how likely.
    ESTIMATE = "estimate"

    @property
    def words(self) -> str:
        return {
            QuestionKind.CHOICE: "which option, or yes or no",
            QuestionKind.DESIGN: "how to do it",
            QuestionKind.ESTIMATE: "how much, how many or how likely",
        }[self]


class Option(Value):
    """Something that may be chosen. Its id is never changed and never given twice."""

    id: str
    name: str


class Options(Value):
    turn: Turn
    question_kind: QuestionKind
    items: tuple[Option, ...]
    #: Id of the option that each draft stands for, by agent.
    stances: Mapping[str, str]
    call: Call | None = None
    lost: Usage = Usage()
    #: How they came to be, where no model merged them.
    warnings: tuple[str, ...] = ()


class OptionChange(StrEnum):
    ADD = "add"
    RENAME = "rename"
    #: Two are the same: one goes into the other.
    MERGE = "merge"


class OptionEdit(Value):
    change: OptionChange
    #: Id of the option; empty with `ADD`: its place in the log gives the new one's.
    option: str = ""
    name: str = ""
    #: With `MERGE`: id of the option it goes into.
    into: str = ""
    by: Person
    origin: str


class Ballot(Value):
    """A strict ranking of all positions, best first, and what each option is worth to the voter.

    A position is named by its agent's id.
    """

    turn: Turn
    ranking: tuple[str, ...]
    reasons: Mapping[str, str] = Field(default_factory=dict)
    #: How likely each option is the best for this team: 0 to 1 by option id, as the voter gave it;
    #: empty where there were no options to judge. Older versions made them 1 together.
    probabilities: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: 0 to 1; None: none was asked for.
    confidence: float | None = 0.5
    #: What the voter says moved it away from the option it held best at first: key of a critique,
    #: id of a source or of an agent. Older versions recorded an agent's newest text.
    moved_by: str | None = None
    why_moved: str = ""
    call: Call | None = None

    @property
    def voter(self) -> str:
        return self.turn.agent


class Abstention(Value):
    """No ballot: it could not be read even after one repair, or the voter abstained."""

    turn: Turn
    reason: str
    #: The voter said so itself; `reason` is in its words.
    declared: bool = False
    call: Call | None = None


class Score(Value):
    position: str
    #: Borda count: Σ over ballots of (N − rank), weighted.
    points: float
    first_places: int
    #: None: nobody who ranked it first gave a confidence.
    mean_confidence: float | None
    #: Id of the option it stands for, and the voters' mean probability of that; empty, None: there
    #: were no options.
    option: str = ""
    mean_probability: float | None = None


class OptionScore(Value):
    option: str
    #: Voters who hold it most likely the best, by their weights.
    first_choices: float
    #: Mean of all voters' probabilities, by their weights, 0 to 1.
    mean_probability: float


class Tally(Value):
    """The counted vote, best score first: by position, and by option where there are options."""

    scores: tuple[Score, ...]
    options: tuple[OptionScore, ...] = ()
    #: More than one id: a tie that no rule breaks. Empty: nobody voted.
    winners: tuple[str, ...]
    #: The best two options are within ten points of probability of each other. In debates of
    #: older versions, which had no options: the best two positions are within one point.
    controversial: bool
    voters: tuple[str, ...]
    abstained: tuple[str, ...] = ()


class PeopleBallot(Value):
    """A person's ballot on the options, best first. It is counted apart from agents'."""

    by: Person
    #: Ids of options; the first is the choice, others may follow.
    options: tuple[str, ...] = ()
    #: In debates of older versions: ids of the agents whose positions were ranked.
    ranking: tuple[str, ...] = ()
    #: Tells one ballot of a person from the next; their newest one counts.
    origin: str = ""


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
