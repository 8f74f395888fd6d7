"""Which workspaces refused which newer features of Slack: they get what was there before."""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select, update

from bot.store.tables import REFUSED_FEATURES
from core.store.columns import insert_new
from core.store.database import Database

#: After so long it is tried again: Slack gives new features to one workspace after the other.
FORGOTTEN_AFTER = timedelta(days=30)


class RefusedFeatures:
    """Remembers what Slack refused. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database
        self._known: dict[str, dict[str, datetime]] = {}

    async def note(self, workspace: str, features: Collection[str], at: datetime) -> None:
        """Keep that a workspace refused these: types of blocks, or names of methods."""
        columns = REFUSED_FEATURES.c

        def insert_or_update(connection: Connection) -> None:
            for feature in sorted(features):
                values = {"workspace": workspace, "feature": feature, "at": at}
                if not insert_new(connection, REFUSED_FEATURES, values):
                    same = (columns.workspace == workspace) & (columns.feature == feature)
                    connection.execute(update(REFUSED_FEATURES).where(same).values(at=at))

        await self._database.write(insert_or_update)
        self._known.setdefault(workspace, {}).update(dict.fromkeys(features, at))

    async def forget(self, feature: str) -> None:
        """Let a feature be tried again in every workspace."""
        same = REFUSED_FEATURES.c.feature == feature
        await self._database.write(lambda c: c.execute(delete(REFUSED_FEATURES).where(same)))
        for known in self._known.values():
            known.pop(feature, None)

    async def of(self, workspace: str, now: datetime) -> frozenset[str]:
        """What a workspace refused lately."""
        if workspace not in self._known:
            columns = REFUSED_FEATURES.c
            wanted = select(columns.feature, columns.at).where(columns.workspace == workspace)
            rows = await self._database.read(lambda c: c.execute(wanted).all())
            self._known[workspace] = {str(feature): at for feature, at in rows}
        known = self._known[workspace].items()
        return frozenset(feature for feature, at in known if now - at < FORGOTTEN_AFTER)
