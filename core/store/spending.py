"""Sums the cost of debates by day, and reserves money under caps that all processes share.

Each event with a cost has a row. One statement counts both reservations and recorded costs, and one
transaction replaces a reservation by its recorded cost, so that no amount is counted twice or
missed.
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

#: Nanodollars in a US dollar.
_NANO = Decimal(10) ** 9
#: Built once: building a statement costs more than running it.
_BOOK = insert(SPENDING)


def _nanodollars(cost: Decimal) -> int:
    return int((cost * _NANO).to_integral_value())


def _dollars(nanodollars: Any) -> Decimal:
    """Convert a sum from the database: PostgreSQL returns a decimal, or None without rows."""
    return Decimal(int(nanodollars or 0)) / _NANO


def book(
    connection: Connection, recorded: RecordedEvent, debate: Row[Any, Any, Any, Any, Any]
) -> None:
    """Insert a row with the cost of an event, unless the cost is zero or unknown."""
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
    """Return the US dollars spent in this scope."""
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
    """Reserve money under all caps, or under none; see `core.ports.Reservations.reserve`."""
    if connection.dialect.name == "postgresql":  # SQLite has one writer
        for key in sorted(cap.key for cap in caps):  # sorted, to avoid deadlocks
            lock = func.pg_advisory_xact_lock(func.hashtextextended(key, 0))
            connection.execute(select(lock))
    connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.expires_at <= at))
    updated_caps: list[Cap] = []
    has_room = True
    for cap in caps:
        is_other = RESERVATIONS.c.cap == cap.key, RESERVATIONS.c.id != reservation.id
        reserved_sum = select(func.sum(RESERVATIONS.c.nanodollars)).where(*is_other)
        sums = connection.execute(
            select(
                _spending_under(cap.scope).scalar_subquery() if cap.scope else literal(0),
                reserved_sum.where(RESERVATIONS.c.settled).scalar_subquery(),
                reserved_sum.where(~RESERVATIONS.c.settled).scalar_subquery(),
            )
        ).one()
        recorded_cost, settled_cost, pending_cost = map(_dollars, sums)
        amount = max(recorded_cost, cap.spent) + settled_cost
        updated_caps.append(replace(cap, spent=amount))
        has_room &= replace(cap, spent=amount + pending_cost).has_room_for(reservation.amount)
    if not has_room:
        return updated_caps
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
    """Replace the reserved worst case of an attempt by its actual cost (None: unknown)."""
    has_id = RESERVATIONS.c.id == reservation_id
    if cost is not None and not cost:
        connection.execute(delete(RESERVATIONS).where(has_id))
        return
    values: dict[str, object] = {"settled": True, "expires_at": expires_at}
    if cost is not None:
        values["nanodollars"] = _nanodollars(cost)
    connection.execute(update(RESERVATIONS).where(has_id).values(values))


def release(connection: Connection, debate_id: str, event: Event) -> None:
    """Delete the reservations of the turn whose outcome is recorded in this transaction."""
    is_turn = RESERVATIONS.c.turn == event.key
    if isinstance(event, VerdictReached):  # its key differs from the key of its turn
        is_turn = or_(is_turn, RESERVATIONS.c.turn.contains(f"/{Act.SYNTHESIS.value}/"))
    connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.debate_id == debate_id, is_turn))
