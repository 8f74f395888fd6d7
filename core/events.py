"""What happened in a debate, in the past tense, and how events fold into a `Debate`.

Every event has a key that says what it is the result of, unique in its debate: the first writer
wins and a second one adopts what is there. To add an event: a class here that says where
it is kept (`kept_in`, or `_changes`), of `TurnEnded` if it is the outcome of a turn.

Reason: every event in one place: a log is read against this list.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, TypeAdapter

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
    Expense,
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
    Status,
    Stop,
    Summary,
    Tally,
    Turn,
    Usage,
    Value,
    Verdict,
)
from core.wrong_values import for_people


def _of_edition(key: str, edition: int) -> str:
    return key if edition == 1 else f"{key}/{edition}"


#: Fields of a debate → the values that an event gives them.
Changes = Mapping[str, Any]
Kept = Callable[[Debate, Any], Changes]


def by_key(field: str, attribute: str) -> Kept:
    """The event's value is in a mapping of the debate, by the event's key."""
    return lambda debate, event: {
        field: {**getattr(debate, field), event.key: getattr(event, attribute)}
    }


def by_person(field: str, attribute: str) -> Kept:
    """The same by the person who gave it: their newest counts."""

    def keep(debate: Debate, event: object) -> Changes:
        value = getattr(event, attribute)
        return {field: {**getattr(debate, field), value.by.id: value}}

    return keep


def last(field: str, attribute: str, **besides: object) -> Kept:
    """The newest event's value is the field."""
    return lambda _debate, event: {field: getattr(event, attribute), **besides}


def in_tuple(field: str, attribute: str) -> Kept:
    """The event's value comes last in a tuple of the debate."""
    return lambda debate, event: {field: (*getattr(debate, field), getattr(event, attribute))}


def in_set(field: str, attribute: str) -> Kept:
    """The event's value is in a set of the debate."""
    return lambda debate, event: {field: getattr(debate, field) | {getattr(event, attribute)}}


def constants(**changes: object) -> Kept:
    """The fields have these values, whatever the event says."""
    return lambda _debate, _event: changes


class _Event(Value):
    """Something that happened; each class says under which key, and where the debate keeps it."""

    #: Its key, with the event as `{0}`.
    key_form: ClassVar[str]
    kept_in: ClassVar[Kept] = constants()

    @property
    def key(self) -> str:
        """What it is the outcome of, unique in its debate: one click, one key."""
        return self.key_form.format(self)

    @property
    def turn_taken(self) -> Turn | None:
        """The turn it is the outcome of; None for people's, the count and the verdict."""
        return None

    @property
    def spent(self) -> Expense | None:
        """What it cost, and whom; None for what people did and what asks no model."""
        return None

    def fault(self, debate: Debate) -> str:
        """Why it cannot follow what is there; empty if it can.

        An event may only speak of agents that take part and of questions that were put: else
        whoever reads the debate looks for what is not there.
        """
        stranger = _fault_of_agent(debate, self.turn_taken.agent) if self.turn_taken else ""
        return stranger or self._fault(debate)

    def _fault(self, debate: Debate) -> str:  # noqa: ARG002 - most can follow anything
        return ""

    def folded_into(self, debate: Debate) -> Debate:
        """The debate with it applied; its time is the debate's already."""
        return debate.replace(**self._changes(debate))

    def _changes(self, debate: Debate) -> Changes:
        return type(self).kept_in(debate, self)


class TurnEnded(_Event):
    """The outcome of a turn: one value, which names the turn. A turn has one outcome."""

    key_form = "{0.value.turn.key}"

    @property
    def value(self) -> Any:
        """Its only field beside the kind."""
        return next(value for name, value in self if name != "kind")

    @property
    def turn_taken(self) -> Turn | None:
        """The turn."""
        return self.value.turn

    @property
    def spent(self) -> Expense | None:
        """The call that led to it, and what attempts that came to nothing have spent besides."""
        value = self.value
        if not hasattr(value, "call"):
            return None
        return Expense(
            agent=value.turn.agent, call=value.call, lost=getattr(value, "lost", Usage())
        )


