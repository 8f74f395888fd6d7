"""Which posts an event brings up to date besides the board: cards, vote, verdict (pure)."""

from collections.abc import Sequence

from bot.presenter.event_posts import (
    card_edit,
    headline_edit,
    outcome_edits,
    replaced_edits,
    superseded_edits,
    vote_edit,
)
from bot.store.posts import NewPost
from core.events import (
    AnswerWithdrawn,
    ClarificationAnswered,
    ClarificationsClosed,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateWanted,
    DecisionRecorded,
    OutcomeGiven,
    PeopleBallotCast,
    Recorded,
    StopRequested,
    VoteCalled,
)
from core.models import Debate

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
    debate: Debate,
    recorded: Recorded,
    before: Debate | None = None,
    *,
    has_vote_post: bool,
    pages: bool = False,
) -> Sequence[NewPost]:
    """Return the edits an event leads to besides the board's; only the newest state matters.

    Args:
        debate: The debate with this event in it.
        recorded: The event.
        before: The debate right before it.
        has_vote_post: The vote has a post of its own.
        pages: Debates can be shared as pages.
    """
    event, edits = recorded.event, list[NewPost]()
    for asked in debate.clarifications.values():
        numbers = {item.number for item in asked.items}
        match event:
            case ClarificationAnswered(answer=answer):
                is_changed = answer.number in numbers
            case AnswerWithdrawn(number=number):
                is_changed = number in numbers
            case _:
                is_changed = bool(numbers) and isinstance(event, _FOR_ALL_CARDS)
        if is_changed:
            edits.append(card_edit(debate, asked))
    # Somebody votes late, or the team decides. A quiet debate's vote is a part of its verdict.
    if isinstance(event, PeopleBallotCast | DecisionRecorded) and debate.tally and has_vote_post:
        edits.append(vote_edit(debate, debate.tally))
    is_told = isinstance(event, DecisionRecorded | OutcomeGiven)
    is_told |= debate.setup.quiet and isinstance(event, PeopleBallotCast)
    if is_told and debate.verdict:
        edits.append(headline_edit(debate, debate.verdict, pages=pages))
    if isinstance(event, DecisionRecorded):
        edits += replaced_edits(debate)
    if isinstance(event, OutcomeGiven):
        edits += outcome_edits(debate, event.outcome)
    if isinstance(event, DebateWanted) and before:
        edits += superseded_edits(before, event.by, has_vote_post=has_vote_post)
    return edits
