"""Which posts an event brings up to date: the board, cards with questions (pure)."""

from collections.abc import Collection, Iterator, Sequence

from bot.presenter.posts import board_edit, card_edit
from bot.store.posts import NewPost
from bot.views.board import BoardAction
from core.events import (
    ClarificationAnswered,
    ClarificationsClosed,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    Event,
    Recorded,
    StopRequested,
    VoteCalled,
)
from core.models import Clarifications, Debate

#: What may open or close every card at once.
_FOR_ALL_CARDS = (
    ClarificationsClosed,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    StopRequested,
    VoteCalled,
)


def edits_of(
    debate: Debate, recorded: Recorded, enabled: Collection[BoardAction] = ()
) -> Sequence[NewPost]:
    """Return the edits an event leads to; only the newest state of each post matters.

    Args:
        debate: The debate with this event in it.
        recorded: The event.
        enabled: Buttons of the board.
    """
    if recorded.seq == 1:
        return ()
    cards = [card_edit(debate, asked) for asked in _cards(debate, recorded.event)]
    return [*cards, board_edit(debate, enabled)]


def _cards(debate: Debate, event: Event) -> Iterator[Clarifications]:
    """The cards that look otherwise after the event."""
    for asked in debate.clarifications.values():
        numbers = {item.number for item in asked.items}
        answered = isinstance(event, ClarificationAnswered) and event.answer.number in numbers
        if numbers and (answered or isinstance(event, _FOR_ALL_CARDS)):
            yield asked