def _fault_of_agent(debate: Debate, agent: str) -> str:
    takes_part = agent in RESERVED_IDS or any(agent == other.id for other in debate.setup.agents)
    return "" if takes_part else f"is of {agent!r}, who takes no part"


def _fault_of_agents(debate: Debate, ranked: Iterable[str]) -> str:
    agents = {agent.id for agent in debate.setup.agents}
    unknown = [agent for agent in ranked if agent not in agents]
    return f"ranks the position of {unknown[0]!r}, who takes no part" if unknown else ""


def _fault_of_question(does: str, debate: Debate, number: int) -> str:
    is_put = debate.clarification(number)
    return "" if is_put else f"{does} question {number}, which nobody was asked"


def is_before(message: str, other: str) -> bool:
    """Return whether a message was written before another one of its channel, by their ids."""
    place, parted, ts = message.partition(":")
    other_place, _, other_ts = other.partition(":")
    return bool(parted) and place == other_place and ts < other_ts


def _with_answer(debate: Debate, answer: Answer) -> Changes:
    """What messages say to a question, with this one; an edit counts at its own time."""
    replies = debate.replies.get(answer.number, ())
    others = [other for other in replies if other.origin != answer.origin]
    place = len(others)
    while place and not answer.edited and is_before(answer.origin, others[place - 1].origin):
        place -= 1
    return {
        "replies": {**debate.replies, answer.number: (*others[:place], answer, *others[place:])},
        "names": {**debate.names, answer.by.id: answer.by.name},
        "all_notes": _updated_notes(debate, answer.note, text=""),
    }


def _with_note(debate: Debate, note: Note) -> Changes:
    """A note, before those that were written later and came earlier."""
    place, author = len(debate.all_notes), _with_unique_name(debate, note.author)
    numbered = note.model_copy(update={"number": place + 1, "author": author})
    while place and is_before(note.id, debate.all_notes[place - 1].id):
        place -= 1
    return {
        "all_notes": (*debate.all_notes[:place], numbered, *debate.all_notes[place:]),
        "names": {**debate.names, author.id: author.name},
        "references": (*debate.references, *note.references),
        "edits": _edits(debate, note.id, note.change),
    }


def _with_unique_name(debate: Debate, person: Person) -> Person:
    """The person under a name that nobody else in the debate has."""
    asker = debate.setup.asked_by
    others = {asker.id: asker.name, **debate.names}
    own, name = others.pop(person.id, ""), person.name
    if not name or name not in (names := set(others.values())):
        return person
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    name = own if own.startswith(f"{name} (") else next(n for n in numbered if n not in names)
    return person.model_copy(update={"name": name})


def _updated_notes(debate: Debate, which: str, **now: str) -> tuple[Note, ...]:
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


class DebateStarted(_Event):
    """The first event of every debate."""

    key_form = "start"
    kind: Literal["debate_started"] = "debate_started"
    setup: Setup

    def _fault(self, debate: Debate) -> str:  # noqa: ARG002 - whatever is there
        return "begins a debate that has begun"


class AgentsCast(TurnEnded):
    """Agents were chosen for the question; they take the place of those the debate began with."""

    kind: Literal["agents_cast"] = "agents_cast"
    cast: Cast

    def _fault(self, debate: Debate) -> str:
        if not self.cast.agents:
            return "casts nobody"
        has_spoken = debate.contributions or debate.questions
        return "casts agents after others have spoken" if has_spoken else ""

    def _changes(self, debate: Debate) -> Changes:
        update = {
            "agents": self.cast.agents,
            "reasons": self.cast.reasons,
            "hard_to_undo": self.cast.hard_to_undo,
            "checks_rules": self.cast.checks_rules,
            "warnings": (*debate.setup.warnings, *self.cast.warnings),
        }
        return {"setup": debate.setup.model_copy(update=update)}


class ContributionMade(TurnEnded):
    """An agent said something."""

    kept_in = by_key("contributions", "contribution")
    kind: Literal["contribution_made"] = "contribution_made"
    contribution: Contribution


