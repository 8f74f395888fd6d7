"""Which workspaces refused newer blocks of Slack: their messages have older ones."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select

from bot.store.tables import NEWER_BLOCKS_REFUSED
from core.store.database import Database

#: After so long they are tried again: Slack gives them to one workspace after the other.
FORGOTTEN_AFTER = timedelta(days=30)


class NewerBlocks:
    """One flag per workspace. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database
        self._refused: dict[str, datetime | None] = {}

    async def are_refused(self, workspace: str, now: datetime) -> bool:
        """Whether a workspace refused one lately."""
        if workspace not in self._refused:
            columns = NEWER_BLOCKS_REFUSED.c
            wanted = select(columns.at).where(columns.workspace == workspace)
            self._refused[workspace] = await self._database.read(
                lambda c: c.execute(wanted).scalar()
            )
        at = self._refused[workspace]
        return at is not None and now - at < FORGOTTEN_AFTER

    async def note(self, workspace: str, at: datetime | None) -> None:
        """Keep when a workspace refused one; None: it refused something else."""
        same = NEWER_BLOCKS_REFUSED.c.workspace == workspace

        def replace(connection: Connection) -> None:
            connection.execute(delete(NEWER_BLOCKS_REFUSED).where(same))
            if at:
                connection.execute(insert(NEWER_BLOCKS_REFUSED), {"workspace": workspace, "at": at})

        self._refused[workspace] = at
        await self._database.write(replace)
