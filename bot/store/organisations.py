"""Which organisation (Enterprise Grid) a workspace belongs to: posts know only the workspace."""

from collections.abc import Collection, Sequence

from sqlalchemy import select

from bot.store.tables import ORGANISATIONS
from core.store.columns import insert_new
from core.store.database import Database


class Organisations:
    """Remembers what requests and installations say. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database
        self._known: dict[str, str] = {}

    async def note(self, workspace: str, enterprise: str) -> None:
        """Keep that a workspace belongs to an organisation; it does so for ever."""
        if self._known.get(workspace) != enterprise:
            values = {"workspace": workspace, "enterprise": enterprise}
            await self._database.write(lambda c: insert_new(c, ORGANISATIONS, values))
            self._known[workspace] = enterprise

    async def of(self, workspace: str) -> str | None:
        """Return a workspace's organisation; None: it stands alone."""
        if workspace not in self._known:
            wanted = select(ORGANISATIONS.c.enterprise).where(
                ORGANISATIONS.c.workspace == workspace
            )
            found = await self._database.read(lambda c: c.execute(wanted).scalar())
            if found is None:
                return None
            self._known[workspace] = str(found)
        return self._known[workspace]

    async def workspaces_of(self, enterprises: Collection[str]) -> Sequence[str]:
        """Return the workspaces that are known to belong to organisations."""
        wanted = select(ORGANISATIONS.c.workspace).where(
            ORGANISATIONS.c.enterprise.in_(enterprises)
        )
        return await self._database.read(lambda c: c.execute(wanted).scalars().all())
