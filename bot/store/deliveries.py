"""Which of Slack's deliveries were handled: events come again, people click twice."""

from datetime import datetime

from sqlalchemy import delete, select

from bot.store.tables import DELIVERIES
from core.store.columns import insert_new
from core.store.database import Database


class Deliveries:
    """Remembers what arrived. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def seen(self, kind: str, delivery_id: str, at: datetime) -> bool:
        """Whether it arrived before; from now on it did.

        Where PostgreSQL's answer to this gets lost, what arrives for the first time is said to have
        arrived before: nothing is done twice, and who typed it hears nothing.

        Args:
            kind: What the id is: "mention", "trigger", …
            delivery_id: Slack's `event_id` or `trigger_id`.
            at: When it arrived.
        """
        values = {"kind": kind, "id": delivery_id, "at": at}
        return not await self._database.write(lambda c: insert_new(c, DELIVERIES, values))

    async def knows(self, kind: str, delivery_id: str) -> bool:
        """Whether it arrived before; says nothing of now."""
        found = select(DELIVERIES.c.id).where(
            DELIVERIES.c.kind == kind, DELIVERIES.c.id == delivery_id
        )
        return await self._database.read(lambda c: c.execute(found).first() is not None)

    async def purge(self, before: datetime) -> int:
        """Forget what arrived earlier than that; how many they were."""
        old = delete(DELIVERIES).where(DELIVERIES.c.at < before)
        return await self._database.write(lambda connection: connection.execute(old).rowcount)
