"""The words of a debate as frozen values: Agent, Turn, Contribution, Ballot, Verdict, Debate.

Values only: no I/O, no clock, no randomness. Identity is a matter of storage; two equal values are
the same thing. What happened lives in `core.events`; `Debate` is what folding those events gives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Value(BaseModel):
    """A frozen value that can be written to and read from JSON.

    Unknown fields are dropped on reading, so that an older process can read a newer one's records.
    """

    model_config = ConfigDict(frozen=True)


class Act(StrEnum):
    """What a turn does. Each act has one prompt file and one module that performs it."""

    QUESTIONS = "questions"
    PROPOSAL = "proposal"
    CRITIQUE = "critique"
    REFINEMENT = "refinement"
    GATHER = "gather"
    PLAN = "plan"
    FORMULATE = "formulate"
    DEBATE = "debate"
    ADJUST = "adjust"
    REBUTTAL = "rebuttal"
    STATEMENT = "statement"
    FACILITATION = "facilitation"
    SUMMARY = "summary"
    BALLOT = "ballot"
    TALLY = "tally"
    SYNTHESIS = "synthesis"


class Turn(Value):
    """One thing to be done, by one agent, in one round.

    Round 0 is before the first round (clarifying questions, the blind ballot).
    """

    act: Act
    round: int
    #: Id of the agent whose turn it is; `JUDGE` and `ENGINE` stand for the two that are no agents.
    agent: str
    #: Id of the agent whose position it is about (critiques).
    target: str | None = None

    @property
    def key(self) -> str:
        """The key of this turn's outcome in the log: `r2/critique/ann/bob`."""
        parts = (f"r{self.round}", self.act.value, self.agent, self.target)
        return "/".join(part for part in parts if part)


#: Stands in `Turn.agent` for the judge.
JUDGE = "judge"
#: Stands in `Turn.agent` for turns that ask no model (counting the votes).
ENGINE = "engine"


class Agent(Value):
    """A point of view: role + model + limits. Its id is unique in its debate."""

    id: str
    name: str
    role: str
    #: Slack-style emoji code, with colons.
    icon: str = ":speech_balloon:"
    provider: str
    model: str
    #: None: the model's own default.
    temperature: float | None = None
    enabled: bool = True


class Person(Value):
    """A human being, as the surface knows them."""

    id: str
    name: str = ""


class Place(Value):
    """Where a debate is held. The core carries it and never looks inside."""

    surface: str
    workspace: str = ""
    channel: str = ""


class Limits(Value):
    """What a debate may take. Times are in seconds, money in US dollars."""

    turn_seconds: float = 180.0
    round_seconds: float = 900.0
    debate_seconds: float = 3600.0
    debate_cost: Decimal | None = None
    #: Agents that must still be able to speak for the debate to go on.
    quorum: int = 2


class VoteRules(Value):
    """How ballots are counted."""

    exclude_self: bool = False
    #: Weight per agent id; 1 where none is given.
    weights: Mapping[str, float] = Field(default_factory=dict)


class Setup(Value):
    """Everything that was decided about a debate before its first turn."""

    question: str
    context: str = ""
    asked_by: Person
    place: Place = Place(surface="terminal")
    format: str = "critique"
    rounds: int = 3
    agents: tuple[Agent, ...]
    judge: Agent
    limits: Limits = Limits()
    vote: VoteRules = VoteRules()
    #: Random per debate: marks where quoted text begins and ends in prompts.
    delimiter: str
    #: Said to people when the debate starts (defaults used, unknown roles, …).
    warnings: tuple[str, ...] = ()

    def agent(self, agent_id: str) -> Agent:
        """The agent, or the judge, with this id.

        Raises:
            KeyError: No such agent.
        """
        if agent_id == JUDGE:
            return self.judge
        return next(agent for agent in self.agents if agent.id == agent_id)


class Usage(Value):
    """What model calls have spent. Tokens of all attempts; cost None = price unknown ("n/a")."""

    #: All input tokens, cached and written ones included.
    input_tokens: int = 0
    output_tokens: int = 0
    #: Input tokens read from the provider's cache.
    cached_tokens: int = 0
    #: Input tokens written to the provider's cache.
    written_tokens: int = 0
    #: Output tokens spent on hidden reasoning.
    reasoning_tokens: int = 0
    #: US dollars.
    cost: Decimal | None = Decimal(0)
    #: Attempts made, failed ones included.
    attempts: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; an unknown cost stays unknown."""
        known = self.cost is not None and other.cost is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=(self.cost or Decimal(0)) + (other.cost or Decimal(0)) if known else None,
            attempts=self.attempts + other.attempts,
        )


class Call(Value):
    """How a piece of text came from a model."""

    provider: str
    model: str
    usage: Usage = Usage()
    latency_ms: int = 0
    request_id: str = ""
    temperature: float | None = None
    #: Where the prompt came from: "built-in" or the path of an override.
    prompt_source: str = "built-in"


class Contribution(Value):
    """What an agent said on one of its turns."""

    turn: Turn
    text: str
    #: None when no model was asked (a proposal carried over from the last refinement).
    call: Call | None = None
    #: Key of the turn whose text was carried over, if any.
    carried_from: str | None = None
    warnings: tuple[str, ...] = ()


class Failure(Value):
    """A turn that failed after its retries. It is a fact, never text in the debate."""

    turn: Turn
    #: Words for people; no secrets, no prompts.
    reason: str
    usage: Usage = Usage(attempts=1)


class Ballot(Value):
    """A strict ranking of all positions, best first. A position is named by its agent's id."""

    turn: Turn
    ranking: tuple[str, ...]
    reasons: Mapping[str, str] = Field(default_factory=dict)
    #: 0 to 1.
    confidence: float = 0.5
    call: Call | None = None

    @property
    def voter(self) -> str:
        """Id of the agent who voted."""
        return self.turn.agent


