"""Options, ballots of agents and people, and the tally."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from core.debate.people import Person
from core.debate.turn import Turn
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
