"""When people are to be reminded of decisions."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, select

from bot.store.tables import REMINDERS
from core.store.columns import insert_new
from core.store.database import Database
from core.use_cases.remind import Reminder


class Reminders:
    """Keeps dates until people were reminded. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def put(self, reminder: Reminder) -> None:
        """Remember a date; where there is one for this decision, that one stays."""
        values = asdict(reminder)
        await self._database.write(lambda c: insert_new(c, REMINDERS, values))

    async def due(self, now: datetime) -> Sequence[Reminder]:
        """Return what people are to be reminded of by now, oldest first."""
        wanted = select(REMINDERS).where(REMINDERS.c.due_at <= now).order_by(REMINDERS.c.due_at)
        rows = await self._database.read(lambda c: c.execute(wanted).mappings().all())
        return [Reminder(**row) for row in rows]

    async def forget(self, reminder: Reminder) -> None:
        """People were reminded."""
        table = REMINDERS.c
        this = (table.debate_id == reminder.debate_id) & (table.decision == reminder.decision)
        await self._database.write(lambda c: c.execute(delete(REMINDERS).where(this)))