def _in_words(failure: Failure) -> Failure:
    """The failure of an older version, which recorded how Pydantic names a field, in words."""
    reason = for_people(failure.reason)
    return failure if reason == failure.reason else failure.model_copy(update={"reason": reason})


class TurnFailed(TurnEnded):
    """A turn failed after its retries."""

    kind: Literal["turn_failed"] = "turn_failed"
    failure: Annotated[Failure, AfterValidator(_in_words)]

    @property
    def spent(self) -> Expense:
        """All that was spent is lost."""
        return Expense(agent=self.failure.turn.agent, lost=self.failure.usage)

    def _changes(self, debate: Debate) -> Changes:
        if self.failure.turn.agent == SHADOW:
            # The debate lacks nothing by it: it is no failure of the debate.
            return {"shadow_fault": self.failure.reason}
        return {"failures": {**debate.failures, self.key: self.failure}}


class QuestionsAsked(TurnEnded):
    """An agent said what it wants to know."""

    kept_in = by_key("questions", "questions")
    kind: Literal["questions_asked"] = "questions_asked"
    questions: Questions


class ClarificationsOpened(TurnEnded):
    """Questions were put to people."""

    kept_in = by_key("clarifications", "clarifications")
    kind: Literal["clarifications_opened"] = "clarifications_opened"
    clarifications: Clarifications

    @property
    def spent(self) -> Expense:
        """Who sums up merges the questions."""
        card = self.clarifications
        return Expense(agent=SUMMARIZER, call=card.call, lost=card.lost)


class NoteChanged(_Event):
    """A person edited a note while the debate ran: from then on it says this.

    Also an edit that changed nothing, of a message that may be no note: older ones count no more.
    """

    key_form = "note/{0.note}/{0.change}"
    kind: Literal["note_changed"] = "note_changed"
    #: Id of the note, or of a message that only answered.
    note: str
    text: str
    #: When it was edited, in an order of its surface.
    change: str

    def _changes(self, debate: Debate) -> Changes:
        if self.note in debate.withdrawn:
            return {}
        edits = _edits(debate, self.note, self.change)
        is_newer = any(
            note.id == self.note and note.change < self.change for note in debate.all_notes
        )
        if not is_newer:
            return {"edits": edits}
        notes = _updated_notes(debate, self.note, text=self.text, change=self.change)
        return {"all_notes": notes, "edits": edits}


class NoteWithdrawn(_Event):
    """A person deleted a note, or what it said, while the debate ran."""

    key_form = "note/{0.note}/withdrawn"
    kind: Literal["note_withdrawn"] = "note_withdrawn"
    #: Id of the note.
    note: str

    def _changes(self, debate: Debate) -> Changes:
        notes = _updated_notes(debate, self.note, text="")
        return {"all_notes": notes, "withdrawn": debate.withdrawn | {self.note}}


class ClarificationAnswered(_Event):
    """A person answered a question, skipped it, or corrected its answer."""

    key_form = "{0.answer.key}"
    kind: Literal["clarification_answered"] = "clarification_answered"
    answer: Answer

    def _fault(self, debate: Debate) -> str:
        return _fault_of_question("answers", debate, self.answer.number)

    def _changes(self, debate: Debate) -> Changes:
        edits = _edits(debate, self.answer.origin, self.answer.edited or self.answer.change)
        if self._is_late(debate):  # agents may have read what was there
            return {"edits": edits}
        by = _with_unique_name(debate, self.answer.by)
        answer = self.answer.model_copy(update={"by": by})
        return {**_with_answer(debate, answer), "edits": edits}

    def _is_late(self, debate: Debate) -> bool:
        number = self.answer.number
        can_be_late = self.answer.change or debate.card_with(number).closed_by_event
        return bool(can_be_late) and not debate.is_asking(number)