class Abstention(Value):
    """A ballot that could not be read even after one repair. It counts for nobody."""

    turn: Turn
    reason: str
    call: Call | None = None


class Score(Value):
    """One position's result in the vote."""

    position: str
    #: Borda count: Σ over ballots of (N − rank), weighted.
    points: float
    first_places: int
    mean_confidence: float


class Tally(Value):
    """The counted vote, best score first."""

    scores: tuple[Score, ...]
    #: More than one id: a tie that no rule breaks. Empty: nobody voted.
    winners: tuple[str, ...]
    #: The top two are within one point.
    controversial: bool
    voters: tuple[str, ...]
    abstained: tuple[str, ...] = ()


class Note(Value):
    """What a person added while the debate ran."""

    id: str
    author: Person
    text: str
    #: Contributions that existed when it arrived; turns after it see it.
    after: int = 0


class NoteOutcome(Value):
    """What became of a note."""

    note: str
    used: bool
    explanation: str


class VerdictSource(StrEnum):
    """Who wrote the verdict."""

    JUDGE = "judge"
    FALLBACK_JUDGE = "fallback-judge"
    #: The judge could not be asked: the winning position stands as it is.
    WINNER = "winner"


class Verdict(Value):
    """The judge's result. It is the agents' verdict, not yet the team's decision."""

    decision: str
    solution: str
    implementation: str = ""
    tradeoffs: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    unmet_requirements: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    dissent: str = ""
    overturned_by: tuple[str, ...] = ()
    notes: tuple[NoteOutcome, ...] = ()
    #: 0 to 100.
    confidence: int
    source: VerdictSource = VerdictSource.JUDGE
    #: Written after a stop or with the quorum lost: not all turns were taken.
    partial: bool = False
    warnings: tuple[str, ...] = ()
    call: Call | None = None


class Stop(Value):
    """A person ended the debate early."""

    by: Person


class Status(StrEnum):
    """Where a debate stands."""

    RUNNING = "running"
    CONCLUDED = "concluded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Debate:
    """A debate as its events tell it: nothing here that is not in the log.

    Mappings are in the order of the log. Made by `core.events.fold`, never by hand.
    """

    id: str
    setup: Setup
    started_at: datetime
    #: Sequence number and time of the newest event folded in.
    seq: int = 0
    now: datetime
    contributions: Mapping[str, Contribution] = field(default_factory=dict[str, Contribution])
    failures: Mapping[str, Failure] = field(default_factory=dict[str, Failure])
    ballots: Mapping[str, Ballot] = field(default_factory=dict[str, Ballot])
    abstentions: Mapping[str, Abstention] = field(default_factory=dict[str, Abstention])
    notes: tuple[Note, ...] = ()
    stop: Stop | None = None
    out_of_time: bool = False
    tally: Tally | None = None
    verdict: Verdict | None = None
    status: Status = Status.RUNNING
    #: Why it failed, in words for people; empty unless it did.
    failure: str = ""
    ended_at: datetime | None = None

    def is_done(self, turn: Turn) -> bool:
        """Whether the turn has an outcome, good or bad."""
        if turn.act is Act.TALLY:
            return self.tally is not None
        if turn.act is Act.SYNTHESIS:
            return self.verdict is not None
        key = turn.key
        return any(
            key in outcomes
            for outcomes in (self.contributions, self.failures, self.ballots, self.abstentions)
        )

    def text_of(self, act: Act, round_number: int, agent: str, target: str | None = None) -> str:
        """What was said on that turn, or an empty string."""
        turn = Turn(act=act, round=round_number, agent=agent, target=target)
        contribution = self.contributions.get(turn.key)
        return contribution.text if contribution else ""

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every model call that led to a recorded outcome, in the order of the log."""
        outcomes = (
            *self.contributions.values(),
            *self.ballots.values(),
            *self.abstentions.values(),
            *([self.verdict] if self.verdict else []),
        )
        return tuple(outcome.call for outcome in outcomes if outcome.call)

    @property
    def usage(self) -> Usage:
        """All that the debate has spent so far, failed turns included."""
        spent = [call.usage for call in self.calls]
        spent += [failure.usage for failure in self.failures.values()]
        return sum(spent, start=Usage())
