"""Debates that a backup brought back in their midst: what they post may be in Slack already."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, or_, select, update

from bot.store.tables import QUEUE, RESTORED, UNSENT
from core.models import Status
from core.store.columns import insert_new
from core.store.database import Database
from core.store.tables import DEBATES, EVENTS, INSTALLATION

#: The row of `installation` that says: this database is a copy of another one's past.
BACKUP = "backup"


class Restored:
    """Knows those debates. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def mark(self, at: datetime) -> None:
        """Say that this database was restored; taken notice of at the next start."""
        values = {"name": BACKUP, "content": at.isoformat()}
        await self._database.write(lambda c: insert_new(c, INSTALLATION, values))

    async def find_out(self) -> Sequence[str]:
        """Note which debates were in their midst, if this is a backup; return those that run.

        They are returned until `held` was called.
        """
        return await self._database.write(_find_out)

    async def held(self) -> None:
        """Remember that the debates are held; the database is a backup no more."""
        row = delete(INSTALLATION).where(INSTALLATION.c.name == BACKUP)
        await self._database.write(lambda c: c.execute(row))

    async def debates(self) -> frozenset[str]:
        """Return the ids of all debates whose posts may be in Slack already."""
        return await self._database.read(
            lambda c: frozenset(c.execute(select(RESTORED.c.debate_id)).scalars())
        )


def _find_out(connection: Connection) -> list[str]:
    is_backup = select(INSTALLATION.c.name).where(INSTALLATION.c.name == BACKUP)
    if connection.execute(is_backup).first() is None:
        return []
    running = DEBATES.c.status == Status.RUNNING.value
    newest = (
        select(EVENTS.c.seq)
        .where(EVENTS.c.debate_id == DEBATES.c.id)
        .order_by(EVENTS.c.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    unsent = select(QUEUE.c.debate_id).where(UNSENT, QUEUE.c.debate_id.is_not(None))
    open_ = or_(running, DEBATES.c.published_seq < newest, DEBATES.c.id.in_(unsent))
    for debate_id in connection.execute(select(DEBATES.c.id).where(open_)).scalars().all():
        insert_new(connection, RESTORED, {"debate_id": debate_id})
    # What one person was told then is no news to them now.
    told = update(QUEUE).where(UNSENT, QUEUE.c.method == "ephemeral")
    connection.execute(told.values(state="failed", error="restored from a backup"))
    # Living posts may show what came later than this backup.
    living = update(QUEUE).where(
        QUEUE.c.post.is_not(None), QUEUE.c.debate_id.in_(select(RESTORED.c.debate_id))
    )
    connection.execute(living.values(shown_seq=-1, shown_hash=None))
    return list(connection.execute(select(DEBATES.c.id).where(running)).scalars())
