"""Which posts an event brings up to date besides the board: cards, vote, verdict (pure)."""

from collections.abc import Iterator, Sequence

from bot.presenter.posts import card_edit, headline_edit, vote_edit
from bot.store.posts import NewPost
from core.events import (
    ClarificationAnswered,
    ClarificationsClosed,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DecisionRecorded,
    Event,
    PeopleBallotCast,
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


def edits_of(debate: Debate, recorded: Recorded) -> Sequence[NewPost]:
    """Return the edits an event leads to besides the board's; only the newest state matters.

    Args:
        debate: The debate with this event in it.
        recorded: The event.
    """
    cards = [card_edit(debate, asked) for asked in _cards(debate, recorded.event)]
    return [*cards, *_after_the_vote(debate, recorded.event)]


def _after_the_vote(debate: Debate, event: Event) -> Sequence[NewPost]:
    """The vote's post when somebody votes late, it and the verdict's when the team decides."""
    if not isinstance(event, (PeopleBallotCast, DecisionRecorded)):
        return ()
    votes = [vote_edit(debate, debate.tally)] if debate.tally else []
    decided = isinstance(event, DecisionRecorded) and debate.verdict
    return [*votes, *([headline_edit(debate, decided)] if decided else [])]


def _cards(debate: Debate, event: Event) -> Iterator[Clarifications]:
    """The cards that look otherwise after the event."""
    for asked in debate.clarifications.values():
        numbers = {item.number for item in asked.items}
        answered = isinstance(event, ClarificationAnswered) and event.answer.number in numbers
        if numbers and (answered or isinstance(event, _FOR_ALL_CARDS)):
            yield asked
