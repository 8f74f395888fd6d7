"""Options, ballots, the tally, and the gate that decides whether another round is held."""

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
    #: Which one of several options.
    CHOICE = "choice"
    #: How something is to be done. The options are not fixed in advance.
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
    """Something that can be chosen. Its id never changes and is never used again."""

    id: str
    name: str


class Options(Value):
    turn: Turn
    question_kind: QuestionKind
    items: tuple[Option, ...]
    #: Id of the option that each draft proposes, by agent.
    stances: Mapping[str, str]
    call: Call | None = None
    lost: Usage = Usage()
    #: How they were merged, if no model did it.
    warnings: tuple[str, ...] = ()


class OptionChange(StrEnum):
    ADD = "add"
    RENAME = "rename"
    #: Two options are the same: one is merged into the other.
    MERGE = "merge"


class OptionEdit(Value):
    change: OptionChange
    #: Id of the option; empty for `ADD`, as the order of the log gives the new id.
    option: str = ""
    name: str = ""
    #: For `MERGE`: id of the option that remains.
    into: str = ""
    by: Person
    origin: str


class Ballot(Value):
    """A strict ranking of all positions, best first, and a probability for each option.

    A position is identified by its agent's id.
    """

    turn: Turn
    ranking: tuple[str, ...]
    reasons: Mapping[str, str] = Field(default_factory=dict)
    #: The voter's probability, 0 to 1, that each option is the best for this team, by option id;
    #: empty if there were no options. Older versions normalised the sum to 1.
    probabilities: Mapping[str, float] = Field(default_factory=dict[str, float])
    #: 0 to 1; None: the voter was not asked for it.
    confidence: float | None = 0.5
    #: The cause that the voter names for changing its first choice: the key of a critique, the id
    #: of a source or of an agent. Older versions recorded the key of an agent's newest text.
    moved_by: str | None = None
    #: The voter's reason for the change.
    why_moved: str = ""
    call: Call | None = None

    @property
    def voter(self) -> str:
        return self.turn.agent


class Abstention(Value):
    """A missing ballot: it was unreadable even after one repair, or the voter abstained."""

    turn: Turn
    reason: str
    #: The voter chose to abstain; `reason` is in its words.
    declared: bool = False
    call: Call | None = None


class Score(Value):
    position: str
    #: Borda count: Σ over ballots of (N − rank), weighted.
    points: float
    first_places: int
    #: The mean over voters that ranked it first; None: none of them gave a confidence.
    mean_confidence: float | None
    #: Id of the position's option, and the voters' mean probability for it; empty and None if
    #: there were no options.
    option: str = ""
    mean_probability: float | None = None


class OptionScore(Value):
    option: str
    #: The number of voters that give it the highest probability, by their weights.
    first_choices: float
    #: Mean of all voters' probabilities, by their weights, 0 to 1.
    mean_probability: float


class Tally(Value):
    """The counted vote, best score first: by position, and by option if there are options."""

    scores: tuple[Score, ...]
    options: tuple[OptionScore, ...] = ()
    #: Ids of positions. More than one: a tie that no rule breaks. Empty: nobody voted.
    winners: tuple[str, ...]
    #: Whether the vote is close: the best two options are within 10 percentage points. In debates
    #: of older versions, without options: the best two positions are within one Borda point.
    controversial: bool
    voters: tuple[str, ...]
    abstained: tuple[str, ...] = ()


class PeopleBallot(Value):
    """A person's ballot on the options, best first. Agents' ballots are counted separately."""

    by: Person
    #: Ids of options; the first is the choice, others may follow.
    options: tuple[str, ...] = ()
    #: In debates of older versions: ids of the agents whose positions were ranked.
    ranking: tuple[str, ...] = ()
    #: Identifies the click or form; a person's newest ballot counts.
    origin: str = ""


class GateReason(StrEnum):
    #: The agents prefer different options, or their common favourite leads by too little.
    SPLIT = "split"
    #: The question asks for a design or an estimate. The first answers are always debated.
    OPEN_QUESTION = "open question"
    #: Too few first ballots have probabilities.
    NOT_COMPARABLE = "not comparable"
    #: At least one agent changed its probabilities in the last round, and they do not agree yet.
    MOVED = "moved"
    #: All agents prefer the same option, and it leads the second by 30 percentage points.
    AGREED = "agreed"
    #: No agent changed its mind in the last round; all prefer the same option.
    SETTLED = "settled"
    #: No agent changed its mind in the last round, and they prefer different options.
    DEADLOCK = "deadlock"


#: Reasons that end the rounds.
ENDS_ROUNDS = frozenset({GateReason.AGREED, GateReason.SETTLED, GateReason.DEADLOCK})


class NoDebateReason(StrEnum):
    """Why no round is possible, whatever settings say."""

    #: Only checklists take part, and none of them takes a side on the question.
    NO_MODEL = "no model"
    #: Only one agent takes part.
    ALONE = "alone"


class Gate(Value):
    """The decision whether another round, or one step of a round, is held."""

    turn: Turn
    reason: GateReason
    #: Why nothing can be debated; None: a debate is possible. This is a field of its own, not a
    #: value of `reason`: older versions ignore unknown fields, but cannot read a log with an
    #: unknown value. The three fields below are separate for the same reason.
    undebatable: NoDebateReason | None = None
    #: One model answers for all agents: its first vote is final even if the answers differ.
    vote_only: bool = False
    #: The decision is hard to undo: it is debated even if all agents agree.
    hard_to_undo: bool = False
    #: The question asks to check rules: the first vote is final even if the answers differ.
    checks_rules: bool = False
    #: Id of the option on which the agents agree, or on which their probabilities differ most.
    option: str = ""
    #: The difference between the highest and the lowest probability for it, 0 to 1.
    spread: float = 0.0
    #: The lowest and highest probability for the option that all agents prefer, 0 to 1; None if
    #: they prefer different ones, or in logs of older versions.
    lowest: float | None = None
    highest: float | None = None
    #: By how much that option leads the second on average, 0 to 1; None as above.
    lead: float | None = None
    #: Ids of the agents that changed their minds in the last round.
    moved: tuple[str, ...] = ()
    #: Estimated cost of the rounds that are not held, in US dollars; None: unknown.
    saved: Decimal | None = None

    @property
    def skips(self) -> Act | None:
        """The step of the round that is left out; None if the gate is about a whole round."""
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
    """The facilitator's decision after a round of a panel."""

    turn: Turn
    next_step: NextStep
    focus: str = ""
    #: The question to people, with the assumption for the case that nobody answers.
    question: Question | None = None
    #: With `VOTE`: a round of closing statements precedes the vote. Older versions held none.
    closing: bool = False
    #: The rule that ended the rounds without asking the facilitator: nobody moved, or all agree.
    gate: Gate | None = None
    call: Call | None = None
