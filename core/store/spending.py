"""What debates have cost: one row per event that carries a cost, summed up by day."""

from datetime import UTC
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select

from core.events import Recorded, spent_by
from core.models import DaySpending
from core.store.tables import SPENDING

#: Whole billionths of a US dollar in one.
NANO = Decimal(10) ** 9
#: Made once: making it anew costs more than running it.
_BOOK = insert(SPENDING)


def book(connection: Connection, recorded: Recorded, debate: Row[Any, Any, Any, Any, Any]) -> None:
    """Write down what an event has cost; nothing when it is nothing or nobody knows.

    Args:
        connection: Of the transaction that writes the event.
        recorded: The event.
        debate: The row of its debate.
    """
    cost = spent_by(recorded.event).cost
    if not cost:
        return
    row = {
        "debate_id": recorded.debate_id,
        "key": recorded.event.key,
        "day": recorded.at.astimezone(UTC).date(),
        "workspace": debate.workspace,
        "person": debate.asked_by,
        "token_id": debate.token_id,
        "nanodollars": int((cost * NANO).to_integral_value()),
    }
    connection.execute(_BOOK, row)


def total(connection: Connection, whose: DaySpending) -> Decimal:
    """US dollars spent on one day (UTC)."""
    spent = connection.execute(spending_on(whose)).scalar()
    return Decimal(int(spent or 0)) / NANO


def spending_on(whose: DaySpending) -> Select[Any]:
    """Return the statement that sums up a day's billionths."""
    query = select(func.sum(SPENDING.c.nanodollars)).where(
        SPENDING.c.workspace == whose.workspace, SPENDING.c.day == whose.day
    )
    if whose.person is not None:
        query = query.where(SPENDING.c.person == whose.person)
    if whose.token is not None:
        query = query.where(SPENDING.c.token_id == whose.token)
    return query
