"""Hides parts of a sealed debate's log before it is revealed (pure).

People adopt advice on which all agents agree; independent votes are better (arXiv:2603.29866). So
stores return this reduced log to all surfaces. Only the engine reads the full one.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from core.debate.debate_events import DebateConcluded, DebateStarted, Withheld
from core.debate.log import Event, RecordedEvent
from core.debate.people_events import BallotsRevealed, PeopleBallotCast
from core.debate.state import Debate
from core.debate.turn import JUDGE
from core.debate.turn_events import (
    Audited,
    BallotAbstained,
    BallotCast,
    ContributionMade,
    CrossChecked,
    FacilitatorDecided,
    FindingsMerged,
    FollowUpAnswered,
    GatePassed,
    OptionsMerged,
    ShadowAnswered,
    ShadowPlaced,
    SummaryMade,
    TurnFailed,
    VerdictDrafted,
    VerdictReached,
    VoteTallied,
)
from core.usage import Expense

#: Events that show what agents prefer, or the decision. The end of the debate is hidden as well,
#: because its listeners would pass on a debate without its verdict.
HIDDEN_EVENTS = (
    Audited,
    BallotAbstained,
    BallotCast,
    ContributionMade,
    CrossChecked,
    DebateConcluded,
    FacilitatorDecided,
    FindingsMerged,
    FollowUpAnswered,
    GatePassed,
    ShadowAnswered,
    ShadowPlaced,
    SummaryMade,
    VerdictDrafted,
    VerdictReached,
    VoteTallied,
)
#: People read this in place of a hidden verdict.
SEALED = (
    "Sealed: the agents' opinions and their verdict are shown once the debate is revealed, so that "
    "people vote independently."
)
_FAILED = "The reason is shown once the debate is revealed."


def reveals_at(debate: Debate) -> datetime | None:
    """When a sealed debate is revealed automatically; None: never, a person must do it."""
    hours = debate.setup.reveal_after_hours
    return debate.started_at + timedelta(hours=hours) if debate.is_sealed and hours else None


def readable_log(log: Sequence[RecordedEvent]) -> Sequence[RecordedEvent]:
    """The log as surfaces may read it now, with the same numbers, times and keys.

    `log` is the full log from its start.
    """
    first = log[0].event if log else None
    is_sealed = isinstance(first, DebateStarted) and first.setup.sealed
    if not is_sealed or any(isinstance(entry.event, BallotsRevealed) for entry in log):
        return log
    return [replace(entry, event=_readable_event(entry.event)) for entry in log]


def _readable_event(event: Event) -> Event:
    match event:
        case OptionsMerged(options=options):
            return event.model_copy(update={"options": options.model_copy(update={"stances": {}})})
        case PeopleBallotCast(ballot=ballot):
            hidden = ballot.model_copy(update={"options": (), "ranking": ()})
            return event.model_copy(update={"ballot": hidden})
        case TurnFailed(failure=failure):
            hidden = failure.model_copy(update={"reason": _FAILED})
            return event.model_copy(update={"failure": hidden})
        case _ if isinstance(event, HIDDEN_EVENTS):
            ends, spent = isinstance(event, DebateConcluded), _spent(event.expense or Expense())
            return Withheld(outcome=event.key, usage=spent.usage, spent=spent, ends=ends)
        case _:
            return event


def _spent(expense: Expense) -> Expense:
    """The expense without what depends on the vote: the parts of its prompt, and the judge's model.

    The judge reads the positions in the order of the vote, and its maker did not win.
    """
    if expense.call is None:
        return expense
    call = replace(expense.call, sent=())
    if expense.agent == JUDGE:
        hidden = {"stands_in_for": "", "stands_in_why": ""}
        call = replace(call, provider="sealed", model="until the reveal", **hidden)
    return replace(expense, call=call)
