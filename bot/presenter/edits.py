"""Which posts an event brings up to date besides the board: cards, vote, verdict (pure)."""

from collections.abc import Collection, Sequence
from typing import Any

from bot.slack.ids import (
    address_of,
    board_key,
    card_key,
    edit_key,
    ended_key,
    headline_key,
    outcome_key,
    unpin_key,
    vote_key,
)
from bot.store.posts import NewPost
from bot.views import notices
from bot.views.board import BoardAction, board
from bot.views.clarifications import card
from bot.views.message import MessageView
from bot.views.outcome import outcome_post
from bot.views.verdict import headline
from bot.views.vote import vote
from core.events import (
    AnswerWithdrawn,
    ClarificationAnswered,
    ClarificationsClosed,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateWanted,
    DecisionRecorded,
    OutcomeAsked,
    OutcomeGiven,
    PeopleBallotCast,
    Recorded,
    StopRequested,
    VoteCalled,
)
from core.models import (
    Clarifications,
    Debate,
    DecisionKind,
    DecisionOutcome,
    Person,
    Status,
    Tally,
    Verdict,
)

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


def board_edit(
    debate: Debate, enabled: Collection[BoardAction] = (), remarks: Sequence[str] = ()
) -> NewPost:
    """Return the edit that brings the board up to date; only the newest one matters.

    After the end it has a key of its own, and so a place behind the posts that it links to.

    Args:
        debate: The debate.
        enabled: Buttons of the board.
        remarks: What people should know besides, as clean text.
    """
    links = dict[str, str]()
    if debate.status is not Status.RUNNING and debate.verdict:
        links["Verdict"] = address_of(headline_key(debate.id, debate.edition))
    if debate.status is not Status.RUNNING and debate.tally and not debate.setup.quiet:
        links["Vote"] = address_of(vote_key(debate.id, debate.edition))
    shown = board(debate, enabled=enabled, remarks=remarks, links=links).payload
    running = debate.status is Status.RUNNING
    key = edit_key(debate.id) if running else ended_key(debate.id, debate.edition)
    return _post(debate, key, "update", {**shown, "target_key": board_key(debate.id)})


def vote_edit(debate: Debate, tally: Tally) -> NewPost:
    """Return the edit that brings the vote's post up to date: people's ballots."""
    return _edit(debate, vote_key(debate.id, debate.edition), vote(debate, tally))


def headline_edit(debate: Debate, reached: Verdict, *, pages: bool = False) -> NewPost:
    """Return the edit that brings the verdict's short form up to date: the team's decision."""
    shown = headline(debate, reached, pages=pages)
    return _edit(debate, headline_key(debate.id, debate.edition), shown)


def outcome_edits(debate: Debate, given: DecisionOutcome) -> Sequence[NewPost]:
    """Return the edits that show how a decision turned out wherever people were asked."""
    of = next((one for one in debate.decisions if one.origin == given.decision), None)
    return _edits_about(debate, given.decision, outcome_post(debate, of))


def replaced_edits(debate: Debate) -> Sequence[NewPost]:
    """Return the edits that ask nothing more of decisions that the team has replaced."""
    return [
        edit
        for one in debate.decisions[:-1]
        if one.kind is DecisionKind.ACCEPT
        for edit in _edits_about(debate, one.origin, outcome_post(debate, one))
    ]


def _edits_about(debate: Debate, origin: str, shown: MessageView) -> Sequence[NewPost]:
    """Edits of every post about how one decision turned out."""
    numbers = list(range(1, debate.outcomes_asked.get(origin, 0) + 1))
    first = next((one for one in debate.outcomes if one.decision == origin), None)
    asked = OutcomeAsked.key_of(origin, 1)
    if first and (not numbers or debate.came_first(f"outcome/{first.origin}", asked)):
        numbers.insert(0, 0)  # said before anybody asked
    return [_edit(debate, outcome_key(debate.id, origin, one), shown) for one in numbers]


def superseded_edits(before: Debate, by: Person, *, has_vote_post: bool) -> Sequence[NewPost]:
    """Return the edits that say of the first vote and verdict that they count no more.

    Args:
        before: The debate right before it was wanted.
        by: Who wanted it.
        has_vote_post: The vote has a post of its own.
    """
    why = notices.superseded(by)
    edits = list[NewPost]()
    if before.tally and has_vote_post:
        shown = vote(before, before.tally, superseded=why)
        edits.append(_edit(before, vote_key(before.id, before.edition), shown))
    if before.verdict:
        shown = headline(before, before.verdict, superseded=why)
        edits.append(_edit(before, headline_key(before.id, before.edition), shown))
    return edits


def _edit(debate: Debate, root: str, shown: MessageView) -> NewPost:
    return _post(debate, f"{root}/edit", "update", {**shown.payload, "target_key": root})


def unpinning(debate: Debate) -> NewPost:
    """Return the act of unpinning the board."""
    key = unpin_key(debate.id, debate.edition)
    return _post(debate, key, "unpin", {"target_key": board_key(debate.id)})


def card_edit(debate: Debate, asked: Clarifications) -> NewPost:
    """Return the edit that brings a card with questions up to date."""
    return _edit(debate, card_key(debate.id, asked.turn.key), card(debate, asked))


def _post(debate: Debate, key: str, method: str, payload: dict[str, Any]) -> NewPost:
    place = debate.setup.place
    return NewPost(
        key=key,
        workspace=place.workspace,
        channel=place.channel,
        method=method,
        payload=payload,
        debate_id=debate.id,
    )
