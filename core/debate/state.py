"""The state of a debate, as its events make it: fields and look-ups, no rules."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from core.debate.contributions import (
    Answer,
    Clarification,
    Clarifications,
    Contribution,
    Failure,
    FailureCause,
    Findings,
    Note,
    Questions,
    Summary,
)
from core.debate.evidence import Source, SourceReference
from core.debate.people import Person, Stop
from core.debate.rules import REVIEW
from core.debate.setup import Setup
from core.debate.turn import Act, Turn, turn_of
from core.debate.verdict import (
    Audit,
    CrossCheck,
    Decision,
    DecisionKind,
    DecisionOutcome,
    Feedback,
    FollowUp,
    FollowUpAnswer,
    ShadowAnswer,
    ShadowChoice,
    Verdict,
)
from core.debate.vote import (
    Abstention,
    Ballot,
    Gate,
    Guidance,
    OptionEdit,
    Options,
    PeopleBallot,
    Tally,
)
from core.usage import Call, Expense, Usage

T = TypeVar("T")
P = ParamSpec("P")


class Status(StrEnum):
    RUNNING = "running"
    CONCLUDED = "concluded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Debate:
    """A debate as its events tell it: nothing here that is not in the log.

    Mappings are in the order of the log. Made by `core.debate.log.fold`, never by hand.
    """

    id: str
    setup: Setup
    started_at: datetime
    #: Sequence number and time of the newest event folded in.
    seq: int = 0
    now: datetime
    #: Seconds it was worked on: no pauses, no waiting for people, no time the bot was down.
    worked: float = 0.0
    #: The same when the newest outcome of each round came.
    worked_at: Mapping[int, float] = field(default_factory=dict[int, float])
    paused_at: datetime | None = None
    #: What each event cost that cost anything.
    spent: tuple[Expense, ...] = ()
    #: When each key of the log came to be.
    times: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    contributions: Mapping[str, Contribution] = field(default_factory=dict[str, Contribution])
    failures: Mapping[str, Failure] = field(default_factory=dict[str, Failure])
    questions: Mapping[str, Questions] = field(default_factory=dict[str, Questions])
    clarifications: Mapping[str, Clarifications] = field(default_factory=dict[str, Clarifications])
    #: What each message says to a question now, in the order in which messages were written.
    replies: Mapping[int, tuple[Answer, ...]] = field(default_factory=dict[int, tuple[Answer, ...]])
    #: Names of those who answered or wrote notes, by id; no two of them have one name.
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Id of a message → when it was edited, as far as its words were taken.
    edits: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Keys of clarifications whose time is over.
    closed: frozenset[str] = frozenset()
    guidance: Mapping[str, Guidance] = field(default_factory=dict[str, Guidance])
    summaries: Mapping[str, Summary] = field(default_factory=dict[str, Summary])
    #: What may be chosen as it was merged from the drafts; `core.rules.options` has it as it is.
    options: Options | None = None
    option_edits: tuple[OptionEdit, ...] = ()
    #: Of a review: what agents found, as it was merged; how it stands: `core.rules.formats.review`.
    findings: Findings | None = None
    #: By the key of their turn.
    gates: Mapping[str, Gate] = field(default_factory=dict[str, Gate])
    #: Who wanted the debate that the gate had skipped.
    wanted_by: Person | None = None
    #: Who had a sealed debate revealed, and people's ballots since: they count apart.
    revealed_by: Person | None = None
    late_ballots: Mapping[str, PeopleBallot] = field(default_factory=dict[str, PeopleBallot])
    cross_check: CrossCheck | None = None
    ballots: Mapping[str, Ballot] = field(default_factory=dict[str, Ballot])
    abstentions: Mapping[str, Abstention] = field(default_factory=dict[str, Abstention])
    #: Every note there ever was, by its number; agents read `notes`.
    all_notes: tuple[Note, ...] = ()
    #: Ids of messages that their authors deleted: nobody reads their notes any more.
    withdrawn: frozenset[str] = frozenset()
    #: What people gave as evidence, in the order of the log: with the question, with notes, or
    #: in a thread that is a source itself.
    references: tuple[SourceReference, ...] = ()
    #: Evidence in the order it was given, what could not be read as well.
    sources: tuple[Source, ...] = ()
    stop: Stop | None = None
    #: How often a stop was taken back.
    stops_withdrawn: int = 0
    #: Who asked for the vote at once, and who paused it.
    vote_called_by: Person | None = None
    paused_by: Person | None = None
    out_of_time: bool = False
    #: No model could be reached for so long that none is waited for any more.
    out_of_patience: bool = False
    #: Agents whose models do not answer at present → why, in words for people.
    away: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Why nothing can go on until a model is back, and since when; empty while something can.
    outage: str = ""
    outage_at: datetime | None = None
    #: What one model answered alone, and which option that is: nothing may be made of either
    #: before the verdict (`core.rules.shadow`).
    shadow: ShadowAnswer | None = None
    shadow_choice: ShadowChoice | None = None
    #: Why there is no such answer; empty where there is one, or none was asked for.
    shadow_fault: str = ""
    tally: Tally | None = None
    #: What the judge wrote, to be audited; and what the audit found.
    draft: Verdict | None = None
    audit: Audit | None = None
    verdict: Verdict | None = None
    #: What had been decided without a debate, where it was wanted after that.
    earlier_verdict: Verdict | None = None
    #: Counts its ends: 2 once the debate that the gate had skipped was wanted.
    edition: int = 1
    status: Status = Status.RUNNING
    #: Why it failed, in words for people; empty unless it did.
    failure: str = ""
    ended_at: datetime | None = None
    #: What people did besides: their ballots by person, decisions oldest first, feedback.
    people_ballots: Mapping[str, PeopleBallot] = field(default_factory=dict[str, PeopleBallot])
    decisions: tuple[Decision, ...] = ()
    #: Origins of decisions people were reminded of.
    reminded: frozenset[str] = frozenset()
    #: How decisions turned out, oldest first, and how often people were asked, by their origins.
    outcomes: tuple[DecisionOutcome, ...] = ()
    outcomes_asked: Mapping[str, int] = field(default_factory=dict[str, int])
    feedback: Mapping[str, Feedback] = field(default_factory=dict[str, Feedback])
    #: What people asked after the verdict, and the answers by the numbers of the questions.
    follow_ups: tuple[FollowUp, ...] = ()
    #: Ids of debates that go on from this one's verdict.
    continued_in: tuple[str, ...] = ()
    follow_up_answers: Mapping[int, FollowUpAnswer] = field(
        default_factory=dict[int, FollowUpAnswer]
    )

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.once("notes", lambda: tuple(note for note in self.all_notes if note.text))

    @property
    def answers(self) -> Mapping[int, Answer]:
        return self.once(
            "answers", lambda: {number: said[-1] for number, said in self.replies.items() if said}
        )

    def other_answers(self, number: int) -> list[Answer]:
        """What other people said last to a question, where the newest answer says another thing."""
        *earlier, newest = self.replies[number]
        by_person = {answer.by.id: answer for answer in earlier if answer.by.id != newest.by.id}
        return [answer for answer in by_person.values() if answer.text not in {"", newest.text}]

    @property
    def message_ids(self) -> frozenset[str]:
        answered = (answer.origin for said in self.replies.values() for answer in said)
        noted = (note.id for note in self.all_notes)
        return frozenset((*answered, *noted, *self.edits, *self.withdrawn))

    @property
    def evidence(self) -> tuple[Source, ...]:
        return tuple(source for source in self.sources if not source.fault and source.text)

    @property
    def decision(self) -> Decision | None:
        return self.decisions[-1] if self.decisions else None

    @property
    def is_decidable(self) -> bool:
        """Whether there is a verdict to accept or reject, or a decision of the team to change.

        With an older version teams could accept what decides nothing, and may think better of it.
        """
        return self.verdict is not None and (self.decision is not None or self.decides)

    @property
    def decides(self) -> bool:
        """Whether its verdict decides something; a review without one of its verdicts does not."""
        if self.verdict is None or self.verdict.is_undecided:
            return False
        return bool(self.verdict.option) or self.setup.format != REVIEW

    @property
    def acceptance(self) -> Decision | None:
        decisions = (
            decision
            for decision in reversed(self.decisions)
            if decision.kind is DecisionKind.ACCEPT
        )
        return next(decisions, None)

    @property
    def outcome(self) -> DecisionOutcome | None:
        return self.outcome_of(self.acceptance)

    def outcome_of(self, accepted: Decision | None) -> DecisionOutcome | None:
        """How this decision turned out, as was said last; None: where nobody accepts."""
        of = accepted.origin if accepted else ""
        return next(
            (outcome for outcome in reversed(self.outcomes) if outcome.decision == of), None
        )

    #: What was computed from this very value already; another value has a memory of its own.
    _known: dict[Hashable, object] = field(
        default_factory=dict[Hashable, object], init=False, repr=False, compare=False
    )

    def replace(self, **changes: object) -> "Debate":
        """This debate with other values in some fields.

        `dataclasses.replace` asks after each of some 50 fields, which was half of the time that it
        takes to fold a log.
        """
        if unknown := changes.keys() - vars(self).keys():
            raise TypeError(f"A debate has no {', '.join(sorted(unknown))}.")
        changed = object.__new__(Debate)
        vars(changed).update(vars(self), **changes, _known={})
        return changed

    def once(self, what: Hashable, compute: Callable[[], T]) -> T:
        """The result of a pure computation over this debate, made at most once."""
        if what not in self._known:
            self._known[what] = compute()
        return cast("T", self._known[what])

    #: What was computed from the setup and the sources alone, with both; values that follow have
    #: it, too.
    _kept: dict[Hashable, tuple[object, object, object]] = field(
        default_factory=dict[Hashable, tuple[object, object, object]], repr=False, compare=False
    )

    def once_for_sources(self, what: Hashable, compute: Callable[[], T]) -> T:
        """The result of a pure computation over setup and sources, cached until these change."""
        setup, sources, result = self._kept.get(what, (None, None, None))
        if setup is not self.setup or sources is not self.sources:
            result = compute()
            self._kept[what] = (self.setup, self.sources, result)
        return cast("T", result)

    def came_first(self, key: str, other: str) -> bool:
        """Whether an event stands before another one in the log, whatever clocks said."""
        return next(time for time in self.times if time in {key, other}) == key

    @property
    def is_sealed(self) -> bool:
        """Whether nobody may be shown what agents hold and decide (`core.rules.sealing`)."""
        return self.setup.sealed and self.revealed_by is None

    def is_done(self, turn: Turn) -> bool:
        if turn.act is Act.TALLY:
            return self.tally is not None or self.has_failed(turn.act)
        if turn.act is Act.SYNTHESIS:
            return self.verdict is not None or self.has_failed(turn.act)
        return turn.key in self.times

    def open_turns(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """Those of the turns that have no outcome yet."""
        return tuple(turn for turn in turns if not self.is_done(turn))

    def has_begun(self, number: int) -> bool:
        return number in self.worked_at

    def has_failed(self, act: Act) -> bool:
        return any(failure.turn.act is act for failure in self.failures.values())

    def card_with(self, number: int) -> Clarifications:
        cards = self.clarifications.values()
        return next(card for card in cards if any(item.number == number for item in card.items))

    def clarification(self, number: int) -> Clarification | None:
        clarifications = (item for card in self.clarifications.values() for item in card.items)
        return next((item for item in clarifications if item.number == number), None)

    @property
    def open_clarifications(self) -> tuple[Clarification, ...]:
        waiting = (c for key, c in self.clarifications.items() if key not in self.closed)
        return tuple(
            item for card in waiting for item in card.items if item.number not in self.answers
        )

    @property
    def is_hurried(self) -> bool:
        return bool(self.stop or self.vote_called_by or self.out_of_time or self.out_of_money)

    @property
    def waits_for_answers(self) -> bool:
        return bool(self.open_clarifications) and not self.is_hurried

    @property
    def open_cards(self) -> tuple[Clarifications, ...]:
        """Questions put together whose answers can still change: agents go on after them."""
        return tuple(card for card in self.clarifications.values() if self._is_open(card))

    def is_asking(self, number: int) -> bool:
        return any(item.number == number for card in self.open_cards for item in card.items)

    def _is_open(self, card: Clarifications) -> bool:
        if card.turn.key in self.closed:
            return False
        is_unanswered = any(item.number not in self.answers for item in card.items)
        return is_unanswered or (card.closed_by_event and bool(card.items))

    def text_of(self, act: Act, round_number: int, agent: str, target: str | None = None) -> str:
        turn = turn_of(act, round_number, agent, target)
        contribution = self.contributions.get(turn.key)
        return contribution.text if contribution else ""

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(spent.call for spent in self.spent if spent.call)

    @property
    def usage(self) -> Usage:
        return self.once(
            "usage", lambda: sum((expense.usage for expense in self.spent), start=Usage())
        )

    @property
    def out_of_money(self) -> str:
        capped = (f for f in self.failures.values() if f.cause is FailureCause.CAP)
        return next((failure.reason for failure in capped), "")

    @property
    def key_refusals(self) -> Mapping[str, str]:
        refusals = (f for f in self.failures.values() if f.cause is FailureCause.KEY)
        return {failure.turn.agent: failure.reason for failure in refusals}


def once_per_debate(
    compute: Callable[Concatenate[Debate, P], T],
) -> Callable[Concatenate[Debate, P], T]:
    """Remember what a pure function of a debate, and of hashable arguments, returns; see `once`."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def remembered(debate: Debate, *args: P.args, **kwargs: P.kwargs) -> T:
        what = (name, *args, *kwargs.items())
        return debate.once(what, lambda: compute(debate, *args, **kwargs))

    return remembered


def once_per_sources(compute: Callable[[Debate], T]) -> Callable[[Debate], T]:
    """Remember what is pure and of setup and sources alone; see `once_for_sources`."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def remembered(debate: Debate) -> T:
        return debate.once_for_sources(name, lambda: compute(debate))

    return remembered
