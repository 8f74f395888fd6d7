"""In which order people read a debate: a function of its log and nothing else (pure).

Turns end in any order; people read phase by phase. A post is held back while a turn of an earlier
phase can still come, and inside a phase the order is the log's. In a quiet debate people read group
by group (`bot.views.progress`): an agent's goes out when it is complete and those of the rounds
before are out. Held posts go out at the latest when the debate ends or is cut short.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from bot.presenter.posts import turn_of
from bot.views.progress import are_groups_held, is_complete, is_read, order, turn_group
from core.debate.log import RecordedEvent, apply
from core.debate.state import Debate, Status
from core.debate.turn import BESIDE
from core.rules import schedule


@dataclass(frozen=True)
class ReadingPosition:
    """How far people have read: the debate so far, and what is held back."""

    debate: Debate | None = None
    held: tuple[RecordedEvent, ...] = ()

    @property
    def seq(self) -> int:
        """Sequence number of the newest event taken in; 0 at first."""
        return self.debate.seq if self.debate else 0


@dataclass(frozen=True)
class Release:
    """What one more event leads to."""

    position: ReadingPosition
    #: Events whose posts go out now, in reading order; those that share a post are together.
    groups: Sequence[Sequence[RecordedEvent]]
    #: Whether nothing more comes until people act, or a time has come.
    is_parked: bool = False


def release_after(position: ReadingPosition, debate: Debate, recorded: RecordedEvent) -> Release:
    """Take one more event in; `debate` is the debate right after it."""
    turn = turn_of(recorded)
    waiting = (*position.held, recorded) if turn else position.held
    frontier, waits = _frontier(debate)
    groups = dict[object, list[RecordedEvent]]()
    entries = list[RecordedEvent]()
    for entry in sorted(waiting, key=lambda entry: (_place(debate, entry), entry.seq)):
        entry_turn = turn_of(entry)
        at = _place(debate, entry)
        is_free = at <= frontier
        if entry_turn and debate.setup.quiet:
            is_free = at < frontier or (
                at == frontier and is_complete(debate, entry_turn.agent, at)
            )
        if not is_free:
            entries.append(entry)
        else:
            key = (at, entry_turn.agent) if entry_turn and debate.setup.quiet else entry.seq
            groups.setdefault(key, []).append(entry)
    at_once = [] if turn else [[recorded]]
    entries.sort(key=lambda entry: entry.seq)
    reached = ReadingPosition(debate, tuple(entries))
    return Release(reached, [*groups.values(), *at_once], is_parked=waits)


def position_after(log: Iterable[RecordedEvent]) -> ReadingPosition:
    """How far people have read after a whole log, or the beginning of one."""
    position = ReadingPosition()
    for recorded in log:
        position = release_after(position, apply(position.debate, recorded), recorded).position
    return position


def _frontier(debate: Debate) -> tuple[tuple[float, float], bool]:
    """The earliest place that can still bring something to read, and whether people must act.

    Beyond all places, if none can; before all of them, while people must act.
    """
    place = turn_group if debate.setup.quiet else order
    # A summary is read by agents: no post waits for one.
    turns = [turn for turn in schedule.ready(debate) if turn.act not in BESIDE]
    coming = (*turns, *(schedule.waiting_for_options(debate) if turns else ()))
    places = [place(debate, turn) for turn in coming if is_read(debate, turn)]
    waits = debate.status is Status.RUNNING and not turns and not schedule.conclusion(debate)
    if waits or (debate.setup.quiet and are_groups_held(debate)):
        return (-1, -1), waits
    return min(places, default=(inf, inf)), waits


def _place(debate: Debate, entry: RecordedEvent) -> tuple[int, int]:
    turn = turn_of(entry)
    place = turn_group if debate.setup.quiet else order
    return place(debate, turn) if turn else (0, 0)
