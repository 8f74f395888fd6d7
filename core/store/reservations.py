"""Money reserved under caps, in the database: whatever process draws on them.

A reservation and the spending it turns into are counted by one statement, and replaced by each
other in one transaction, so that nothing is counted twice and nothing is left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from sqlalchemy import Connection, delete, func, literal, or_, select, update

from core.debate.log import Event
from core.debate.turn import Act
from core.debate.turn_events import VerdictReached
from core.ports import Reservation
from core.store.columns import insert_new
from core.store.spending import NANO, spending_under
from core.store.tables import RESERVATIONS
from core.usage import Cap


def reserve(
    connection: Connection, reservation: Reservation, caps: Sequence[Cap], at: datetime
) -> Sequence[Cap]:
    """Reserve the amount under all caps; see the port."""
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
                spending_under(cap.scope).scalar_subquery() if cap.scope else literal(0),
                reserved.where(RESERVATIONS.c.settled).scalar_subquery(),
                reserved.where(~RESERVATIONS.c.settled).scalar_subquery(),
            )
        ).one()
        recorded, settled, unsettled = (Decimal(int(total or 0)) / NANO for total in sums)
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
            "nanodollars": int((reservation.amount * NANO).to_integral_value()),
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
        values["nanodollars"] = int((cost * NANO).to_integral_value())
    connection.execute(update(RESERVATIONS).where(mine).values(values))


def release(connection: Connection, debate_id: str, event: Event) -> None:
    """End the reservations of the turn whose outcome is recorded in this transaction."""
    is_turn = RESERVATIONS.c.turn == event.key
    if isinstance(event, VerdictReached):  # its key is not that of its turn
        is_turn = or_(is_turn, RESERVATIONS.c.turn.contains(f"/{Act.SYNTHESIS.value}/"))
    connection.execute(delete(RESERVATIONS).where(RESERVATIONS.c.debate_id == debate_id, is_turn))
