"""When people want to look at decisions again."""

from collections.abc import Sequence
from datetime import UTC, datetime, time, tzinfo

from sqlalchemy import delete, select

from bot.store.tables import REMINDERS
from core.models import Decision
from core.store.columns import insert_new
from core.store.database import Database
from core.use_cases.remind import Reminder

#: The time of day at which people are reminded, in the morning of who named the date.
AT = time(8, 0)


class Reminders:
    """Keeps dates until people were reminded. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def put(self, debate_id: str, decision: Decision, zone: tzinfo = UTC) -> None:
        """Remember the date of a decision, if it names one; again changes nothing.

        Args:
            debate_id: The debate.
            decision: What was decided.
            zone: Where the date begins and ends.
        """
        if decision.revisit_on is None:
            return
        due = datetime.combine(decision.revisit_on, AT, zone)
        values = {"debate_id": debate_id, "decision": decision.origin, "due_at": due}
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
