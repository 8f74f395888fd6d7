"""What debates have cost: one row per event that carries a cost, summed up by day."""

from datetime import UTC, date
from decimal import Decimal

from sqlalchemy import Connection, bindparam, func, insert, select

from core.events import Recorded, spent_by
from core.store.tables import DEBATES, SPENDING

_NANO = Decimal(10) ** 9
# Statements are made once: making them anew costs more than running them.
_WHOSE = select(DEBATES.c.workspace, DEBATES.c.asked_by).where(DEBATES.c.id == bindparam("id"))
_BOOK = insert(SPENDING)


def book(connection: Connection, recorded: Recorded) -> None:
    """Write down what an event has cost; nothing when it is nothing or nobody knows."""
    cost = spent_by(recorded.event).cost
    if not cost:
        return
    workspace, person = connection.execute(_WHOSE, {"id": recorded.debate_id}).one()
    row = {
        "debate_id": recorded.debate_id,
        "key": recorded.event.key,
        "day": recorded.at.astimezone(UTC).date(),
        "workspace": workspace,
        "person": person,
        "nanodollars": int((cost * _NANO).to_integral_value()),
    }
    connection.execute(_BOOK, row)


def total(connection: Connection, day: date, workspace: str, person: str | None) -> Decimal:
    """US dollars spent on one day (UTC) in a workspace, by one person or by all."""
    wanted = select(func.sum(SPENDING.c.nanodollars)).where(
        SPENDING.c.workspace == workspace, SPENDING.c.day == day
    )
    if person is not None:
        wanted = wanted.where(SPENDING.c.person == person)
    return Decimal(int(connection.execute(wanted).scalar() or 0)) / _NANO
