"""Caps on money as they hold for one debate at one moment: its own, its starter's, the day's."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

from core.debate.rules import USUAL_DEBATE_COST
from core.debate.setup import Setup
from core.debate.state import Debate
from core.settings import Caps
from core.usage import Cap, SpendingScope

_DEBATE_REMEDY = (
    "To go further, raise the cap of a debate in its form or in the settings "
    "(limits.debate_cost), or ask with fewer agents or rounds."
)
_SHARED_REMEDY = "Ask again tomorrow (UTC), or let whoever runs Moot raise limits.{}."


def caps_of(debate: Debate, caps: Caps, now: datetime) -> Sequence[Cap]:
    """Every cap that is set: the debate's own, its starter's, its token's, the day's.

    The amounts spent under shared caps are read when money is reserved.
    """
    workspace, day = debate.setup.place.workspace, now.astimezone(UTC).date()
    person, token, bounds = debate.setup.asked_by, debate.setup.token, [*own_cap(debate)]
    if caps.person_day_cost is not None:
        bounds.append(
            Cap(
                f"person/{workspace}/{person.id}/{day}",
                f"{person.name or 'one person'} today",
                caps.person_day_cost,
                remedy=_SHARED_REMEDY.format("person_day_cost"),
                scope=SpendingScope(day, workspace, person.id),
            )
        )
    if caps.token_day_cost is not None and token:
        bounds.append(
            Cap(
                f"token/{token}/{day}",
                "this token today",
                caps.token_day_cost,
                remedy=_SHARED_REMEDY.format("token_day_cost"),
                scope=SpendingScope(day, workspace, token=token),
            )
        )
    if caps.day_cost is not None:
        bounds.append(
            Cap(
                f"day/{workspace}/{day}",
                "all debates today",
                caps.day_cost,
                remedy=_SHARED_REMEDY.format("day_cost"),
                scope=SpendingScope(day, workspace),
            )
        )
    return bounds


def own_cap(debate: Debate) -> Sequence[Cap]:
    """The cap of the debate itself; costs nobody knows do not count as spent."""
    limit = debate.setup.limits.debate_cost
    if limit is None:
        return ()
    return (
        Cap(
            f"debate/{debate.id}",
            "this debate",
            limit,
            debate.usage.cost or Decimal(0),
            remedy=_DEBATE_REMEDY,
            stops_unpriced=is_chosen(limit),
            scope=SpendingScope(debate_id=debate.id),
        ),
    )


def is_chosen(limit: Decimal) -> bool:
    """Whether somebody chose a debate's own cap: it refuses calls whose price is unknown."""
    return limit != USUAL_DEBATE_COST


def firm_cap(setup: Setup, cost: Decimal | None) -> Decimal | None:
    """What the debate never costs more than; None: there is no such amount.

    Calls whose price is unknown are made under the usual cap, and nobody can tell what they cost.
    `cost` is what the debate is expected to cost (None: a price is unknown).
    """
    cap = setup.limits.debate_cost
    if cap is None or (cost is None and not is_chosen(cap)):
        return None
    return cap
