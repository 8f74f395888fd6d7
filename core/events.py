"""What happened in a debate, in the past tense, and how events fold into a `Debate`.

Every event has a key that says what it is the result of, unique in its debate: the first writer
wins and a second one adopts what is there. To add an event: a class here, its case in `_after`,
and in `spending_of` and `turn_in` if it is the outcome of a turn.

Reason: every event in one place: a log is read against this list.
"""

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Literal, assert_never

from pydantic import Field, TypeAdapter

from core.errors import LogBroken, reading
from core.models import (
    BESIDE,
    JUDGE,
    RESERVED_IDS,
    SHADOW,
    SUMMARIZER,
    Abstention,
    Act,
    Answer,
    Audit,
    Ballot,
    Cast,
    Clarifications,
    Contribution,
    CrossCheck,
    Debate,
    Decision,
    DecisionOutcome,
    Failure,
    Feedback,
    Findings,
    FollowUp,
    FollowUpAnswer,
    Gate,
    Guidance,
    Note,
    OptionEdit,
    Options,
    PeopleBallot,
    Person,
    Questions,
    Setup,
    ShadowAnswer,
    ShadowChoice,
    Source,
    Spent,
    Status,
    Stop,
    Summary,
    Tally,
    Turn,
    Usage,
    Value,
    Verdict,
)


def _of_edition(key: str, edition: int) -> str:
    return key if edition == 1 else f"{key}/{edition}"


class DebateStarted(Value):
    """The first event of every debate."""

    kind: Literal["debate_started"] = "debate_started"
    setup: Setup

    @property
    def key(self) -> str:
        """One start per debate."""
        return "start"


class AgentsCast(Value):
    """Agents were chosen for the question; they take the place of those the debate began with."""

    kind: Literal["agents_cast"] = "agents_cast"
    cast: Cast

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.cast.turn.key


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


class NoteChanged(Value):
    """A person edited a note while the debate ran: from then on it says this.

    Also an edit that changed nothing, of a message that may be no note: older ones count no more.
    """

    kind: Literal["note_changed"] = "note_changed"
    #: Id of the note, or of a message that only answered.
    note: str
    text: str
    #: When it was edited, in an order of its surface.
    change: str

    @property
    def key(self) -> str:
        """One edit, one change."""
        return f"note/{self.note}/{self.change}"


class NoteWithdrawn(Value):
    """A person deleted a note, or what it said, while the debate ran."""

    kind: Literal["note_withdrawn"] = "note_withdrawn"
    #: Id of the note.
    note: str

    @property
    def key(self) -> str:
        """A note is withdrawn once: what is deleted does not come back."""
        return f"note/{self.note}/withdrawn"


class ClarificationAnswered(Value):
    """A person answered a question, skipped it, or corrected its answer."""

    kind: Literal["clarification_answered"] = "clarification_answered"
    answer: Answer

    @property
    def key(self) -> str:
        """One first answer per question; a correction counts while the questions are open."""
        return self.answer.key


class AnswerWithdrawn(Value):
    """A person took an answer back; its question is open again, if the others still are."""

    kind: Literal["answer_withdrawn"] = "answer_withdrawn"
    number: int
    #: Origin of the answer.
    origin: str
    #: Tells one withdrawal from the next.
    change: str

    @property
    def key(self) -> str:
        """One deletion or edit, one withdrawal."""
        return f"answer/{self.number}/withdrawn/{self.change}"


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


class OptionsMerged(Value):
    """It was said what there is to choose between."""

    kind: Literal["options_merged"] = "options_merged"
    options: Options

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.options.turn.key


class FindingsMerged(Value):
    """What the agents found in the subject of a review was merged."""

    kind: Literal["findings_merged"] = "findings_merged"
    findings: Findings

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.findings.turn.key


class OptionEdited(Value):
    """A person added, renamed or merged options."""

    kind: Literal["option_edited"] = "option_edited"
    edit: OptionEdit

    @property
    def key(self) -> str:
        """One form, one edit."""
        return f"option/{self.edit.origin}"


class GatePassed(Value):
    """It was weighed whether another round is worth holding."""

    kind: Literal["gate_passed"] = "gate_passed"
    gate: Gate

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.gate.turn.key


