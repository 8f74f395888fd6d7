"""What happened in a debate, in the past tense, and how events fold into a `Debate`.

Every event has a key that says what it is the result of, unique in its debate: the first writer
wins and a second one adopts what is there. To add an event: a class here, its line in `apply`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from core.models import (
    Abstention,
    Ballot,
    Contribution,
    Debate,
    Failure,
    Note,
    Setup,
    Status,
    Stop,
    Tally,
    Value,
    Verdict,
)


class DebateStarted(Value):
    """The first event of every debate."""

    kind: Literal["debate_started"] = "debate_started"
    setup: Setup

    @property
    def key(self) -> str:
        """There is one start."""
        return "start"


class ContributionMade(Value):
    """An agent said something."""

    kind: Literal["contribution_made"] = "contribution_made"
    contribution: Contribution

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.contribution.turn.key


class TurnFailed(Value):
    """A turn failed after its retries."""

    kind: Literal["turn_failed"] = "turn_failed"
    failure: Failure

    @property
    def key(self) -> str:
        """The turn's key: a turn has one outcome."""
        return self.failure.turn.key


class BallotCast(Value):
    """An agent ranked the positions."""

    kind: Literal["ballot_cast"] = "ballot_cast"
    ballot: Ballot

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.ballot.turn.key


class BallotAbstained(Value):
    """An agent's ballot could not be read."""

    kind: Literal["ballot_abstained"] = "ballot_abstained"
    abstention: Abstention

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.abstention.turn.key


class VoteTallied(Value):
    """The ballots were counted."""

    kind: Literal["vote_tallied"] = "vote_tallied"
    tally: Tally

    @property
    def key(self) -> str:
        """The final vote is counted once."""
        return "tally"


class NoteAdded(Value):
    """A person added something while the debate ran."""

    kind: Literal["note_added"] = "note_added"
    note: Note

    @property
    def key(self) -> str:
        """One delivery, one note."""
        return f"note/{self.note.id}"


class StopRequested(Value):
    """A person ended the debate early."""

    kind: Literal["stop_requested"] = "stop_requested"
    stop: Stop

    @property
    def key(self) -> str:
        """A debate is stopped once."""
        return "stop"


class TimeRanOut(Value):
    """The debate took longer than its limit: no new turns but the vote and the verdict."""

    kind: Literal["time_ran_out"] = "time_ran_out"

    @property
    def key(self) -> str:
        """Time runs out once."""
        return "time"


class VerdictReached(Value):
    """The judge wrote its synthesis."""

    kind: Literal["verdict_reached"] = "verdict_reached"
    verdict: Verdict

    @property
    def key(self) -> str:
        """There is one verdict."""
        return "verdict"


class DebateConcluded(Value):
    """All is said; the verdict stands."""

    kind: Literal["debate_concluded"] = "debate_concluded"

    @property
    def key(self) -> str:
        """A debate ends once."""
        return "end"


class DebateFailed(Value):
    """The debate ended without a verdict."""

    kind: Literal["debate_failed"] = "debate_failed"
    reason: str

    @property
    def key(self) -> str:
        """A debate ends once."""
        return "end"


Event = Annotated[
    DebateStarted
    | ContributionMade
    | TurnFailed
    | BallotCast
    | BallotAbstained
    | VoteTallied
    | NoteAdded
    | StopRequested
    | TimeRanOut
    | VerdictReached
    | DebateConcluded
    | DebateFailed,
    Field(discriminator="kind"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def event_to_json(event: Event) -> str:
    """The event as JSON text."""
    return event.model_dump_json()


def event_from_json(text: str) -> Event:
    """The event in that JSON text.

    Raises:
        pydantic.ValidationError: The text is not an event this version knows.
    """
    return _EVENT.validate_json(text)


@dataclass(frozen=True)
class Recorded:
    """An event in the log. `seq` counts from 1 within its debate and only gives the order."""

    debate_id: str
    seq: int
    at: datetime
    event: Event


def fold(log: Iterable[Recorded]) -> Debate:
    """The debate its events tell of.

    Raises:
        ValueError: The log is empty or does not begin with the start.
    """
    debate: Debate | None = None
    for recorded in log:
        debate = apply(debate, recorded)
    if debate is None:
        raise ValueError("an empty log is no debate")
    return debate


def apply(debate: Debate | None, recorded: Recorded) -> Debate:
    """The debate after one more event.

    Raises:
        ValueError: The first event is not the start.
    """
    if isinstance(recorded.event, DebateStarted):
        return Debate(
            id=recorded.debate_id,
            setup=recorded.event.setup,
            started_at=recorded.at,
            seq=recorded.seq,
            now=recorded.at,
        )
    if debate is None:
        raise ValueError(f"the log begins with {recorded.event.kind}, not with the start")
    moved = replace(debate, seq=recorded.seq, now=recorded.at)
    return _apply_outcome(moved, recorded.event) or _apply_fact(moved, recorded)


def _apply_outcome(debate: Debate, event: Event) -> Debate | None:
    """The debate after the outcome of a turn; None if the event is none."""
    match event:
        case ContributionMade(contribution=made):
            return replace(debate, contributions={**debate.contributions, event.key: made})
        case TurnFailed(failure=failure):
            return replace(debate, failures={**debate.failures, event.key: failure})
        case BallotCast(ballot=ballot):
            return replace(debate, ballots={**debate.ballots, event.key: ballot})
        case BallotAbstained(abstention=abstention):
            return replace(debate, abstentions={**debate.abstentions, event.key: abstention})
        case VoteTallied(tally=tally):
            return replace(debate, tally=tally)
        case VerdictReached(verdict=verdict):
            return replace(debate, verdict=verdict)
        case _:
            return None


def _apply_fact(debate: Debate, recorded: Recorded) -> Debate:
    """The debate after what a person did, or after its end."""
    match recorded.event:
        case NoteAdded(note=note):
            return replace(debate, notes=(*debate.notes, note))
        case StopRequested(stop=stop):
            return replace(debate, stop=stop)
        case TimeRanOut():
            return replace(debate, out_of_time=True)
        case DebateConcluded():
            return replace(debate, status=Status.CONCLUDED, ended_at=recorded.at)
        case DebateFailed(reason=reason):
            return replace(debate, status=Status.FAILED, failure=reason, ended_at=recorded.at)
        case _:
            return debate
