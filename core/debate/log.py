"""The log of a debate: all kinds of events, their JSON, and the fold into a `Debate`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from core.debate import message_events, people_events, turn_events
from core.debate.debate_events import DebateStarted
from core.debate.event import BaseEvent as Event
from core.debate.state import Debate, Status
from core.debate.turn import BESIDE
from core.errors import LogBroken, reading
from core.usage import Usage
from core.values import Value

#: Imported so that the classes in them are known by their kinds.
MODULES = (message_events, people_events, turn_events)


class _Kind(Value):
    kind: str


def spent_by(event: Event) -> Usage:
    """The usage that this event records; zero for what people did."""
    return event.spent.usage if event.spent else Usage()


def event_to_json(event: Event) -> str:
    return event.model_dump_json()


def event_from_json(text: str) -> Event:
    """The event that this text holds.

    Raises:
        ValueError: It is damaged, or of a kind that nobody knows.
    """
    event_class = Event.kinds.get(_Kind.model_validate_json(text).kind)
    if event_class is None:
        raise ValueError("a newer version of Moot wrote it")
    return event_class.model_validate_json(text)


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
    """The debate as its events make it, from `earlier` on if they are not all.

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
    """The debate after one more event; raises `LogBroken` if that cannot follow."""
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
            f"The log of debate {recorded.debate_id} cannot be: event {recorded.seq} ({event.kind},"
            f" key {key}) comes before the start."
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