class DebateWanted(Value):
    """A person wanted the debate that the gate had skipped."""

    KEY: ClassVar[str] = "debate-wanted"

    kind: Literal["debate_wanted"] = "debate_wanted"
    by: Person

    @property
    def key(self) -> str:
        """It is wanted once."""
        return self.KEY


class CrossChecked(Value):
    """The judge chose with the positions in the opposite order."""

    kind: Literal["cross_checked"] = "cross_checked"
    check: CrossCheck

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.check.turn.key


class VerdictDrafted(Value):
    """The judge has written a verdict that is to be audited; nobody is shown it before."""

    kind: Literal["verdict_drafted"] = "verdict_drafted"
    turn: Turn
    verdict: Verdict
    edition: int = 1

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.turn.key


class Audited(Value):
    """A model of another vendor has looked for faults in the judge's verdict."""

    kind: Literal["audited"] = "audited"
    audit: Audit
    edition: int = 1

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.audit.turn.key


class ShadowAnswered(Value):
    """One model answered the question alone; nobody is shown it before the verdict."""

    kind: Literal["shadow_answered"] = "shadow_answered"
    shadow: ShadowAnswer

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.shadow.turn.key


class ShadowPlaced(Value):
    """It was said which option the answer of one model alone takes."""

    kind: Literal["shadow_placed"] = "shadow_placed"
    choice: ShadowChoice

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.choice.turn.key


class VoteTallied(Value):
    """The ballots were counted."""

    kind: Literal["vote_tallied"] = "vote_tallied"
    tally: Tally
    edition: int = 1

    @property
    def key(self) -> str:
        """The final vote is counted once."""
        return _of_edition("tally", self.edition)


class NoteAdded(Value):
    """A person added something while the debate ran."""

    kind: Literal["note_added"] = "note_added"
    note: Note

    @property
    def key(self) -> str:
        """One delivery, one note."""
        return f"note/{self.note.id}"


class SourceRead(Value):
    """A piece of evidence was read, or could not be."""

    kind: Literal["source_read"] = "source_read"
    source: Source

    @property
    def key(self) -> str:
        """The turn's key."""
        return self.source.turn.key


class StopRequested(Value):
    """A person ended the debate early."""

    kind: Literal["stop_requested"] = "stop_requested"
    stop: Stop
    #: How often a stop was taken back before.
    after: int = 0

    @property
    def key(self) -> str:
        """A debate is stopped once, unless that is taken back."""
        return f"stop/{self.after}" if self.after else "stop"


class StopWithdrawn(Value):
    """Whoever stopped the debate left before it had ended: it can be held to its normal end."""

    kind: Literal["stop_withdrawn"] = "stop_withdrawn"
    by: Person
    #: How often a stop was taken back, this time included.
    number: int

    @property
    def key(self) -> str:
        """One stop, one withdrawal."""
        return f"stop-withdrawn/{self.number}"


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


class Withheld(Value):
    """Stands for an event of a sealed debate where its log is read; it is never written."""

    kind: Literal["withheld"] = "withheld"
    #: Key of the event.
    outcome: str
    usage: Usage = Usage()
    #: Whether it ends the debate.
    ends: bool = False

    @property
    def key(self) -> str:
        """That of the event it stands for."""
        return self.outcome


class BallotsRevealed(Value):
    """Somebody had a sealed debate revealed."""

    kind: Literal["ballots_revealed"] = "ballots_revealed"
    by: Person

    @property
    def key(self) -> str:
        """It happens once."""
        return "reveal"


class ModelWentAway(Value):
    """Neither an agent's model nor a fallback of it answers: its turns wait, the others go on."""

    kind: Literal["model_went_away"] = "model_went_away"
    agent: str
    #: Words for people; no secrets, no prompts.
    reason: str
    #: Tells one time from the next.
    origin: str

    @property
    def key(self) -> str:
        """Once each time."""
        return f"away/{self.agent}/{self.origin}"


class ModelCameBack(Value):
    """A model answered an agent again."""

    kind: Literal["model_came_back"] = "model_came_back"
    agent: str
    origin: str

    @property
    def key(self) -> str:
        """Once each time."""
        return f"back/{self.agent}/{self.origin}"


