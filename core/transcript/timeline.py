"""When each turn could begin and when it ended: the log replayed through the schedule (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.debate.log import RecordedEvent, apply
from core.debate.state import Debate
from core.debate.turn import ENGINE, JUDGE, Act, Turn
from core.debate.turn_events import VerdictDrafted, VerdictReached, VoteTallied
from core.errors import LogBroken
from core.rules import schedule
from core.rules.formats.registry import format_of


@dataclass(frozen=True, kw_only=True)
class Outcome:
    key: str
    seq: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Span:
    turn: Turn
    #: What its format's step comes after, and the event that made it ready, in the order they came.
    needs: tuple[Outcome, ...]
    #: The event after which it was ready; the last one before its outcome, where another version
    #: took a turn that is never ready by the rules of this one.
    ready: Outcome
    #: None: it has no outcome.
    ended: Outcome | None


def timeline(log: Sequence[RecordedEvent]) -> Sequence[Span]:
    debate: Debate | None = None
    outcomes: dict[str, Outcome] = {}
    #: Keys of turns → the event after which they were ready last. A pause makes turns ready anew.
    ready: dict[str, Outcome] = {}
    waiting: dict[str, Turn] = {}
    spans: list[Span] = []

    def span(debate: Debate, turn: Turn, ended: Outcome | None) -> Span:
        began = ready.get(turn.key) or next(reversed(outcomes.values()))
        keys = [
            *format_of(debate).inputs(debate, turn),
            *([began.key] if turn.key in ready else ()),
        ]
        came = {outcomes[key] for key in keys if key in outcomes} - {outcomes["start"]}
        needs = sorted(
            (outcome for outcome in came if outcome.seq <= began.seq), key=lambda need: need.seq
        )
        return Span(turn=turn, needs=tuple(needs), ready=began, ended=ended)

    for recorded in log:
        outcome = Outcome(key=recorded.event.key, seq=recorded.seq, at=recorded.at)
        if debate and (turn := _turn(debate, recorded)):
            spans.append(span(debate, turn, outcome))
        debate = apply(debate, recorded)
        outcomes.setdefault(outcome.key, outcome)
        before, waiting = waiting, {turn.key: turn for turn in schedule.ready(debate)}
        ready |= dict.fromkeys(waiting.keys() - before.keys(), outcome)
    if debate is None:
        raise LogBroken("An empty log is no debate.")
    spans += [span(debate, turn, None) for turn in waiting.values()]
    return sorted(spans, key=lambda span: span.ready.seq)


def _turn(debate: Debate, recorded: RecordedEvent) -> Turn | None:
    match recorded.event:
        case VoteTallied():
            return Turn(act=Act.TALLY, round=schedule.rounds_open(debate), agent=ENGINE)
        case VerdictDrafted(turn=turn):
            return turn
        case VerdictReached() if debate.audit and not debate.audit.faults:
            return None  # it was written as a draft, and nothing has changed since
        case VerdictReached():
            return Turn(act=Act.SYNTHESIS, round=schedule.rounds_open(debate), agent=JUDGE)
        case event:
            return event.turn_taken
