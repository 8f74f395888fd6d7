"""Events of people other than messages: stop, pause, ballot, options, decision, feedback."""

from core.debate.event import BaseEvent, Changes, in_tuple, last
from core.debate.people import Person, Stop
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.verdict import Decision, DecisionOutcome, Feedback, FollowUp
from core.debate.vote import OptionEdit, PeopleBallot

#: Acts at the end of a debate. They are repeated if a skipped debate is held after all.
_END = frozenset({Act.TALLY, Act.CROSS_CHECK, Act.AUDIT, Act.SYNTHESIS})


class OptionEdited(BaseEvent):
    key_form = "option/{0.edit.origin}"
    update = in_tuple("option_edits", "edit")
    edit: OptionEdit


class DebateWanted(BaseEvent):
    """A person asked to hold a debate that was skipped because the first answers agreed."""

    key_form = "debate-wanted"
    by: Person

    def _changes(self, debate: Debate) -> Changes:
        """Begin edition 2. Events of edition 1 that are recorded later are ignored."""
        if debate.reopened_by:
            return {}
        return {
            "reopened_by": self.by,
            "edition": 2,
            "status": Status.RUNNING,
            "tally": None,
            "cross_check": None,
            "draft": None,
            "audit": None,
            "verdict": None,
            "earlier_verdict": debate.verdict,
            "failure": "",
            "ended_at": None,
            "failures": {k: f for k, f in debate.failures.items() if f.turn.act not in _END},
        }


class StopRequested(BaseEvent):
    update = last("stop", "stop", paused_by=None)
    stop: Stop
    #: The number of stops that were withdrawn before.
    after: int = 0

    @property
    def key(self) -> str:
        """A debate can be stopped again only after the stop was withdrawn."""
        return f"stop/{self.after}" if self.after else "stop"


class StopWithdrawn(BaseEvent):
    """The person who stopped the debate left before it had ended, so it continues normally."""

    key_form = "stop-withdrawn/{0.number}"
    by: Person
    #: The number of stops that were withdrawn, with this one.
    number: int

    def _changes(self, debate: Debate) -> Changes:
        return {"stop": None, "stops_withdrawn": debate.stops_withdrawn + 1}


class VoteCalled(BaseEvent):
    key_form = "vote-called"
    update = last("vote_called_by", "by", paused_by=None)
    by: Person


class DebatePaused(BaseEvent):
    key_form = "pause/{0.origin}"
    by: Person
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        if debate.stop or debate.vote_called_by or debate.out_of_time:
            return {}  # a pause that was recorded after the end was requested has no effect
        return {"paused_by": self.by, "paused_at": debate.paused_at or debate.now}


class DebateResumed(BaseEvent):
    key_form = "resume/{0.origin}"
    by: Person
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        # The deadlines for answers are extended by the length of the pause.
        pause = debate.now - (debate.paused_at or debate.now)
        clarifications = {
            key: card.model_copy(update={"until": card.until + pause})
            for key, card in debate.clarifications.items()
        }
        return {"paused_by": None, "paused_at": None, "clarifications": clarifications}


class BallotsRevealed(BaseEvent):
    key_form = "reveal"
    update = last("revealed_by", "by")
    by: Person


class PeopleBallotCast(BaseEvent):
    ballot: PeopleBallot

    @property
    def key(self) -> str:
        return "/".join(filter(None, ("people-ballot", self.ballot.by.id, self.ballot.origin)))

    def _changes(self, debate: Debate) -> Changes:
        # Ballots cast after the agents' ballots were revealed are counted separately.
        field = "late_ballots" if debate.revealed_by else "people_ballots"
        return {field: {**getattr(debate, field), self.ballot.by.id: self.ballot}}


class DecisionRecorded(BaseEvent):
    key_form = "decision/{0.decision.origin}"
    update = in_tuple("decisions", "decision")
    decision: Decision


class OutcomeGiven(BaseEvent):
    key_form = "outcome/{0.outcome.origin}"
    update = in_tuple("outcomes", "outcome")
    outcome: DecisionOutcome


class FeedbackGiven(BaseEvent):
    key_form = "feedback/{0.feedback.origin}"
    feedback: Feedback

    def _changes(self, debate: Debate) -> Changes:
        return {"feedback": {**debate.feedback, self.feedback.by.id: self.feedback}}


class FollowUpAsked(BaseEvent):
    key_form = "asked/{0.question.id}"
    question: FollowUp

    def _changes(self, debate: Debate) -> Changes:
        question = self.question.model_copy(update={"number": len(debate.follow_ups) + 1})
        return {"follow_ups": (*debate.follow_ups, question)}


class DebateContinued(BaseEvent):
    key_form = "continued/{0.debate}"
    update = in_tuple("continued_in", "debate")
    debate: str
    question: str
    by: Person
