"""What happened in a debate, in the past tense, and how events fold into a `Debate`.

Every event has a key that says what it is the result of, unique in its debate: the first writer
wins and a second one adopts what is there. To add an event: a class here, its line in `apply`.

Reason: every event in one place: a log is read against this list.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from core.models import (
    Abstention,
    Answer,
    Ballot,
    Call,
    Clarifications,
    Contribution,
    Debate,
    Decision,
    Failure,
    Feedback,
    Guidance,
    Note,
    PeopleBallot,
    Person,
    Questions,
    Setup,
    Status,
    Stop,
    Summary,
    Tally,
    Usage,
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


class QuestionsAsked(Value):
    """An agent said what it wants to know."""

    kind: Literal["questions_asked"] = "questions_asked"
    questions: Questions

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.questions.turn.key


class ClarificationsOpened(Value):
    """Questions were put to people."""

    kind: Literal["clarifications_opened"] = "clarifications_opened"
    clarifications: Clarifications

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.clarifications.turn.key


class ClarificationAnswered(Value):
    """A person answered a question, or skipped it. The first answer stands."""

    kind: Literal["clarification_answered"] = "clarification_answered"
    answer: Answer

    @property
    def key(self) -> str:
        """One answer per question."""
        return f"answer/{self.answer.number}"


class ClarificationsClosed(Value):
    """The time to answer is over; assumptions hold where nobody did."""

    kind: Literal["clarifications_closed"] = "clarifications_closed"
    #: Key of the clarifications.
    which: str

    @property
    def key(self) -> str:
        """They close once."""
        return f"{self.which}/closed"


class FacilitatorDecided(Value):
    """The facilitator said what comes next."""

    kind: Literal["facilitator_decided"] = "facilitator_decided"
    guidance: Guidance

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.guidance.turn.key


class SummaryMade(Value):
    """Older turns were summed up."""

    kind: Literal["summary_made"] = "summary_made"
    summary: Summary

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.summary.turn.key


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


class VoteCalled(Value):
    """A person asked for the vote at once."""

    kind: Literal["vote_called"] = "vote_called"
    by: Person

    @property
    def key(self) -> str:
        """The vote is called once."""
        return "vote-called"


class DebatePaused(Value):
    """A person paused the debate."""

    kind: Literal["debate_paused"] = "debate_paused"
    by: Person
    #: Tells one click from the next.
    origin: str

    @property
    def key(self) -> str:
        """One click, one pause."""
        return f"pause/{self.origin}"


class DebateResumed(Value):
    """A person let the debate go on."""

    kind: Literal["debate_resumed"] = "debate_resumed"
    by: Person
    origin: str

    @property
    def key(self) -> str:
        """One click, one resumption."""
        return f"resume/{self.origin}"


class CallsDropped(Value):
    """Model calls were given up under way; they cost all the same."""

    kind: Literal["calls_dropped"] = "calls_dropped"
    usage: Usage
    #: Tells one time from the next.
    origin: str

    @property
    def key(self) -> str:
        """Booked once."""
        return f"dropped/{self.origin}"


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


class PeopleBallotCast(Value):
    """A person ranked the positions."""

    kind: Literal["people_ballot_cast"] = "people_ballot_cast"
    ballot: PeopleBallot

    @property
    def key(self) -> str:
        """One form, one ballot."""
        return "/".join(filter(None, ("people-ballot", self.ballot.by.id, self.ballot.origin)))


class DecisionRecorded(Value):
    """The team accepted the verdict, rejected it, put it off or replaced it."""

    kind: Literal["decision_recorded"] = "decision_recorded"
    decision: Decision

    @property
    def key(self) -> str:
        """One form or click, one decision."""
        return f"decision/{self.decision.origin}"


class ReminderDue(Value):
    """The date has come to look at a decision again."""

    kind: Literal["reminder_due"] = "reminder_due"
    #: Origin of the decision.
    decision: str

    @property
    def key(self) -> str:
        """One reminder per decision."""
        return f"reminder/{self.decision}"


class FeedbackGiven(Value):
    """A person said whether the verdict was of use."""

    kind: Literal["feedback_given"] = "feedback_given"
    feedback: Feedback

    @property
    def key(self) -> str:
        """One click, one piece of feedback."""
        return f"feedback/{self.feedback.origin}"


Event = Annotated[
    DebateStarted
    | QuestionsAsked
    | ClarificationsOpened
    | ClarificationAnswered
    | ClarificationsClosed
    | ContributionMade
    | FacilitatorDecided
    | SummaryMade
    | TurnFailed
    | BallotCast
    | BallotAbstained
    | VoteTallied
    | NoteAdded
    | StopRequested
    | VoteCalled
    | DebatePaused
    | DebateResumed
    | CallsDropped
    | TimeRanOut
    | VerdictReached
    | DebateConcluded
    | DebateFailed
    | PeopleBallotCast
    | DecisionRecorded
    | ReminderDue
    | FeedbackGiven,
    Field(discriminator="kind"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def spent_by(event: Event) -> Usage:
    """What came to be spent with this event; nothing for what people did."""
    match event:
        case TurnFailed(failure=failure):
            return failure.usage
        case CallsDropped(usage=usage):
            return usage
        case SummaryMade(summary=made) | VerdictReached(verdict=made):
            return _of(made.call) + made.lost
        case (
            ContributionMade(contribution=made)
            | QuestionsAsked(questions=made)
            | FacilitatorDecided(guidance=made)
            | BallotCast(ballot=made)
            | BallotAbstained(abstention=made)
        ):
            return _of(made.call)
        case _:
            return Usage()


def _of(call: Call | None) -> Usage:
    return call.usage if call else Usage()


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


_ROUND = re.compile(r"r(\d+)/")


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
            times={recorded.event.key: recorded.at},
        )
    if debate is None:
        raise ValueError(f"the log begins with {recorded.event.kind}, not with the start")
    moved = _moved_on(debate, recorded)
    return _apply_outcome(moved, recorded.event) or _apply_fact(moved, recorded)


def _moved_on(debate: Debate, recorded: Recorded) -> Debate:
    """The debate at the time of the event: when its key came to be, and how long was worked.

    No turn takes longer than its limit, so a longer gap is time the bot was down; while people are
    waited for nobody works.
    """
    key, times = recorded.event.key, debate.times
    if key not in times:
        times = {**times, key: recorded.at}
    gap = max(0.0, (recorded.at - debate.now).total_seconds())
    waits = debate.paused_by or debate.open_clarifications
    worked = debate.worked + (0.0 if waits else min(gap, debate.setup.limits.turn_seconds))
    found = _ROUND.match(key)
    worked_at = {**debate.worked_at, int(found.group(1)): worked} if found else debate.worked_at
    return replace(
        debate,
        seq=recorded.seq,
        now=recorded.at,
        times=times,
        worked=worked,
        worked_at=worked_at,
    )


def _resumed(debate: Debate, at: datetime) -> Debate:
    """The debate going on after a pause; the pause is not taken off people's time to answer."""
    pause = at - (debate.paused_at or at)
    shifted = {
        key: asked.model_copy(update={"until": asked.until + pause})
        for key, asked in debate.clarifications.items()
    }
    return replace(debate, paused_by=None, paused_at=None, clarifications=shifted)