class AnswerWithdrawn(_Event):
    """A person took an answer back; what another message says to the question stands again.

    Where no other says anything, the question is open again, if agents have not gone on.
    """

    key_form = "answer/{0.number}/withdrawn/{0.change}"
    kind: Literal["answer_withdrawn"] = "answer_withdrawn"
    number: int
    #: Origin of the answer.
    origin: str
    #: Tells one withdrawal from the next.
    change: str

    def _fault(self, debate: Debate) -> str:
        return _fault_of_question("withdraws an answer to", debate, self.number)

    def _changes(self, debate: Debate) -> Changes:
        edits = _edits(debate, self.origin, self.change)
        if not debate.is_asking(self.number):
            return {"edits": edits}
        replies = debate.replies.get(self.number, ())
        left = tuple(answer for answer in replies if answer.origin != self.origin)
        stands = left[-1:] == replies[-1:]
        if not stands and not debate.card_with(self.number).closed_by_event:
            left = ()  # in logs of before the question was open again, whatever others had said
        return {"replies": {**debate.replies, self.number: left}, "edits": edits}


class ClarificationsClosed(_Event):
    """The time to answer is over; assumptions hold where nobody did."""

    key_form = "{0.which}/closed"
    kept_in = in_set("closed", "which")
    kind: Literal["clarifications_closed"] = "clarifications_closed"
    #: Key of the clarifications.
    which: str

    def _fault(self, debate: Debate) -> str:
        is_open = self.which in debate.clarifications
        return "" if is_open else f"closes {self.which}, which nobody has opened"


class FacilitatorDecided(TurnEnded):
    """The facilitator said what comes next."""

    kind: Literal["facilitator_decided"] = "facilitator_decided"
    guidance: Guidance

    def _changes(self, debate: Debate) -> Changes:
        gate = self.guidance.gate
        by_rule = {gate.turn.key: gate} if gate else {}
        guidance = {**debate.guidance, self.key: self.guidance}
        return {"guidance": guidance, "gates": {**debate.gates, **by_rule}}


class SummaryMade(TurnEnded):
    """Older turns were summed up."""

    kept_in = by_key("summaries", "summary")
    kind: Literal["summary_made"] = "summary_made"
    summary: Summary


class BallotCast(TurnEnded):
    """An agent ranked the positions."""

    kept_in = by_key("ballots", "ballot")
    kind: Literal["ballot_cast"] = "ballot_cast"
    ballot: Ballot

    def _fault(self, debate: Debate) -> str:
        return (
            _fault_of_agents(debate, self.ballot.ranking)
            if self.ballot.ranking
            else "ranks nothing"
        )


class BallotAbstained(TurnEnded):
    """An agent's ballot could not be read."""

    kept_in = by_key("abstentions", "abstention")
    kind: Literal["ballot_abstained"] = "ballot_abstained"
    abstention: Abstention


class OptionsMerged(TurnEnded):
    """It was said what there is to choose between."""

    kept_in = last("options", "options")
    kind: Literal["options_merged"] = "options_merged"
    options: Options

    def _fault(self, debate: Debate) -> str:
        return _fault_of_agents(debate, self.options.stances)


class FindingsMerged(TurnEnded):
    """What the agents found in the subject of a review was merged."""

    kept_in = last("findings", "findings")
    kind: Literal["findings_merged"] = "findings_merged"
    findings: Findings


class OptionEdited(_Event):
    """A person added, renamed or merged options."""

    key_form = "option/{0.edit.origin}"
    kept_in = in_tuple("option_edits", "edit")
    kind: Literal["option_edited"] = "option_edited"
    edit: OptionEdit


class GatePassed(TurnEnded):
    """It was weighed whether another round is worth holding."""

    kept_in = by_key("gates", "gate")
    kind: Literal["gate_passed"] = "gate_passed"
    gate: Gate


class DebateWanted(_Event):
    """A person wanted the debate that the gate had skipped."""

    KEY: ClassVar[str] = "debate-wanted"

    kind: Literal["debate_wanted"] = "debate_wanted"
    by: Person

    @property
    def key(self) -> str:
        """It is wanted once."""
        return self.KEY

    def _changes(self, debate: Debate) -> Changes:
        """Its rounds are open again; what had ended it stays in the log.

        What was still being written of the old end when this came counts no more: its edition is
        over.
        """
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


