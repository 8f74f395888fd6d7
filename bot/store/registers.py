"""Which canvas of Slack lists the decisions of which channel."""

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from bot.store.tables import REGISTERS
from core.models import Place
from core.store.database import Database


class Registers:
    """Remembers canvases by channel. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def canvas_of(self, place: Place) -> str:
        """Id of the channel's canvas; empty where it has none."""
        wanted = select(REGISTERS.c.canvas).where(*_of(place))
        return str(await self._database.read(lambda c: c.execute(wanted).scalar()) or "")

    async def is_kept(self, workspace: str, canvas: str) -> bool:
        """Whether the canvas lists the decisions of some channel."""
        where = (REGISTERS.c.workspace == workspace, REGISTERS.c.canvas == canvas)
        wanted = select(REGISTERS.c.channel).where(*where)
        return await self._database.read(lambda c: c.execute(wanted).first()) is not None

    async def keep(self, place: Place, canvas: str) -> None:
        """Remember the channel's canvas, in place of an earlier one; empty: it has none."""
        row = {"workspace": place.workspace, "channel": place.channel, "canvas": canvas}

        def replace(connection: Connection) -> None:
            connection.execute(delete(REGISTERS).where(*_of(place)))
            if canvas:
                connection.execute(insert(REGISTERS), row)

        await self._database.write(replace)


def _of(place: Place) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (REGISTERS.c.workspace == place.workspace, REGISTERS.c.channel == place.channel)
