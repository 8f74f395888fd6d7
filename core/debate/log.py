"""The log of a debate: all kinds of events, their JSON, and the fold into a `Debate`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from core.debate import message_events, people_events, turn_events
from core.debate.debate_events import DebateStarted
from core.debate.event import BaseEvent as Event
from core.debate.state import Debate, Status
from core.debate.turn import BACKGROUND_ACTS
from core.errors import LogBroken, reading
from core.usage import Usage
from core.values import Value

#: Imported so that their event classes are registered in `Event.kinds`.
MODULES = (message_events, people_events, turn_events)


class _Kind(Value):
    kind: str


def usage_of(event: Event) -> Usage:
    """The usage that this event records; zero for events of people."""
    return event.expense.usage if event.expense else Usage()


def event_to_json(event: Event) -> str:
    return event.model_dump_json()


def event_from_json(text: str) -> Event:
    """Parse an event.

    Raises:
        ValueError: The text is damaged, or the kind of event is unknown.
    """
    event_class = Event.kinds.get(_Kind.model_validate_json(text).kind)
    if event_class is None:
        raise ValueError("a newer version of Moot wrote it")
    return event_class.model_validate_json(text)


@dataclass(frozen=True)
class RecordedEvent:
    """An event in the log. `seq` counts from 1 within its debate and gives only the order."""

    debate_id: str
    seq: int
    at: datetime
    event: Event


#: Keys of turns with their round. Background turns (summaries, the shadow answer) do not match,
#: because they do not count for the duration of a round.
_ROUND = re.compile(rf"r(\d+)/(?!(?:{'|'.join(sorted(BACKGROUND_ACTS))})/)")


def fold(log: Iterable[RecordedEvent], earlier: Debate | None = None) -> Debate:
    """Build the debate from its events; with `earlier`, from that state and the events after it.

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
    """The debate after one more event; raises `LogBroken` if the first is not the start."""
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
    if debate is None:
        raise LogBroken(
            f"The log of debate {recorded.debate_id} is invalid: event {recorded.seq} "
            f"({event.kind}, key {key}) comes before the start."
        )
    return event.apply_to(_with_time_and_cost(debate, recorded))


def _with_time_and_cost(debate: Debate, recorded: RecordedEvent) -> Debate:
    """The debate with the event's time and cost added, before the event itself is applied.

    No turn takes longer than its limit, so in a longer gap the bot was down. Pauses, waiting for
    people or models, and the time after the end are not working time.
    """
    key, expense = recorded.event.key, recorded.event.expense
    times, expenses, by_round = debate.times, debate.expenses, debate.work_seconds_by_round
    if key not in times:
        times = {**times, key: recorded.at}
    if expense and (expense.call or expense.usage != Usage()):
        expenses = (*expenses, expense)
    gap = max(0.0, (recorded.at - debate.now).total_seconds())
    is_over = debate.status is not Status.RUNNING
    waits = is_over or debate.paused_by or debate.waits_for_answers or debate.outage
    seconds = debate.work_seconds + (0.0 if waits else min(gap, debate.setup.limits.turn_seconds))
    if match := _ROUND.match(key):
        by_round = {**by_round, int(match.group(1)): seconds}
    return debate.replace(
        seq=recorded.seq,
        now=recorded.at,
        times=times,
        work_seconds=seconds,
        work_seconds_by_round=by_round,
        expenses=expenses,
    )
