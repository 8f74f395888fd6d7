"""Events of people besides messages: stop, pause, ballot, options, decision, question, feedback."""

from core.debate.event import BaseEvent, Changes, in_tuple, last
from core.debate.people import Person, Stop
from core.debate.state import Debate, Status
from core.debate.turn import Act
from core.debate.verdict import Decision, DecisionOutcome, Feedback, FollowUp
from core.debate.vote import OptionEdit, PeopleBallot

#: What ends a debate and is done anew when the debate is wanted after all.
_END = frozenset({Act.TALLY, Act.CROSS_CHECK, Act.AUDIT, Act.SYNTHESIS})


class OptionEdited(BaseEvent):
    key_form = "option/{0.edit.origin}"
    kept_in = in_tuple("option_edits", "edit")
    edit: OptionEdit


class DebateWanted(BaseEvent):
    key_form = "debate-wanted"
    by: Person

    def _changes(self, debate: Debate) -> Changes:
        """What was still being written of the old end counts no more: its edition is over."""
        if debate.wanted_by:
            return {}
        return {
            "wanted_by": self.by,
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
    kept_in = last("stop", "stop", paused_by=None)
    stop: Stop
    #: How often a stop was taken back before.
    after: int = 0

    @property
    def key(self) -> str:
        """A debate is stopped once, unless that is taken back."""
        return f"stop/{self.after}" if self.after else "stop"


class StopWithdrawn(BaseEvent):
    """Whoever stopped the debate left before it had ended: it can be held to its normal end."""

    key_form = "stop-withdrawn/{0.number}"
    by: Person
    #: How often a stop was taken back, this time included.
    number: int

    def _changes(self, debate: Debate) -> Changes:
        return {"stop": None, "stops_withdrawn": debate.stops_withdrawn + 1}


class VoteCalled(BaseEvent):
    key_form = "vote-called"
    kept_in = last("vote_called_by", "by", paused_by=None)
    by: Person


class DebatePaused(BaseEvent):
    key_form = "pause/{0.origin}"
    by: Person
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        if debate.stop or debate.vote_called_by or debate.out_of_time:
            return {}  # its end, once called for, is not held up by a click beside it
        return {"paused_by": self.by, "paused_at": debate.paused_at or debate.now}


class DebateResumed(BaseEvent):
    key_form = "resume/{0.origin}"
    by: Person
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        # The pause is not taken off people's time to answer.
        pause = debate.now - (debate.paused_at or debate.now)
        shifted = {
            which: opened.model_copy(update={"until": opened.until + pause})
            for which, opened in debate.clarifications.items()
        }
        return {"paused_by": None, "paused_at": None, "clarifications": shifted}


class BallotsRevealed(BaseEvent):
    key_form = "reveal"
    kept_in = last("revealed_by", "by")
    by: Person


class PeopleBallotCast(BaseEvent):
    ballot: PeopleBallot

    @property
    def key(self) -> str:
        return "/".join(filter(None, ("people-ballot", self.ballot.by.id, self.ballot.origin)))

    def _changes(self, debate: Debate) -> Changes:
        # What comes after the agents' ballots were revealed counts apart.
        field = "late_ballots" if debate.revealed_by else "people_ballots"
        return {field: {**getattr(debate, field), self.ballot.by.id: self.ballot}}


class DecisionRecorded(BaseEvent):
    key_form = "decision/{0.decision.origin}"
    kept_in = in_tuple("decisions", "decision")
    decision: Decision


class OutcomeGiven(BaseEvent):
    key_form = "outcome/{0.outcome.origin}"
    kept_in = in_tuple("outcomes", "outcome")
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
    kept_in = in_tuple("continued_in", "debate")
    debate: str
    question: str
    by: Person