class OutageBegan(Value):
    """Nothing can go on until a model is back; the debate waits and no time of it runs."""

    kind: Literal["outage_began"] = "outage_began"
    reason: str
    origin: str

    @property
    def key(self) -> str:
        """Once each time."""
        return f"outage/{self.origin}"


class OutageEnded(Value):
    """Something can go on again."""

    kind: Literal["outage_ended"] = "outage_ended"
    origin: str

    @property
    def key(self) -> str:
        """Once each time."""
        return f"outage-ended/{self.origin}"


class TimeRanOut(Value):
    """The debate took longer than its limit: no new turns but the vote and the verdict."""

    kind: Literal["time_ran_out"] = "time_ran_out"
    #: No model could be reached for too long: models are not waited for any more.
    of_outage: bool = False

    @property
    def key(self) -> str:
        """Each time runs out once."""
        return "time/outage" if self.of_outage else "time"


class VerdictReached(Value):
    """The judge wrote its synthesis."""

    kind: Literal["verdict_reached"] = "verdict_reached"
    verdict: Verdict
    edition: int = 1

    @property
    def key(self) -> str:
        """There is one verdict, and another if the skipped debate is wanted after it."""
        return _of_edition("verdict", self.edition)


class DebateConcluded(Value):
    """The debate ended with a verdict."""

    kind: Literal["debate_concluded"] = "debate_concluded"
    edition: int = 1

    @property
    def key(self) -> str:
        """A debate ends once, and again if the skipped debate is wanted after its verdict."""
        return _of_edition("end", self.edition)


class DebateFailed(Value):
    """The debate ended without a verdict."""

    kind: Literal["debate_failed"] = "debate_failed"
    reason: str
    edition: int = 1

    @property
    def key(self) -> str:
        """As it concludes."""
        return _of_edition("end", self.edition)


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


class OutcomeAsked(Value):
    """People were asked how an accepted decision turned out."""

    kind: Literal["outcome_asked"] = "outcome_asked"
    #: Origin of the decision.
    decision: str
    #: Counts how often: again after each "too early".
    number: int = 1

    @property
    def key(self) -> str:
        """Asked once each time."""
        return self.key_of(self.decision, self.number)

    @staticmethod
    def key_of(decision: str, number: int) -> str:
        """The key of having asked about a decision for the `number`th time."""
        return f"outcome-asked/{number}/{decision}"


class OutcomeGiven(Value):
    """A person said how the decision turned out, or said it anew."""

    kind: Literal["outcome_given"] = "outcome_given"
    outcome: DecisionOutcome

    @property
    def key(self) -> str:
        """One click or form, one outcome."""
        return f"outcome/{self.outcome.origin}"


class FeedbackGiven(Value):
    """A person said whether the verdict was of use."""

    kind: Literal["feedback_given"] = "feedback_given"
    feedback: Feedback

    @property
    def key(self) -> str:
        """One click, one piece of feedback."""
        return f"feedback/{self.feedback.origin}"


class FollowUpAsked(Value):
    """A person asked something about the debate after its verdict."""

    kind: Literal["follow_up_asked"] = "follow_up_asked"
    question: FollowUp

    @property
    def key(self) -> str:
        """One message or form, one question."""
        return f"asked/{self.question.id}"


class DebateContinued(Value):
    """A person started a debate that goes on from this one's verdict."""

    kind: Literal["debate_continued"] = "debate_continued"
    #: Id of the newer debate.
    debate: str
    question: str
    by: Person

    @property
    def key(self) -> str:
        """Once for each newer debate."""
        return f"continued/{self.debate}"


class FollowUpAnswered(Value):
    """A question was answered from the record."""

    kind: Literal["follow_up_answered"] = "follow_up_answered"
    answer: FollowUpAnswer

    @property
    def key(self) -> str:
        """The turn's key: a question has one answer."""
        return self.answer.turn.key


