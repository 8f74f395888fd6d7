"""The order in which people read a debate, which depends on its log only (pure).

Turns end in any order, but people read phase by phase. A post is held back while a turn of an
earlier phase is still possible; inside a phase, the order is that of the log. In a quiet debate
people read group by group (`bot.views.progress`): a group is released when it is complete and all
groups of earlier rounds are released. All held posts are released when the debate ends or is cut
short.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from bot.presenter.posts import turn_of
from bot.views.progress import are_groups_held, is_complete, is_read, order, turn_group
from core.debate.log import RecordedEvent, apply
from core.debate.state import Debate, Status
from core.debate.turn import BACKGROUND_ACTS
from core.rules import schedule


@dataclass(frozen=True)
class ReadingPosition:
    """The debate up to the newest event taken in, and the events that are held back."""

    debate: Debate | None = None
    held: tuple[RecordedEvent, ...] = ()

    @property
    def seq(self) -> int:
        """Sequence number of the newest event taken in; 0 at first."""
        return self.debate.seq if self.debate else 0


@dataclass(frozen=True)
class Release:
    """The result of taking in one more event."""

    position: ReadingPosition
    #: Events whose posts are released now, in reading order. Each group shares a post.
    groups: Sequence[Sequence[RecordedEvent]]
    #: Whether the debate waits for people or for a point in time.
    is_parked: bool = False


def release_after(position: ReadingPosition, debate: Debate, recorded: RecordedEvent) -> Release:
    """Take in one more event; `debate` is the debate right after it."""
    turn = turn_of(recorded)
    waiting = (*position.held, recorded) if turn else position.held
    frontier, waits = _frontier(debate)
    groups = dict[object, list[RecordedEvent]]()
    entries = list[RecordedEvent]()
    for entry in sorted(waiting, key=lambda entry: (_place(debate, entry), entry.seq)):
        entry_turn = turn_of(entry)
        place = _place(debate, entry)
        is_free = place <= frontier
        if entry_turn and debate.setup.quiet:
            is_free = place < frontier or (
                place == frontier and is_complete(debate, entry_turn.agent, place)
            )
        if not is_free:
            entries.append(entry)
        else:
            key = (place, entry_turn.agent) if entry_turn and debate.setup.quiet else entry.seq
            groups.setdefault(key, []).append(entry)
    at_once = [] if turn else [[recorded]]
    entries.sort(key=lambda entry: entry.seq)
    new_position = ReadingPosition(debate, tuple(entries))
    return Release(new_position, [*groups.values(), *at_once], is_parked=waits)


def position_after(log: Iterable[RecordedEvent]) -> ReadingPosition:
    """The reading position after a log, or after the beginning of one."""
    position = ReadingPosition()
    for recorded in log:
        position = release_after(position, apply(position.debate, recorded), recorded).position
    return position


def _frontier(debate: Debate) -> tuple[tuple[float, float], bool]:
    """The earliest place in the order that is still open, and whether the debate waits for people.

    After all places if none is open; before all places while the debate waits for people.
    """
    place = turn_group if debate.setup.quiet else order
    # Only agents read summaries, so no post waits for one.
    turns = [turn for turn in schedule.ready(debate) if turn.act not in BACKGROUND_ACTS]
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