class CrossChecked(TurnEnded):
    """The judge chose with the positions in the opposite order."""

    kept_in = last("cross_check", "check")
    kind: Literal["cross_checked"] = "cross_checked"
    check: CrossCheck


class VerdictDrafted(_Event):
    """The judge has written a verdict that is to be audited; nobody is shown it before."""

    key_form = "{0.turn.key}"
    kind: Literal["verdict_drafted"] = "verdict_drafted"
    turn: Turn
    verdict: Verdict
    edition: int = 1

    def _changes(self, debate: Debate) -> Changes:
        return {"draft": self.verdict} if self.edition == debate.edition else {}


class Audited(_Event):
    """A model of another vendor has looked for faults in the judge's verdict."""

    key_form = "{0.audit.turn.key}"
    kind: Literal["audited"] = "audited"
    audit: Audit
    edition: int = 1

    @property
    def turn_taken(self) -> Turn:
        """The turn."""
        return self.audit.turn

    @property
    def spent(self) -> Expense:
        """The auditor's calls."""
        audit = self.audit
        return Expense(agent=audit.turn.agent, call=audit.call, lost=audit.lost)

    def _changes(self, debate: Debate) -> Changes:
        return {"audit": self.audit} if self.edition == debate.edition else {}


class ShadowAnswered(TurnEnded):
    """One model answered the question alone; nobody is shown it before the verdict."""

    kept_in = last("shadow", "shadow")
    kind: Literal["shadow_answered"] = "shadow_answered"
    shadow: ShadowAnswer


class ShadowPlaced(TurnEnded):
    """It was said which option the answer of one model alone takes."""

    kept_in = last("shadow_choice", "choice")
    kind: Literal["shadow_placed"] = "shadow_placed"
    choice: ShadowChoice

    @property
    def spent(self) -> Expense:
        """Who sums up compares the answer with the options."""
        return Expense(agent=SUMMARIZER, call=self.choice.call)


class VoteTallied(_Event):
    """The ballots were counted."""

    kind: Literal["vote_tallied"] = "vote_tallied"
    tally: Tally
    edition: int = 1

    @property
    def key(self) -> str:
        """The final vote is counted once."""
        return _of_edition("tally", self.edition)

    def _fault(self, debate: Debate) -> str:
        scored = (score.position for score in self.tally.scores)
        return _fault_of_agents(debate, (*scored, *self.tally.winners))

    def _changes(self, debate: Debate) -> Changes:
        return {"tally": self.tally} if self.edition == debate.edition else {}


class NoteAdded(_Event):
    """A person added something while the debate ran."""

    key_form = "note/{0.note.id}"
    kind: Literal["note_added"] = "note_added"
    note: Note

    def _changes(self, debate: Debate) -> Changes:
        return _with_note(debate, self.note)


class SourceRead(TurnEnded):
    """A piece of evidence was read, or could not be."""

    kind: Literal["source_read"] = "source_read"
    source: Source

    def _changes(self, debate: Debate) -> Changes:
        sources = sorted((*debate.sources, self.source), key=lambda source: source.number)
        references = (*debate.references, *self.source.references)
        return {"sources": tuple(sources), "references": references}


class StopRequested(_Event):
    """A person ended the debate early."""

    kept_in = last("stop", "stop", paused_by=None)
    kind: Literal["stop_requested"] = "stop_requested"
    stop: Stop
    #: How often a stop was taken back before.
    after: int = 0

    @property
    def key(self) -> str:
        """A debate is stopped once, unless that is taken back."""
        return f"stop/{self.after}" if self.after else "stop"


class StopWithdrawn(_Event):
    """Whoever stopped the debate left before it had ended: it can be held to its normal end."""

    key_form = "stop-withdrawn/{0.number}"
    kind: Literal["stop_withdrawn"] = "stop_withdrawn"
    by: Person
    #: How often a stop was taken back, this time included.
    number: int

    def _changes(self, debate: Debate) -> Changes:
        return {"stop": None, "stops_withdrawn": debate.stops_withdrawn + 1}


