"""The state of a debate, computed from its events: fields and look-ups, no rules."""

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
    OptionScore,
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
    """The state of a debate. Everything in it comes from the log.

    Mappings are in the order of the log. `core.debate.log.fold` creates it.
    """

    id: str
    setup: Setup
    started_at: datetime
    #: Sequence number of the newest event.
    seq: int = 0
    #: Time of the newest event.
    now: datetime
    #: Working time in seconds: without pauses, waiting for people or models, and downtime.
    work_seconds: float = 0.0
    #: The working time at the newest outcome of each round, by the round's number.
    work_seconds_by_round: Mapping[int, float] = field(default_factory=dict[int, float])
    paused_at: datetime | None = None
    #: The costs of all events that cost anything.
    expenses: tuple[Expense, ...] = ()
    #: The time of the first event with each key.
    times: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    contributions: Mapping[str, Contribution] = field(default_factory=dict[str, Contribution])
    failures: Mapping[str, Failure] = field(default_factory=dict[str, Failure])
    questions: Mapping[str, Questions] = field(default_factory=dict[str, Questions])
    clarifications: Mapping[str, Clarifications] = field(default_factory=dict[str, Clarifications])
    #: All answers to a question by its number, in the order in which their messages were written.
    #: The last one counts.
    replies: Mapping[int, tuple[Answer, ...]] = field(default_factory=dict[int, tuple[Answer, ...]])
    #: Unique names of the people who answered or wrote notes, by their ids.
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Id of a message → the time of its last edit that is in the log.
    edit_times: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Keys of clarifications that can no longer be answered.
    closed_cards: frozenset[str] = frozenset()
    guidance: Mapping[str, Guidance] = field(default_factory=dict[str, Guidance])
    summaries: Mapping[str, Summary] = field(default_factory=dict[str, Summary])
    #: The options as merged from the drafts. `core.rules.options.options_of` adds later changes.
    options: Options | None = None
    option_edits: tuple[OptionEdit, ...] = ()
    #: Of a review: the merged findings. `core.rules.formats.review` computes their current status.
    findings: Findings | None = None
    #: By the key of their turn.
    gates: Mapping[str, Gate] = field(default_factory=dict[str, Gate])
    #: The person who asked to hold a debate that the gate had skipped.
    reopened_by: Person | None = None
    #: The person who revealed a sealed debate.
    revealed_by: Person | None = None
    #: People's ballots cast after that, by person; counted separately.
    late_ballots: Mapping[str, PeopleBallot] = field(default_factory=dict[str, PeopleBallot])
    cross_check: CrossCheck | None = None
    ballots: Mapping[str, Ballot] = field(default_factory=dict[str, Ballot])
    abstentions: Mapping[str, Abstention] = field(default_factory=dict[str, Abstention])
    #: All notes in the order of their messages, also empty ones; agents read `notes`.
    all_notes: tuple[Note, ...] = ()
    #: Ids of notes whose messages were deleted.
    deleted_messages: frozenset[str] = frozenset()
    #: References to sources in the order of the log: given with the question, with notes, or found
    #: in a thread that is a source.
    references: tuple[SourceReference, ...] = ()
    #: The sources in the order of their references, also those that could not be read.
    sources: tuple[Source, ...] = ()
    stop: Stop | None = None
    #: The number of withdrawn stops.
    stops_withdrawn: int = 0
    #: The person who ended the rounds with a vote.
    vote_called_by: Person | None = None
    paused_by: Person | None = None
    out_of_time: bool = False
    #: Whether the limit on outages has passed: turns no longer wait for models.
    outage_timed_out: bool = False
    #: Ids of agents whose models do not answer at present → the reason, for people to read.
    unavailable_agents: Mapping[str, str] = field(default_factory=dict[str, str])
    #: Why no turn can be taken before a model is back; empty: there is no outage.
    outage: str = ""
    outage_at: datetime | None = None
    #: The shadow answer and its option. Hidden until the verdict (`core.rules.shadow`).
    shadow: ShadowAnswer | None = None
    shadow_choice: ShadowChoice | None = None
    #: Why the shadow answer failed; empty: it did not, or none was asked for.
    shadow_fault: str = ""
    tally: Tally | None = None
    #: The judge's text before the audit.
    draft: Verdict | None = None
    audit: Audit | None = None
    verdict: Verdict | None = None
    #: The verdict of edition 1, if edition 2 was asked for.
    earlier_verdict: Verdict | None = None
    #: 2 after a person asked to hold the debate that the gate had skipped; else 1.
    edition: int = 1
    status: Status = Status.RUNNING
    #: Why it failed, for people to read; empty unless it did.
    failure: str = ""
    ended_at: datetime | None = None
    #: People's ballots by person.
    people_ballots: Mapping[str, PeopleBallot] = field(default_factory=dict[str, PeopleBallot])
    #: Oldest first.
    decisions: tuple[Decision, ...] = ()
    #: `origin` of each decision of which people were reminded.
    reminded: frozenset[str] = frozenset()
    #: Oldest first.
    outcomes: tuple[DecisionOutcome, ...] = ()
    #: `origin` of a decision → how many times people were asked for its outcome.
    outcomes_asked: Mapping[str, int] = field(default_factory=dict[str, int])
    feedback: Mapping[str, Feedback] = field(default_factory=dict[str, Feedback])
    #: Questions that people asked after the verdict.
    follow_ups: tuple[FollowUp, ...] = ()
    #: Ids of debates that continue this one's verdict.
    continued_in: tuple[str, ...] = ()
    #: The answers, by the numbers of the questions.
    follow_up_answers: Mapping[int, FollowUpAnswer] = field(
        default_factory=dict[int, FollowUpAnswer]
    )

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.cached("notes", lambda: tuple(note for note in self.all_notes if note.text))

    @property
    def answers(self) -> Mapping[int, Answer]:
        """The answer that counts for each answered question: the last one."""
        return self.cached(
            "answers",
            lambda: {number: replies[-1] for number, replies in self.replies.items() if replies},
        )

    def other_answers(self, number: int) -> list[Answer]:
        """Other people's last answers to a question, if their text is not that of the newest."""
        *earlier, newest = self.replies[number]
        by_person = {answer.by.id: answer for answer in earlier if answer.by.id != newest.by.id}
        return [answer for answer in by_person.values() if answer.text not in {"", newest.text}]

    @property
    def message_ids(self) -> frozenset[str]:
        """Ids of all messages that were read as an answer or a note, or were edited or deleted."""
        answers = (answer.origin for replies in self.replies.values() for answer in replies)
        notes = (note.id for note in self.all_notes)
        return frozenset((*answers, *notes, *self.edit_times, *self.deleted_messages))

    @property
    def evidence(self) -> tuple[Source, ...]:
        """The sources that could be read and have a text."""
        return tuple(source for source in self.sources if not source.fault and source.text)

    @property
    def option_scores(self) -> tuple[OptionScore, ...]:
        """The counted options, the best first; empty without a vote on options."""
        return self.tally.options if self.tally else ()

    @property
    def decision(self) -> Decision | None:
        return self.decisions[-1] if self.decisions else None

    @property
    def is_decidable(self) -> bool:
        """Whether there is a verdict to accept or reject, or a decision of the team to change.

        In older versions teams could accept a verdict that decides nothing, and may change that.
        """
        return self.verdict is not None and (self.decision is not None or self.decides)

    @property
    def decides(self) -> bool:
        """Whether the verdict decides anything. A review must choose one of its three verdicts."""
        if self.verdict is None or self.verdict.is_undecided:
            return False
        return bool(self.verdict.option) or self.setup.format != REVIEW

    @property
    def acceptance(self) -> Decision | None:
        """The newest decision that accepts the verdict."""
        decisions = (
            decision
            for decision in reversed(self.decisions)
            if decision.kind is DecisionKind.ACCEPT
        )
        return next(decisions, None)

    @property
    def outcome(self) -> DecisionOutcome | None:
        return self.outcome_of(self.acceptance)

    def outcome_of(self, acceptance: Decision | None) -> DecisionOutcome | None:
        """The newest outcome of this decision; None if there is no outcome.

        Args:
            acceptance: None for outcomes without it: in the terminal nobody accepts a verdict.
        """
        origin = acceptance.origin if acceptance else ""
        outcomes = (item for item in reversed(self.outcomes) if item.decision == origin)
        return next(outcomes, None)

    #: Results of computations over this value. A changed copy has an empty cache.
    _cache: dict[Hashable, object] = field(
        default_factory=dict[Hashable, object], init=False, repr=False, compare=False
    )

    def replace(self, **changes: object) -> "Debate":
        """A copy with changed fields.

        Faster than `dataclasses.replace`, which took half of the time of folding a log.
        """
        if unknown := changes.keys() - vars(self).keys():
            raise TypeError(f"A debate has no {', '.join(sorted(unknown))}.")
        changed = object.__new__(Debate)
        vars(changed).update(vars(self), **changes, _cache={})
        return changed

    def cached(self, cache_key: Hashable, compute: Callable[[], T]) -> T:
        """The cached result of a pure computation over this debate."""
        if cache_key not in self._cache:
            self._cache[cache_key] = compute()
        return cast("T", self._cache[cache_key])

    #: Results of computations over setup and sources, each with the two. Changed copies share it.
    source_cache: dict[Hashable, tuple[object, object, object]] = field(
        default_factory=dict[Hashable, tuple[object, object, object]], repr=False, compare=False
    )

    def came_first(self, key: str, other_key: str) -> bool:
        """Whether an event comes before another one in the log; the times are not compared."""
        return next(time for time in self.times if time in {key, other_key}) == key

    @property
    def is_sealed(self) -> bool:
        """Whether agents' stances, ballots and verdict are hidden (`core.rules.sealing`)."""
        return self.setup.sealed and self.revealed_by is None

    def is_done(self, turn: Turn) -> bool:
        if turn.act is Act.TALLY:
            return self.tally is not None or self.has_failed(turn.act)
        if turn.act is Act.SYNTHESIS:
            return self.verdict is not None or self.has_failed(turn.act)
        return turn.key in self.times

    def open_turns(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """The turns among these that have no outcome yet."""
        return tuple(turn for turn in turns if not self.is_done(turn))

    def has_begun(self, number: int) -> bool:
        """Whether a turn of this round has an outcome."""
        return number in self.work_seconds_by_round

    def has_failed(self, act: Act) -> bool:
        return any(failure.turn.act is act for failure in self.failures.values())

    def card_of_question(self, number: int) -> Clarifications:
        """The card that contains the question of this number."""
        cards = self.clarifications.values()
        return next(card for card in cards if any(item.number == number for item in card.items))

    @property
    def all_clarifications(self) -> tuple[Clarification, ...]:
        """All questions to people, in the order of their numbers."""
        return tuple(item for card in self.clarifications.values() for item in card.items)

    @property
    def open_clarifications(self) -> tuple[Clarification, ...]:
        waiting = (c for key, c in self.clarifications.items() if key not in self.closed_cards)
        return tuple(
            item for card in waiting for item in card.items if item.number not in self.answers
        )

    @property
    def is_ending_early(self) -> bool:
        """Whether only the end is left: stopped, vote called, or out of time or money."""
        return bool(self.stop or self.vote_called_by or self.out_of_time or self.out_of_money)

    @property
    def waits_for_answers(self) -> bool:
        return bool(self.open_clarifications) and not self.is_ending_early

    @property
    def open_cards(self) -> tuple[Clarifications, ...]:
        """Clarifications whose answers can still change. The agents wait for them."""
        return tuple(
            card
            for key, card in self.clarifications.items()
            if card.items
            and key not in self.closed_cards
            and (
                card.closed_by_event or any(item.number not in self.answers for item in card.items)
            )
        )

    def is_asking(self, number: int) -> bool:
        """Whether the answer to the question of this number can still change."""
        return any(item.number == number for card in self.open_cards for item in card.items)

    def text_of(self, act: Act, round_number: int, agent: str, target: str | None = None) -> str:
        turn = turn_of(act, round_number, agent, target)
        contribution = self.contributions.get(turn.key)
        return contribution.text if contribution else ""

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(expense.call for expense in self.expenses if expense.call)

    @property
    def usage(self) -> Usage:
        return self.cached(
            "usage", lambda: sum((expense.usage for expense in self.expenses), start=Usage())
        )

    @property
    def out_of_money(self) -> str:
        """Which cap on money was reached, in a sentence; empty: none."""
        refusals = (f for f in self.failures.values() if f.cause is FailureCause.CAP)
        return next((failure.reason for failure in refusals), "")

    @property
    def key_refusals(self) -> Mapping[str, str]:
        """Ids of agents whose provider rejects our key → the reason."""
        refusals = (f for f in self.failures.values() if f.cause is FailureCause.KEY)
        return {failure.turn.agent: failure.reason for failure in refusals}


def cached_per_debate(
    compute: Callable[Concatenate[Debate, P], T],
) -> Callable[Concatenate[Debate, P], T]:
    """Cache a pure function of a debate and hashable arguments; see `cached`."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def cached(debate: Debate, *args: P.args, **kwargs: P.kwargs) -> T:
        cache_key = (name, *args, *kwargs.items())
        return debate.cached(cache_key, lambda: compute(debate, *args, **kwargs))

    return cached


def cached_per_sources(compute: Callable[[Debate], T]) -> Callable[[Debate], T]:
    """Cache a pure function of a debate's setup and sources until these change."""
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def cached(debate: Debate) -> T:
        setup, sources, result = debate.source_cache.get(name, (None, None, None))
        if setup is not debate.setup or sources is not debate.sources:
            result = compute(debate)
            debate.source_cache[name] = (debate.setup, debate.sources, result)
        return cast("T", result)

    return cached


@cached_per_sources
def roster(debate: Debate) -> tuple[str, ...]:
    """The ids of the agents, in their order."""
    return tuple(agent.id for agent in debate.setup.agents)
