"""What debates have cost, summed up by day, and money reserved under caps by any process.

There is a row per event that carries a cost. A reservation and the spending it turns into are
counted by one statement, and replaced by each other in one transaction, so that nothing is counted
twice and nothing is left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, literal, or_, select, update

from core.debate.log import Event, RecordedEvent, usage_of
from core.debate.turn import Act
from core.debate.turn_events import VerdictReached
from core.ports import Reservation
from core.store.tables import RESERVATIONS, SPENDING, insert_new
from core.usage import Cap, SpendingScope

#: Whole billionths of a US dollar in one.
_NANO = Decimal(10) ** 9
#: Made once: making it anew costs more than running it.
_BOOK = insert(SPENDING)


def _nanodollars(cost: Decimal) -> int:
    return int((cost * _NANO).to_integral_value())


def _dollars(nanodollars: Any) -> Decimal:
    """From a sum of the database; PostgreSQL gives a decimal, and none where there are no rows."""
    return Decimal(int(nanodollars or 0)) / _NANO


def book(
    connection: Connection, recorded: RecordedEvent, debate: Row[Any, Any, Any, Any, Any]
) -> None:
    """Write down what an event has cost; nothing when it is nothing or nobody knows."""
    cost = usage_of(recorded.event).cost
    if not cost:
        return
    row = {
        "debate_id": recorded.debate_id,
        "key": recorded.event.key,
        "day": recorded.at.astimezone(UTC).date(),
        "workspace": debate.workspace,
        "person": debate.asked_by,
        "token_id": debate.token_id,
        "nanodollars": _nanodollars(cost),
    }
    connection.execute(_BOOK, row)


def total(connection: Connection, scope: SpendingScope) -> Decimal:
    """US dollars spent."""
    return _dollars(connection.execute(_spending_under(scope)).scalar())


def _spending_under(scope: SpendingScope) -> Select[Any]:
    columns = {
        SPENDING.c.day: scope.day,
        SPENDING.c.workspace: scope.workspace,
        SPENDING.c.person: scope.person,
        SPENDING.c.token_id: scope.token,
        SPENDING.c.debate_id: scope.debate_id,
    }
    conditions = [column == value for column, value in columns.items() if value is not None]
    return select(func.sum(SPENDING.c.nanodollars)).where(*conditions)


def reserve(
    connection: Connection, reservation: Reservation, caps: Sequence[Cap], at: datetime
) -> Sequence[Cap]:
    if connection.dialect.name == "postgresql":  # SQLite has one writer
        for key in sorted(cap.key for cap in caps):  # in one order, against deadlocks
            lock = func.pg_advisory_xact_lock(func.hashtextextended(key, 0))
            connection.execute(select(lock))
    connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.expires_at <= at))
    spent: list[Cap] = []
    has_room = True
    for cap in caps:
        others = RESERVATIONS.c.cap == cap.key, RESERVATIONS.c.id != reservation.id
        reserved = select(func.sum(RESERVATIONS.c.nanodollars)).where(*others)
        sums = connection.execute(
            select(
                _spending_under(cap.scope).scalar_subquery() if cap.scope else literal(0),
                reserved.where(RESERVATIONS.c.settled).scalar_subquery(),
                reserved.where(~RESERVATIONS.c.settled).scalar_subquery(),
            )
        ).one()
        recorded, settled, unsettled = map(_dollars, sums)
        amount = max(recorded, cap.spent) + settled
        spent.append(replace(cap, spent=amount))
        has_room &= replace(cap, spent=amount + unsettled).has_room_for(reservation.amount)
    if not has_room:
        return spent
    for cap in caps:
        row = {
            "id": reservation.id,
            "cap": cap.key,
            "debate_id": reservation.debate_id,
            "turn": reservation.turn,
            "nanodollars": _nanodollars(reservation.amount),
            "settled": False,
            "expires_at": reservation.expires_at,
        }
        insert_new(connection, RESERVATIONS, row)
    return ()


def settle(
    connection: Connection, reservation_id: str, cost: Decimal | None, expires_at: datetime
) -> None:
    """Put what an attempt did cost in the place of its worst case."""
    mine = RESERVATIONS.c.id == reservation_id
    if cost is not None and not cost:
        connection.execute(delete(RESERVATIONS).where(mine))
        return
    values: dict[str, object] = {"settled": True, "expires_at": expires_at}
    if cost is not None:
        values["nanodollars"] = _nanodollars(cost)
    connection.execute(update(RESERVATIONS).where(mine).values(values))


def release(connection: Connection, debate_id: str, event: Event) -> None:
    """End the reservations of the turn whose outcome is recorded in this transaction."""
    is_turn = RESERVATIONS.c.turn == event.key
    if isinstance(event, VerdictReached):  # its key is not that of its turn
        is_turn = or_(is_turn, RESERVATIONS.c.turn.contains(f"/{Act.SYNTHESIS.value}/"))
    connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.debate_id == debate_id, is_turn))
