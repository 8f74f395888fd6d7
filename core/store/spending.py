"""What debates have cost: one row per event that carries a cost, summed up by day."""

from datetime import UTC
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select

from core.debate.log import RecordedEvent, spent_by
from core.store.tables import SPENDING
from core.usage import SpendingScope

#: Whole billionths of a US dollar in one.
NANO = Decimal(10) ** 9
#: Made once: making it anew costs more than running it.
_BOOK = insert(SPENDING)


def book(
    connection: Connection, recorded: RecordedEvent, debate: Row[Any, Any, Any, Any, Any]
) -> None:
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


def total(connection: Connection, scope: SpendingScope) -> Decimal:
    """US dollars spent."""
    spent = connection.execute(spending_under(scope)).scalar()
    return Decimal(int(spent or 0)) / NANO


def spending_under(scope: SpendingScope) -> Select[Any]:
    """Return the statement that sums up the billionths."""
    columns = {
        SPENDING.c.day: scope.day,
        SPENDING.c.workspace: scope.workspace,
        SPENDING.c.person: scope.person,
        SPENDING.c.token_id: scope.token,
        SPENDING.c.debate_id: scope.debate_id,
    }
    conditions = [column == value for column, value in columns.items() if value is not None]
    return select(func.sum(SPENDING.c.nanodollars)).where(*conditions)