class VoteCalled(_Event):
    """A person asked for the vote at once."""

    key_form = "vote-called"
    kept_in = last("vote_called_by", "by", paused_by=None)
    kind: Literal["vote_called"] = "vote_called"
    by: Person


class DebatePaused(_Event):
    """A person paused the debate."""

    key_form = "pause/{0.origin}"
    kind: Literal["debate_paused"] = "debate_paused"
    by: Person
    #: Tells one click from the next.
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        if debate.stop or debate.vote_called_by or debate.out_of_time:
            return {}  # its end, once called for, is not held up by a click beside it
        return {"paused_by": self.by, "paused_at": debate.paused_at or debate.now}


class DebateResumed(_Event):
    """A person let the debate go on."""

    key_form = "resume/{0.origin}"
    kind: Literal["debate_resumed"] = "debate_resumed"
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


class CallsDropped(_Event):
    """Model calls were given up under way; they cost all the same."""

    key_form = "dropped/{0.origin}"
    kind: Literal["calls_dropped"] = "calls_dropped"
    usage: Usage
    #: Tells one time from the next.
    origin: str

    @property
    def spent(self) -> Expense:
        """All of it is lost."""
        return Expense(lost=self.usage)


class Withheld(_Event):
    """Stands for an event of a sealed debate where its log is read; it is never written."""

    key_form = "{0.outcome}"
    kind: Literal["withheld"] = "withheld"
    #: Key of the event.
    outcome: str
    usage: Usage = Usage()
    #: Whether it ends the debate.
    ends: bool = False

    @property
    def spent(self) -> Expense:
        """Nobody may read what it led to."""
        return Expense(lost=self.usage)

    def _changes(self, debate: Debate) -> Changes:
        # The debate ended for those who may not read how.
        return {"status": Status.CONCLUDED, "ended_at": debate.now} if self.ends else {}


class BallotsRevealed(_Event):
    """Somebody had a sealed debate revealed."""

    key_form = "reveal"
    kept_in = last("revealed_by", "by")
    kind: Literal["ballots_revealed"] = "ballots_revealed"
    by: Person


class ModelWentAway(_Event):
    """Neither an agent's model nor a fallback of it answers: its turns wait, the others go on."""

    key_form = "away/{0.agent}/{0.origin}"
    kind: Literal["model_went_away"] = "model_went_away"
    agent: str
    #: Words for people; no secrets, no prompts.
    reason: str
    #: Tells one time from the next.
    origin: str

    def _fault(self, debate: Debate) -> str:
        return _fault_of_agent(debate, self.agent)

    def _changes(self, debate: Debate) -> Changes:
        return {"away": {**debate.away, self.agent: self.reason}}


class ModelCameBack(_Event):
    """A model answered an agent again."""

    key_form = "back/{0.agent}/{0.origin}"
    kind: Literal["model_came_back"] = "model_came_back"
    agent: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        return {"away": {who: why for who, why in debate.away.items() if who != self.agent}}


class OutageBegan(_Event):
    """Nothing can go on until a model is back; the debate waits and no time of it runs."""

    key_form = "outage/{0.origin}"
    kind: Literal["outage_began"] = "outage_began"
    reason: str
    origin: str

    def _changes(self, debate: Debate) -> Changes:
        return {"outage": self.reason, "outage_at": debate.outage_at or debate.now}


class OutageEnded(_Event):
    """Something can go on again."""

    key_form = "outage-ended/{0.origin}"
    kept_in = constants(outage="", outage_at=None)
    kind: Literal["outage_ended"] = "outage_ended"
    origin: str