def _apply_outcome(debate: Debate, event: Event) -> Debate | None:
    """The debate after the outcome of a turn; None if the event is none."""
    match event:
        case ContributionMade(contribution=made):
            return replace(debate, contributions={**debate.contributions, event.key: made})
        case TurnFailed(failure=failure):
            return replace(debate, failures={**debate.failures, event.key: failure})
        case QuestionsAsked(questions=asked):
            return replace(debate, questions={**debate.questions, event.key: asked})
        case ClarificationsOpened(clarifications=opened):
            return replace(debate, clarifications={**debate.clarifications, event.key: opened})
        case FacilitatorDecided(guidance=guidance):
            return replace(debate, guidance={**debate.guidance, event.key: guidance})
        case SummaryMade(summary=summary):
            return replace(debate, summaries={**debate.summaries, event.key: summary})
        case _:
            return _apply_vote(debate, event)


def _apply_vote(debate: Debate, event: Event) -> Debate | None:
    """The debate after a step of the vote or the verdict; None if the event is none."""
    match event:
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
        case ClarificationAnswered(answer=answer):
            return replace(debate, answers={**debate.answers, answer.number: answer})
        case ClarificationsClosed(which=which):
            return replace(debate, closed=debate.closed | {which})
        case NoteAdded(note=note):
            return replace(debate, notes=(*debate.notes, note))
        case StopRequested(stop=stop):
            return replace(debate, stop=stop, paused_by=None)
        case VoteCalled(by=person):
            return replace(debate, vote_called_by=person, paused_by=None)
        case DebatePaused(by=person):
            return _paused(debate, person, recorded.at)
        case DebateResumed():
            return _resumed(debate, recorded.at)
        case _:
            return _apply_end(debate, recorded)


def _paused(debate: Debate, by: Person, at: datetime) -> Debate:
    """The debate paused; its end, once it was called for, is not held up by a click beside it."""
    if debate.stop or debate.vote_called_by or debate.out_of_time:
        return debate
    return replace(debate, paused_by=by, paused_at=debate.paused_at or at)


def _apply_end(debate: Debate, recorded: Recorded) -> Debate:
    """The debate after its time or itself has come to an end."""
    match recorded.event:
        case CallsDropped(usage=usage):
            return replace(debate, dropped=debate.dropped + usage)
        case TimeRanOut():
            return replace(debate, out_of_time=True)
        case DebateConcluded():
            return replace(debate, status=Status.CONCLUDED, ended_at=recorded.at)
        case DebateFailed(reason=reason):
            return replace(debate, status=Status.FAILED, failure=reason, ended_at=recorded.at)
        case _:
            return _apply_afterwards(debate, recorded.event)


def _apply_afterwards(debate: Debate, event: Event) -> Debate:
    """The debate after what people made of it, mostly when it had ended."""
    match event:
        case PeopleBallotCast(ballot=ballot):
            return replace(debate, people_ballots={**debate.people_ballots, ballot.by.id: ballot})
        case DecisionRecorded(decision=decision):
            return replace(debate, decisions=(*debate.decisions, decision))
        case ReminderDue(decision=origin):
            return replace(debate, reminded=debate.reminded | {origin})
        case FeedbackGiven(feedback=given):
            return replace(debate, feedback={**debate.feedback, given.by.id: given})
        case _:
            return debate