Event = Annotated[
    DebateStarted
    | AgentsCast
    | QuestionsAsked
    | ClarificationsOpened
    | ClarificationAnswered
    | AnswerWithdrawn
    | ClarificationsClosed
    | ContributionMade
    | FacilitatorDecided
    | SummaryMade
    | TurnFailed
    | BallotCast
    | BallotAbstained
    | OptionsMerged
    | FindingsMerged
    | OptionEdited
    | GatePassed
    | DebateWanted
    | CrossChecked
    | VerdictDrafted
    | Audited
    | ShadowAnswered
    | ShadowPlaced
    | VoteTallied
    | NoteAdded
    | NoteChanged
    | NoteWithdrawn
    | SourceRead
    | StopRequested
    | StopWithdrawn
    | VoteCalled
    | DebatePaused
    | DebateResumed
    | CallsDropped
    | Withheld
    | BallotsRevealed
    | ModelWentAway
    | ModelCameBack
    | OutageBegan
    | OutageEnded
    | TimeRanOut
    | VerdictReached
    | DebateConcluded
    | DebateFailed
    | PeopleBallotCast
    | DecisionRecorded
    | ReminderDue
    | OutcomeAsked
    | OutcomeGiven
    | FeedbackGiven
    | FollowUpAsked
    | FollowUpAnswered
    | DebateContinued,
    Field(discriminator="kind"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def spent_by(event: Event) -> Usage:
    """The usage that this event records; zero for what people did."""
    spent = spending_of(event)
    return spent.usage if spent else Usage()


def spending_of(event: Event) -> Spent | None:
    """What this event cost, and whom; None for what people did and what asks no model."""
    match event:
        case TurnFailed(failure=failure):
            return Spent(agent=failure.turn.agent, lost=failure.usage)
        case CallsDropped(usage=usage) | Withheld(usage=usage):
            return Spent(lost=usage)
        case (
            SummaryMade(summary=made) | OptionsMerged(options=made) | FindingsMerged(findings=made)
        ):
            return Spent(agent=made.turn.agent, call=made.call, lost=made.lost)
        case ClarificationsOpened(clarifications=made):
            return Spent(agent=SUMMARIZER, call=made.call, lost=made.lost)
        case AgentsCast(cast=made) | FollowUpAnswered(answer=made) | Audited(audit=made):
            return Spent(agent=made.turn.agent, call=made.call, lost=made.lost)
        case VerdictReached(verdict=made):
            return Spent(agent=JUDGE, call=made.call, lost=made.lost)
        case (
            ContributionMade(contribution=made)
            | QuestionsAsked(questions=made)
            | FacilitatorDecided(guidance=made)
            | BallotCast(ballot=made)
            | BallotAbstained(abstention=made)
            | CrossChecked(check=made)
            | ShadowAnswered(shadow=made)
            | ShadowPlaced(choice=made)
        ):
            return Spent(agent=made.turn.agent, call=made.call)
        case _:
            return None


def turn_in(event: Event) -> Turn | None:
    """The turn an event is the outcome of; None for what people did, the count and the verdict."""
    match event:
        case (
            ContributionMade(contribution=made)
            | TurnFailed(failure=made)
            | QuestionsAsked(questions=made)
            | ClarificationsOpened(clarifications=made)
            | FacilitatorDecided(guidance=made)
            | SummaryMade(summary=made)
            | BallotCast(ballot=made)
            | BallotAbstained(abstention=made)
            | SourceRead(source=made)
            | OptionsMerged(options=made)
            | FindingsMerged(findings=made)
            | GatePassed(gate=made)
            | CrossChecked(check=made)
            | Audited(audit=made)
            | AgentsCast(cast=made)
            | ShadowAnswered(shadow=made)
            | ShadowPlaced(choice=made)
        ):
            return made.turn
        case _:
            return None


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


#: What is made beside the rounds (a summary, the shadow answer) says not how long one takes.
_ROUND = re.compile(rf"r(\d+)/(?!(?:{'|'.join(sorted(BESIDE))})/)")


def fold(log: Iterable[Recorded], known: Debate | None = None) -> Debate:
    """The debate its events tell of.

    Args:
        log: Its events in order.
        known: The debate before them; None: they are all there are.

    Raises:
        LogBroken: The log is empty, does not begin with the start, or tells of what cannot be.
    """
    debate = known
    for recorded in log:
        with reading(recorded.debate_id):
            debate = apply(debate, recorded)
    if debate is None:
        raise LogBroken("An empty log is no debate.")
    return debate


def apply(debate: Debate | None, recorded: Recorded) -> Debate:
    """The debate after one more event.

    Raises:
        LogBroken: The event cannot follow what came before it.
    """
    event, key, at = recorded.event, recorded.event.key, recorded.at
    if debate is None and isinstance(event, DebateStarted):
        return Debate(
            id=recorded.debate_id,
            setup=event.setup,
            references=event.setup.references,
            started_at=at,
            seq=recorded.seq,
            now=at,
            times={key: at},
        )
    fault = _fault(debate, event) if debate else "comes before the start"
    if debate is None or fault:
        raise LogBroken(
            f"The log of debate {recorded.debate_id} cannot be: event {recorded.seq}"
            f" ({event.kind}, key {key}) {fault}."
        )
    return _after(_moved_on(debate, recorded), event, key, at)


def _fault(debate: Debate, event: Event) -> str:  # noqa: C901, PLR0912 - one case per event
    """Why the event cannot follow what is there; empty if it can.

    An event may only speak of agents that take part and of questions that were put: else whoever
    reads the debate looks for what is not there.
    """
    agents = {agent.id for agent in debate.setup.agents}
    if isinstance(event, ModelWentAway) and event.agent not in agents | RESERVED_IDS:
        return f"is of {event.agent!r}, who takes no part"
    turn = turn_in(event)
    if turn and turn.agent not in agents | RESERVED_IDS:
        return f"is of {turn.agent!r}, who takes no part"
    named: Iterable[str] = ()
    match event:
        case DebateStarted():
            return "begins a debate that has begun"
        case AgentsCast(cast=cast) if not cast.agents:
            return "casts nobody"
        case AgentsCast() if debate.contributions or debate.questions:
            return "casts agents after others have spoken"
        case ClarificationAnswered(answer=answer) if not debate.clarification(answer.number):
            return f"answers question {answer.number}, which nobody was asked"
        case AnswerWithdrawn(number=number) if not debate.clarification(number):
            return f"withdraws an answer to question {number}, which nobody was asked"
        case FollowUpAnswered(answer=answer) if answer.turn.target not in {
            str(question.number) for question in debate.follow_ups
        }:
            return f"answers {answer.turn.key}, which nobody asked"
        case ClarificationsClosed(which=which) if which not in debate.clarifications:
            return f"closes {which}, which nobody has opened"
        case BallotCast(ballot=ballot) if not ballot.ranking:
            return "ranks nothing"
        case BallotCast(ballot=ballot) | PeopleBallotCast(ballot=ballot):
            named = ballot.ranking
        case OptionsMerged(options=options):
            named = tuple(options.stances)
        case VoteTallied(tally=tally):
            named = (*(score.position for score in tally.scores), *tally.winners)
        case _:
            pass
    unknown = [agent for agent in named if agent not in agents]
    return f"ranks the position of {unknown[0]!r}, who takes no part" if unknown else ""


def _moved_on(debate: Debate, recorded: Recorded) -> Debate:
    """The debate at the time of the event: what it cost, and how long was worked.

    No turn takes longer than its limit, so a longer gap is time the bot was down; while people are
    waited for, and after the end, nobody works.
    """
    key, times, spent = recorded.event.key, debate.times, spending_of(recorded.event)
    if key not in times:
        times = {**times, key: recorded.at}
    gap = max(0.0, (recorded.at - debate.now).total_seconds())
    over = debate.status is not Status.RUNNING
    waits = over or debate.paused_by or debate.waits_for_answers or debate.outage
    worked = debate.worked + (0.0 if waits else min(gap, debate.setup.limits.turn_seconds))
    found = _ROUND.match(key)
    worked_at = {**debate.worked_at, int(found.group(1)): worked} if found else debate.worked_at
    return debate.replaced(
        seq=recorded.seq,
        now=recorded.at,
        times=times,
        worked=worked,
        worked_at=worked_at,
        spent=(*debate.spent, spent)
        if spent and (spent.call or spent.usage != Usage())
        else debate.spent,
    )


def _after(debate: Debate, event: Event, key: str, at: datetime) -> Debate:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one case per event
    """The debate with the event applied."""
    match event:
        case DebateStarted():
            return debate  # `apply` has begun with it
        case AgentsCast(cast=cast):
            chosen = {
                "agents": cast.agents,
                "reasons": cast.reasons,
                "hard_to_undo": cast.hard_to_undo,
                "checks_rules": cast.checks_rules,
                "warnings": (*debate.setup.warnings, *cast.warnings),
            }
            setup = debate.setup.model_copy(update=chosen)
            return debate.replaced(setup=setup)
        case ContributionMade(contribution=made):
            return debate.replaced(contributions={**debate.contributions, key: made})
        case TurnFailed(failure=failure) if failure.turn.agent == SHADOW:
            # The debate lacks nothing by it: it is no failure of the debate.
            return debate.replaced(shadow_fault=failure.reason)
        case TurnFailed(failure=failure):
            return debate.replaced(failures={**debate.failures, key: failure})
        case QuestionsAsked(questions=asked):
            return debate.replaced(questions={**debate.questions, key: asked})
        case ClarificationsOpened(clarifications=opened):
            return debate.replaced(clarifications={**debate.clarifications, key: opened})
        case ClarificationAnswered(answer=answer):
            said = (answer.origin, answer.number)
            edits = _edits(debate, answer.origin, answer.edited or answer.change)
            answer = answer.model_copy(update={"by": _told_apart(debate, answer.by)})
            if answer.change and not debate.is_asking(answer.number):
                # Too late: agents may have read the answer.
                heard = {**debate.heard, said: debate.heard.get(said)}
                return debate.replaced(heard=heard, edits=edits)
            standing, others = _standing(debate, answer)
            return debate.replaced(
                answers={**debate.answers, answer.number: standing},
                other_answers={**debate.other_answers, answer.number: others},
                names={**debate.names, answer.by.id: answer.by.name},
                heard={**debate.heard, said: answer.text},
                edits=edits,
                all_notes=_noted(debate, answer.note, text=""),
            )
        case AnswerWithdrawn(number=number, origin=origin, change=change):
            edits = _edits(debate, origin, change)
            known = debate.answers.get(number)
            if not debate.is_asking(number):
                return debate.replaced(edits=edits)
            heard = {**debate.heard, (origin, number): None}
            is_standing = known is not None and known.origin == origin
            left = {n: one for n, one in debate.answers.items() if n != number or not is_standing}
            others = _of_others(debate, number, origin)
            return debate.replaced(
                answers=left,
                other_answers={**debate.other_answers, number: others},
                heard=heard,
                edits=edits,
            )
        case ClarificationsClosed(which=which):
            return debate.replaced(closed=debate.closed | {which})
        case FacilitatorDecided(guidance=guidance):
            by_rule = {guidance.gate.turn.key: guidance.gate} if guidance.gate else {}
            return debate.replaced(
                guidance={**debate.guidance, key: guidance},
                gates={**debate.gates, **by_rule},
            )
        case SummaryMade(summary=summary):
            return debate.replaced(summaries={**debate.summaries, key: summary})
        case BallotCast(ballot=ballot):
            return debate.replaced(ballots={**debate.ballots, key: ballot})
        case BallotAbstained(abstention=abstention):
            return debate.replaced(abstentions={**debate.abstentions, key: abstention})
        case OptionsMerged(options=options):
            return debate.replaced(options=options)
        case FindingsMerged(findings=findings):
            return debate.replaced(findings=findings)
        case OptionEdited(edit=edit):
            return debate.replaced(option_edits=(*debate.option_edits, edit))
        case GatePassed(gate=gate):
            return debate.replaced(gates={**debate.gates, key: gate})
        case DebateWanted(by=person):
            return _wanted(debate, person)
        case CrossChecked(check=check):
            return debate.replaced(cross_check=check)
        case ShadowAnswered(shadow=shadow):
            return debate.replaced(shadow=shadow)
        case ShadowPlaced(choice=choice):
            return debate.replaced(shadow_choice=choice)
        case VoteTallied(tally=tally, edition=edition):
            return debate.replaced(tally=tally) if edition == debate.edition else debate
        case NoteAdded(note=note):
            return _with_note(debate, note)
        case NoteChanged(note=changed, text=text, change=change):
            if changed in debate.withdrawn:
                return debate
            edits = _edits(debate, changed, change)
            is_newer = any(
                all_note.id == changed and all_note.change < change for all_note in debate.all_notes
            )
            if not is_newer:
                return debate.replaced(edits=edits)
            notes = _noted(debate, changed, text=text, change=change)
            return debate.replaced(all_notes=notes, edits=edits)
        case NoteWithdrawn(note=gone):
            notes = _noted(debate, gone, text="")
            return debate.replaced(all_notes=notes, withdrawn=debate.withdrawn | {gone})
        case SourceRead(source=source):
            known = sorted((*debate.sources, source), key=lambda one: one.number)
            given = (*debate.references, *source.references)
            return debate.replaced(sources=tuple(known), references=given)
        case StopRequested(stop=stop):
            return debate.replaced(stop=stop, paused_by=None)
        case StopWithdrawn():
            return debate.replaced(stop=None, stops_withdrawn=debate.stops_withdrawn + 1)
        case VoteCalled(by=person):
            return debate.replaced(vote_called_by=person, paused_by=None)
        case DebatePaused(by=person):
            if debate.stop or debate.vote_called_by or debate.out_of_time:
                return debate  # its end, once called for, is not held up by a click beside it
            return debate.replaced(paused_by=person, paused_at=debate.paused_at or at)
        case DebateResumed():
            # The pause is not taken off people's time to answer.
            pause = at - (debate.paused_at or at)
            shifted = {
                which: opened.model_copy(update={"until": opened.until + pause})
                for which, opened in debate.clarifications.items()
            }
            return debate.replaced(paused_by=None, paused_at=None, clarifications=shifted)
        case VerdictDrafted() | Audited() | VerdictReached():
            return _with_verdict(debate, event)
        case CallsDropped() | Withheld():
            return _ended_unread(debate, event, at)
        case ModelWentAway(agent=agent, reason=reason):
            return debate.replaced(away={**debate.away, agent: reason})
        case ModelCameBack(agent=agent):
            left = {other: why for other, why in debate.away.items() if other != agent}
            return debate.replaced(away=left)
        case OutageBegan(reason=reason):
            return debate.replaced(outage=reason, outage_at=debate.outage_at or at)
        case OutageEnded():
            return debate.replaced(outage="", outage_at=None)
        case TimeRanOut(of_outage=of_outage):
            lasted = debate.out_of_patience or of_outage
            return debate.replaced(out_of_time=True, out_of_patience=lasted)
        case DebateConcluded(edition=edition):
            if edition != debate.edition:
                return debate  # written while somebody wanted it to go on
            return debate.replaced(status=Status.CONCLUDED, ended_at=at)
        case DebateFailed(reason=reason, edition=edition):
            if edition != debate.edition:
                return debate
            return debate.replaced(status=Status.FAILED, failure=reason, ended_at=at)
        case PeopleBallotCast() | BallotsRevealed():
            return _voted_on(debate, event)
        case DecisionRecorded(decision=decision):
            return debate.replaced(decisions=(*debate.decisions, decision))
        case ReminderDue(decision=origin):
            return debate.replaced(reminded=debate.reminded | {origin})
        case OutcomeAsked(decision=origin, number=number):
            return debate.replaced(outcomes_asked={**debate.outcomes_asked, origin: number})
        case OutcomeGiven(outcome=given):
            return debate.replaced(outcomes=(*debate.outcomes, given))
        case FeedbackGiven(feedback=given):
            return debate.replaced(feedback={**debate.feedback, given.by.id: given})
        case FollowUpAsked(question=question):
            numbered = question.model_copy(update={"number": len(debate.follow_ups) + 1})
            return debate.replaced(follow_ups=(*debate.follow_ups, numbered))
        case FollowUpAnswered(answer=answer):
            number = int(answer.turn.target or 0)
            return debate.replaced(follow_up_answers={**debate.follow_up_answers, number: answer})
        case DebateContinued(debate=newer):
            return debate.replaced(continued_in=(*debate.continued_in, newer))
        case _:
            assert_never(event)


def _with_verdict(debate: Debate, event: VerdictDrafted | Audited | VerdictReached) -> Debate:
    """The debate with its verdict, as drafted, audited or reached, unless it has gone on since."""
    if event.edition != debate.edition:
        return debate
    match event:
        case VerdictDrafted(verdict=verdict):
            return debate.replaced(draft=verdict)
        case Audited(audit=audit):
            return debate.replaced(audit=audit)
        case VerdictReached(verdict=verdict):
            return debate.replaced(verdict=verdict)


def _ended_unread(debate: Debate, event: CallsDropped | Withheld, at: datetime) -> Debate:
    """The debate ended for those who may not read how; else the event only cost something."""
    if isinstance(event, Withheld) and event.ends:
        return debate.replaced(status=Status.CONCLUDED, ended_at=at)
    return debate


def _voted_on(debate: Debate, event: PeopleBallotCast | BallotsRevealed) -> Debate:
    """The debate with a person's newest ballot, or revealed; ballots since then count apart."""
    if isinstance(event, BallotsRevealed):
        return debate.replaced(revealed_by=event.by)
    field, ballot = "late_ballots" if debate.revealed_by else "people_ballots", event.ballot
    return debate.replaced(**{field: {**getattr(debate, field), ballot.by.id: ballot}})


def is_before(message: str, other: str) -> bool:
    """Return whether a message was written before another one of its channel, by their ids."""
    place, parted, ts = message.partition(":")
    other_place, _, other_ts = other.partition(":")
    return bool(parted) and place == other_place and ts < other_ts


def _standing(debate: Debate, answer: Answer) -> tuple[Answer, tuple[Answer, ...]]:
    """The answer of a question that stands, and what others said last: the newest message counts.

    An edit is as new as its time.
    """
    known = debate.answers.get(answer.number)
    is_late = known and not answer.edited and is_before(answer.origin, known.origin)
    first, newest = (answer, known) if known and is_late else (known, answer)
    by_person = {
        other.by.id: other
        for other in (*debate.other_answers.get(answer.number, ()), *([first] if first else ()))
        if other.by.id != newest.by.id and other.text not in {"", newest.text}
    }
    return newest, tuple(by_person.values())


def _of_others(debate: Debate, number: int, gone: str) -> tuple[Answer, ...]:
    """What others said last about a question, without the answer of a message that is gone."""
    return tuple(other for other in debate.other_answers.get(number, ()) if other.origin != gone)


def _with_note(debate: Debate, note: Note) -> Debate:
    """The debate with a note, before those that were written later and came earlier."""
    place, author = len(debate.all_notes), _told_apart(debate, note.author)
    numbered = note.model_copy(update={"number": place + 1, "author": author})
    while place and is_before(note.id, debate.all_notes[place - 1].id):
        place -= 1
    return debate.replaced(
        all_notes=(*debate.all_notes[:place], numbered, *debate.all_notes[place:]),
        names={**debate.names, author.id: author.name},
        references=(*debate.references, *note.references),
        edits=_edits(debate, note.id, note.change),
    )


def _told_apart(debate: Debate, person: Person) -> Person:
    """The person under a name that nobody else in the debate has."""
    asker = debate.setup.asked_by
    others = {asker.id: asker.name, **debate.names}
    own, name = others.pop(person.id, ""), person.name
    if not name or name not in (taken := set(others.values())):
        return person
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    name = own if own.startswith(f"{name} (") else next(n for n in numbered if n not in taken)
    return person.model_copy(update={"name": name})


def _noted(debate: Debate, which: str, **now: str) -> tuple[Note, ...]:
    """All notes, with what one of them says now; what is no note changes none."""
    return tuple(
        note.model_copy(update=now) if note.id == which else note for note in debate.all_notes
    )


def _edits(debate: Debate, origin: str, change: str) -> Mapping[str, str]:
    """When messages were edited last; a change of an answer has its message before the time."""
    edited = change.removeprefix(f"{origin}/")
    if edited in {"", origin} or edited <= debate.edits.get(origin, ""):
        return debate.edits
    return {**debate.edits, origin: edited}


#: What ends a debate and is done anew when the debate is wanted after all.
_END = frozenset({Act.TALLY, Act.CROSS_CHECK, Act.AUDIT, Act.SYNTHESIS})


def _wanted(debate: Debate, person: Person) -> Debate:
    """The debate with its rounds open again; what had ended it stays in the log.

    What was still being written of the old end when this came counts no more: its edition is over.
    """
    if debate.wanted_by:
        return debate
    return debate.replaced(
        wanted_by=person,
        edition=2,
        status=Status.RUNNING,
        tally=None,
        cross_check=None,
        draft=None,
        audit=None,
        verdict=None,
        earlier_verdict=debate.verdict,
        failure="",
        ended_at=None,
        failures={k: f for k, f in debate.failures.items() if f.turn.act not in _END},
    )