class TimeRanOut(_Event):
    """The debate took longer than its limit: no new turns but the vote and the verdict."""

    kind: Literal["time_ran_out"] = "time_ran_out"
    #: No model could be reached for too long: models are not waited for any more.
    of_outage: bool = False

    @property
    def key(self) -> str:
        """Each time runs out once."""
        return "time/outage" if self.of_outage else "time"

    def _changes(self, debate: Debate) -> Changes:
        return {"out_of_time": True, "out_of_patience": debate.out_of_patience or self.of_outage}


class VerdictReached(_Event):
    """The judge wrote its synthesis."""

    kind: Literal["verdict_reached"] = "verdict_reached"
    verdict: Verdict
    edition: int = 1

    @property
    def key(self) -> str:
        """There is one verdict, and another if the skipped debate is wanted after it."""
        return _of_edition("verdict", self.edition)

    @property
    def spent(self) -> Expense:
        """The judge's calls."""
        return Expense(agent=JUDGE, call=self.verdict.call, lost=self.verdict.lost)

    def _changes(self, debate: Debate) -> Changes:
        return {"verdict": self.verdict} if self.edition == debate.edition else {}


class DebateConcluded(_Event):
    """The debate ended with a verdict."""

    kind: Literal["debate_concluded"] = "debate_concluded"
    edition: int = 1

    @property
    def key(self) -> str:
        """A debate ends once, and again if the skipped debate is wanted after its verdict."""
        return _of_edition("end", self.edition)

    def _changes(self, debate: Debate) -> Changes:
        if self.edition != debate.edition:
            return {}  # written while somebody wanted it to go on
        return {"status": Status.CONCLUDED, "ended_at": debate.now}


class DebateFailed(_Event):
    """The debate ended without a verdict."""

    kind: Literal["debate_failed"] = "debate_failed"
    reason: str
    edition: int = 1

    @property
    def key(self) -> str:
        """As it concludes."""
        return _of_edition("end", self.edition)

    def _changes(self, debate: Debate) -> Changes:
        if self.edition != debate.edition:
            return {}
        return {"status": Status.FAILED, "failure": self.reason, "ended_at": debate.now}


class PeopleBallotCast(_Event):
    """A person ranked the positions."""

    kind: Literal["people_ballot_cast"] = "people_ballot_cast"
    ballot: PeopleBallot

    @property
    def key(self) -> str:
        """One form, one ballot."""
        return "/".join(filter(None, ("people-ballot", self.ballot.by.id, self.ballot.origin)))

    def _fault(self, debate: Debate) -> str:
        return _fault_of_agents(debate, self.ballot.ranking)

    def _changes(self, debate: Debate) -> Changes:
        # What comes after the agents' ballots were revealed counts apart.
        field = "late_ballots" if debate.revealed_by else "people_ballots"
        return {field: {**getattr(debate, field), self.ballot.by.id: self.ballot}}


class DecisionRecorded(_Event):
    """The team accepted the verdict, rejected it, put it off or replaced it."""

    key_form = "decision/{0.decision.origin}"
    kept_in = in_tuple("decisions", "decision")
    kind: Literal["decision_recorded"] = "decision_recorded"
    decision: Decision


class ReminderDue(_Event):
    """The date has come to look at a decision again."""

    key_form = "reminder/{0.decision}"
    kept_in = in_set("reminded", "decision")
    kind: Literal["reminder_due"] = "reminder_due"
    #: Origin of the decision.
    decision: str


class OutcomeAsked(_Event):
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

    def _changes(self, debate: Debate) -> Changes:
        return {"outcomes_asked": {**debate.outcomes_asked, self.decision: self.number}}


class OutcomeGiven(_Event):
    """A person said how the decision turned out, or said it anew."""

    key_form = "outcome/{0.outcome.origin}"
    kept_in = in_tuple("outcomes", "outcome")
    kind: Literal["outcome_given"] = "outcome_given"
    outcome: DecisionOutcome


class FeedbackGiven(_Event):
    """A person said whether the verdict was of use."""

    key_form = "feedback/{0.feedback.origin}"
    kept_in = by_person("feedback", "feedback")
    kind: Literal["feedback_given"] = "feedback_given"
    feedback: Feedback


