"""Which debates have pages that people with a link can read."""

import secrets

from sqlalchemy import Connection, Select, delete, select

from bot.store.tables import PAGE_GRANTS, TableUser
from core.debate.state import Debate
from core.store.columns import insert_new

_BYTES = 8


class DebatePageGrants(TableUser):
    """The `PageGrants` of a running bot."""

    async def grant(self, debate: Debate) -> str:
        values = {
            "debate_id": debate.id,
            "workspace": debate.setup.place.workspace,
            "granted": secrets.token_hex(_BYTES),
        }

        def make_or_read(connection: Connection) -> str:
            insert_new(connection, PAGE_GRANTS, values)
            return str(connection.execute(_of(debate.id)).scalar_one())

        return await self._database.write(make_or_read)

    async def grant_of(self, debate_id: str) -> str:
        """The debate's grant; empty where it has none."""
        query = _of(debate_id)
        return str(await self._database.read(lambda c: c.execute(query).scalar()) or "")

    async def withdraw(self, debate_id: str) -> bool:
        this = delete(PAGE_GRANTS).where(PAGE_GRANTS.c.debate_id == debate_id)
        return await self._database.write(lambda c: c.execute(this).rowcount > 0)

    async def leave(self, workspace: str) -> None:
        these = delete(PAGE_GRANTS).where(PAGE_GRANTS.c.workspace == workspace)
        await self._database.write(lambda c: c.execute(these))


def _of(debate_id: str) -> Select[tuple[str]]:
    return select(PAGE_GRANTS.c.granted).where(PAGE_GRANTS.c.debate_id == debate_id)
