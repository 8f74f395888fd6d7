"""Events of the debate as a whole: start, closed questions, outages, time limit, end, reminders."""

from core.debate.event import BaseEvent, Changes, constants, in_set
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.usage import Expense, Usage


class DebateStarted(BaseEvent):
    key_form = "start"
    setup: Setup


class ClarificationsClosed(BaseEvent):
    """The time to answer is over; assumptions hold where nobody did."""

    key_form = "{0.which}/closed"
    kept_in = in_set("closed", "which")
    which: str


class CallsDropped(BaseEvent):
    """Model calls were given up under way; they cost all the same."""

    key_form = "dropped/{0.origin}"
    usage: Usage
    origin: str

    @property
    def spent(self) -> Expense:
        return Expense(lost=self.usage)


class Withheld(BaseEvent):
    """Stands for an event of a sealed debate where its log is read; it is never written."""

    key_form = "{0.outcome}"
    outcome: str
    usage: Usage = Usage()
    ends: bool = False

    @property
    def spent(self) -> Expense:
        return Expense(lost=self.usage)

    def _changes(self, debate: Debate) -> Changes:
        # The debate ended for those who may not read how.
        return {"status": Status.CONCLUDED, "ended_at": debate.now} if self.ends else {}


class ModelWentAway(BaseEvent):
    """Neither an agent's model nor a fallback of it answers: its turns wait, the others go on."""

    key_form = "away/{0.agent}/{0.origin}"
    agent: str
    #: Words for people; no secrets, no prompts.
    reason: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        return {"away": {**debate.away, self.agent: self.reason}}


class ModelCameBack(BaseEvent):
    key_form = "back/{0.agent}/{0.origin}"
    agent: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        return {"away": {who: why for who, why in debate.away.items() if who != self.agent}}


class OutageBegan(BaseEvent):
    """Nothing can go on until a model is back; the debate waits and no time of it runs."""

    key_form = "outage/{0.origin}"
    reason: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        return {"outage": self.reason, "outage_at": debate.outage_at or debate.now}


class OutageEnded(BaseEvent):
    key_form = "outage-ended/{0.origin}"
    kept_in = constants(outage="", outage_at=None)
    origin: str


class TimeRanOut(BaseEvent):
    """The debate took longer than its limit: no new turns but the vote and the verdict."""

    #: No model could be reached for too long: models are not waited for any more.
    of_outage: bool = False

    @property
    def key(self) -> str:
        return "time/outage" if self.of_outage else "time"

    def _changes(self, debate: Debate) -> Changes:
        return {"out_of_time": True, "out_of_patience": debate.out_of_patience or self.of_outage}


class DebateConcluded(BaseEvent):
    key_form = "end{0.nth}"
    edition: int = 1

    def _changes(self, debate: Debate) -> Changes:
        return {"status": Status.CONCLUDED, "ended_at": debate.now}


class DebateFailed(BaseEvent):
    key_form = "end{0.nth}"
    reason: str
    edition: int = 1

    def _changes(self, debate: Debate) -> Changes:
        return {"status": Status.FAILED, "failure": self.reason, "ended_at": debate.now}


class ReminderDue(BaseEvent):
    key_form = "reminder/{0.decision}"
    kept_in = in_set("reminded", "decision")
    decision: str


class OutcomeAsked(BaseEvent):
    key_form = "outcome-asked/{0.number}/{0.decision}"
    decision: str
    #: Counts how often: again after each "too early".
    number: int = 1

    def _changes(self, debate: Debate) -> Changes:
        return {"outcomes_asked": {**debate.outcomes_asked, self.decision: self.number}}
