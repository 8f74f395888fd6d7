"""Events of the whole debate: start, closed questions, outages, time limit, end, reminders."""

from core.debate.event import BaseEvent, Changes, constants, in_set
from core.debate.setup import Setup
from core.debate.state import Debate, Status
from core.usage import Expense, Usage


class DebateStarted(BaseEvent):
    key_form = "start"
    setup: Setup


class ClarificationsClosed(BaseEvent):
    """The time to answer is over. Unanswered questions are replaced by their assumptions."""

    key_form = "{0.which}/closed"
    update = in_set("closed_cards", "which")
    which: str


class CallsDropped(BaseEvent):
    """Model calls were cancelled while they ran. Their cost still counts."""

    key_form = "dropped/{0.origin}"
    usage: Usage
    origin: str

    @property
    def expense(self) -> Expense:
        return Expense(lost=self.usage)


class Withheld(BaseEvent):
    """Replaces a hidden event when the log of a sealed debate is read. It is never stored."""

    key_form = "{0.outcome}"
    outcome: str
    usage: Usage = Usage()
    spent: Expense = Expense()
    ends: bool = False

    @property
    def expense(self) -> Expense:
        return self.spent

    def _changes(self, debate: Debate) -> Changes:
        # People may know that the debate has ended, but not its result.
        return {"status": Status.CONCLUDED, "ended_at": debate.now} if self.ends else {}


class ModelWentAway(BaseEvent):
    """Neither an agent's model nor its fallbacks answer. Its turns wait; other agents continue."""

    key_form = "away/{0.agent}/{0.origin}"
    agent: str
    #: For people to read; no secrets, no prompts.
    reason: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        return {"unavailable_agents": {**debate.unavailable_agents, self.agent: self.reason}}


class ModelCameBack(BaseEvent):
    key_form = "back/{0.agent}/{0.origin}"
    agent: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        unavailable = {k: v for k, v in debate.unavailable_agents.items() if k != self.agent}
        return {"unavailable_agents": unavailable}


class OutageBegan(BaseEvent):
    """No turn can be taken until a model is back. The debate waits, and its time limit too."""

    key_form = "outage/{0.origin}"
    reason: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        return {"outage": self.reason, "outage_at": debate.outage_at or debate.now}


class OutageEnded(BaseEvent):
    key_form = "outage-ended/{0.origin}"
    update = constants(outage="", outage_at=None)
    origin: str


class TimeRanOut(BaseEvent):
    """The debate took longer than its limit. Only the vote and the verdict follow."""

    #: The limit on outages: no model could be reached for too long.
    of_outage: bool = False

    @property
    def key(self) -> str:
        return "time/outage" if self.of_outage else "time"

    def _changes(self, debate: Debate) -> Changes:
        timed_out = debate.outage_timed_out or self.of_outage
        return {"out_of_time": True, "outage_timed_out": timed_out}


class DebateConcluded(BaseEvent):
    key_form = "end{0.edition_suffix}"
    edition: int = 1

    def _changes(self, debate: Debate) -> Changes:
        return {"status": Status.CONCLUDED, "ended_at": debate.now}


class DebateFailed(BaseEvent):
    key_form = "end{0.edition_suffix}"
    reason: str
    edition: int = 1

    def _changes(self, debate: Debate) -> Changes:
        return {"status": Status.FAILED, "failure": self.reason, "ended_at": debate.now}


class ReminderDue(BaseEvent):
    key_form = "reminder/{0.decision}"
    update = in_set("reminded", "decision")
    decision: str


class OutcomeAsked(BaseEvent):
    key_form = "outcome-asked/{0.number}/{0.decision}"
    decision: str
    #: Counts how often people were asked: once more after each answer "too early".
    number: int = 1

    def _changes(self, debate: Debate) -> Changes:
        return {"outcomes_asked": {**debate.outcomes_asked, self.decision: self.number}}