class FollowUpAsked(_Event):
    """A person asked something about the debate after its verdict."""

    key_form = "asked/{0.question.id}"
    kind: Literal["follow_up_asked"] = "follow_up_asked"
    question: FollowUp

    def _changes(self, debate: Debate) -> Changes:
        question = self.question.model_copy(update={"number": len(debate.follow_ups) + 1})
        return {"follow_ups": (*debate.follow_ups, question)}


class DebateContinued(_Event):
    """A person started a debate that goes on from this one's verdict."""

    key_form = "continued/{0.debate}"
    kept_in = in_tuple("continued_in", "debate")
    kind: Literal["debate_continued"] = "debate_continued"
    #: Id of the newer debate.
    debate: str
    question: str
    by: Person


class FollowUpAnswered(_Event):
    """A question was answered from the record."""

    key_form = "{0.answer.turn.key}"
    kind: Literal["follow_up_answered"] = "follow_up_answered"
    answer: FollowUpAnswer

    @property
    def spent(self) -> Expense:
        """The judge's calls."""
        answer = self.answer
        return Expense(agent=answer.turn.agent, call=answer.call, lost=answer.lost)

    def _fault(self, debate: Debate) -> str:
        numbers = {str(question.number) for question in debate.follow_ups}
        is_asked = self.answer.turn.target in numbers
        return "" if is_asked else f"answers {self.key}, which nobody asked"

    def _changes(self, debate: Debate) -> Changes:
        number = int(self.answer.turn.target or 0)
        return {"follow_up_answers": {**debate.follow_up_answers, number: self.answer}}


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
    return event.spent.usage if event.spent else Usage()


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
class RecordedEvent:
    """An event in the log. `seq` counts from 1 within its debate and only gives the order."""

    debate_id: str
    seq: int
    at: datetime
    event: Event


#: What is made beside the rounds (a summary, the shadow answer) says not how long one takes.
_ROUND = re.compile(rf"r(\d+)/(?!(?:{'|'.join(sorted(BESIDE))})/)")


def fold(log: Iterable[RecordedEvent], earlier: Debate | None = None) -> Debate:
    """The debate as its events make it.

    Args:
        log: Its events in order.
        earlier: The debate before them; None: the log is complete.

    Raises:
        LogBroken: The log is empty, does not begin with the start, or is inconsistent.
    """
    debate = earlier
    for recorded in log:
        with reading(recorded.debate_id):
            debate = apply(debate, recorded)
    if debate is None:
        raise LogBroken("An empty log is no debate.")
    return debate


def apply(debate: Debate | None, recorded: RecordedEvent) -> Debate:
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
    fault = event.fault(debate) if debate else "comes before the start"
    if debate is None or fault:
        raise LogBroken(
            f"The log of debate {recorded.debate_id} cannot be: event {recorded.seq}"
            f" ({event.kind}, key {key}) {fault}."
        )
    return event.folded_into(_moved_on(debate, recorded))


def _moved_on(debate: Debate, recorded: RecordedEvent) -> Debate:
    """The debate at the time of the event: what it cost, and how long was worked.

    No turn takes longer than its limit, so a longer gap is time the bot was down; while people are
    waited for, and after the end, nobody works.
    """
    key, times, spent = recorded.event.key, debate.times, recorded.event.spent
    if key not in times:
        times = {**times, key: recorded.at}
    gap = max(0.0, (recorded.at - debate.now).total_seconds())
    over = debate.status is not Status.RUNNING
    waits = over or debate.paused_by or debate.waits_for_answers or debate.outage
    worked = debate.worked + (0.0 if waits else min(gap, debate.setup.limits.turn_seconds))
    match = _ROUND.match(key)
    worked_at = {**debate.worked_at, int(match.group(1)): worked} if match else debate.worked_at
    return debate.replace(
        seq=recorded.seq,
        now=recorded.at,
        times=times,
        worked=worked,
        worked_at=worked_at,
        spent=(*debate.spent, spent)
        if spent and (spent.call or spent.usage != Usage())
        else debate.spent,
    )
