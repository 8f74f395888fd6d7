"""Which workspaces do not take blocks that open: they get a button instead."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, select, update

from bot.store.tables import REFUSED_FOLDS
from core.store.columns import insert_new
from core.store.database import Database

#: After so long it is tried again: Slack gives new blocks to one workspace after the other.
FORGOTTEN_AFTER = timedelta(days=30)


class RefusedFolds:
    """Remembers what Slack refused. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database
        self._known: dict[str, datetime | None] = {}

    async def note(self, workspace: str, at: datetime) -> None:
        """Keep that a workspace refused one."""
        values = {"workspace": workspace, "at": at}
        change = update(REFUSED_FOLDS).where(REFUSED_FOLDS.c.workspace == workspace).values(at=at)

        def insert_or_update(connection: Connection) -> None:
            if not insert_new(connection, REFUSED_FOLDS, values):
                connection.execute(change)

        await self._database.write(insert_or_update)
        self._known[workspace] = at

    async def refuses(self, workspace: str, now: datetime) -> bool:
        """Whether a workspace refused one lately."""
        if workspace not in self._known:
            wanted = select(REFUSED_FOLDS.c.at).where(REFUSED_FOLDS.c.workspace == workspace)
            self._known[workspace] = await self._database.read(lambda c: c.execute(wanted).scalar())
        at = self._known[workspace]
        return at is not None and now - at < FORGOTTEN_AFTER
