"""When each turn could begin and when it ended, from one pass over the log (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.events import DebateResumed, Recorded, VerdictReached, VoteTallied, fold
from core.models import ENGINE, JUDGE, Act, Debate, Turn
from core.rules import schedule
from core.rules.dependencies import dependencies


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Something in the log."""

    key: str
    seq: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Span:
    """One turn from the moment it could begin."""

    turn: Turn
    #: What it waited for, in the order it came.
    needs: tuple[Outcome, ...]
    #: The event that completed its needs; the debate's start where it has none.
    ready: Outcome
    #: None: it has no outcome.
    ended: Outcome | None


def timeline(log: Sequence[Recorded], debate: Debate | None = None) -> Sequence[Span]:
    """Every turn that has an outcome or is ready now, in the order they could begin.

    Args:
        log: All events of a debate.
        debate: The debate they fold to, where that is known already.

    Raises:
        LogBroken: The log cannot be.
    """
    debate = debate or fold(log)
    outcomes: dict[str, Outcome] = {}
    #: Turns under way when a debate is paused begin anew when it goes on.
    resumed: list[Outcome] = []
    spans: list[Span] = []

    def span(turn: Turn, ended: Outcome | None) -> Span:
        """The turn, from what is in the log so far."""
        found = (outcomes.get(key) for key in dependencies(debate, turn))
        waited = sorted({outcome for outcome in found if outcome}, key=lambda outcome: outcome.seq)
        start = waited[-1] if waited else outcomes["start"]
        waited += [outcome for outcome in resumed[-1:] if outcome.seq > start.seq]
        ready = waited[-1] if waited else start
        return Span(turn=turn, needs=tuple(waited), ready=ready, ended=ended)

    for recorded in log:
        key = recorded.event.key
        outcome = Outcome(key=key, seq=recorded.seq, at=recorded.at)
        if turn := _turn(debate, recorded):
            spans.append(span(turn, outcome))
        outcomes.setdefault(key, outcome)
        if isinstance(recorded.event, DebateResumed):
            resumed.append(outcome)
    spans += [span(turn, None) for turn in schedule.ready(debate)]
    return sorted(spans, key=lambda span: span.ready.seq)


def _turn(debate: Debate, recorded: Recorded) -> Turn | None:
    """The turn an event is the outcome of."""
    match recorded.event:
        case VoteTallied():
            return Turn(act=Act.TALLY, round=_voted(debate), agent=ENGINE)
        case VerdictReached():
            return Turn(act=Act.SYNTHESIS, round=_voted(debate), agent=JUDGE)
        case event:
            return event.turn_taken


def _voted(debate: Debate) -> int:
    """After which round the vote was held."""
    return max((ballot.turn.round for ballot in debate.ballots.values()), default=0) or (
        schedule.rounds_open(debate)
    )
