"""Caps on money as they hold for one debate at one moment: its own, its starter's, the day's."""

from collections.abc import Sequence
from datetime import UTC
from decimal import Decimal

from core.models import USUAL_DEBATE_COST, Cap, DaySpending, Debate, Setup
from core.ports import Clock, Spending
from core.settings import Caps

_DEBATE_REMEDY = (
    "To go further, raise the cap of a debate in its form or in the settings "
    "(limits.debate_cost), or ask with fewer agents or rounds."
)
_PERSON_REMEDY = "Ask again tomorrow (UTC), or let whoever runs Moot raise limits.person_day_cost."
_TOKENS_REMEDY = "Ask again tomorrow (UTC), or let whoever runs Moot raise limits.token_day_cost."
_DAY_REMEDY = "Ask again tomorrow (UTC), or let whoever runs Moot raise limits.day_cost."


class OwnCaps:
    """Knows a debate's own cap only: for debates that nobody else pays for."""

    async def caps(self, debate: Debate) -> Sequence[Cap]:
        """The debate's own cap, if it has one."""
        return own_cap(debate)


class SharedCaps:
    """Knows also what a person, a token and all people of a workspace may spend on one day."""

    def __init__(self, caps: Caps, spending: Spending, clock: Clock) -> None:
        """Take the bounds.

        Args:
            caps: What the settings allow.
            spending: Tells what was spent.
            clock: Tells which day it is.
        """
        self._caps = caps
        self._spending = spending
        self._clock = clock

    async def caps(self, debate: Debate) -> Sequence[Cap]:
        """Every cap that is set.

        Raises:
            StoreDown: The database does not answer.
        """
        found = [*own_cap(debate)]
        workspace, day = debate.setup.place.workspace, self._clock.now().astimezone(UTC).date()
        limit, person = self._caps.person_day_cost, debate.setup.asked_by
        if limit is not None:
            spent = await self._spending.spent(day, workspace=workspace, person=person.id)
            key = f"person/{workspace}/{person.id}/{day}"
            words = f"{person.name or 'one person'} today"
            shared = DaySpending(day, workspace, person.id)
            found.append(Cap(key, words, limit, spent, remedy=_PERSON_REMEDY, shared=shared))
        limit, token = self._caps.token_day_cost, debate.setup.token
        if limit is not None and token:
            spent = await self._spending.spent(day, workspace=workspace, token=token)
            shared = DaySpending(day, workspace, token=token)
            key, words = f"token/{token}/{day}", "this token today"
            found.append(Cap(key, words, limit, spent, remedy=_TOKENS_REMEDY, shared=shared))
        limit = self._caps.day_cost
        if limit is not None:
            spent = await self._spending.spent(day, workspace=workspace)
            key, words = f"day/{workspace}/{day}", "all debates today"
            shared = DaySpending(day, workspace)
            found.append(Cap(key, words, limit, spent, remedy=_DAY_REMEDY, shared=shared))
        return found


def own_cap(debate: Debate) -> Sequence[Cap]:
    """The cap of the debate itself; costs nobody knows do not count as spent."""
    limit = debate.setup.limits.debate_cost
    if limit is None:
        return ()
    spent = debate.usage.cost or Decimal(0)
    key, stops_unpriced = f"debate/{debate.id}", is_chosen(limit)
    remedy = _DEBATE_REMEDY
    return (Cap(key, "this debate", limit, spent, remedy=remedy, stops_unpriced=stops_unpriced),)


def is_chosen(limit: Decimal) -> bool:
    """Whether somebody chose a debate's own cap: it refuses calls whose price is unknown."""
    return limit != USUAL_DEBATE_COST


def firm_cap(setup: Setup, cost: Decimal | None) -> Decimal | None:
    """What the debate never costs more than; None: there is no such amount.

    Calls whose price is unknown are made under the usual cap, and nobody can tell what they cost.

    Args:
        setup: Of the debate.
        cost: What it is expected to cost; None: a price is unknown, or it was not estimated.
    """
    cap = setup.limits.debate_cost
    if cap is None or (cost is None and not is_chosen(cap)):
        return None
    return cap
