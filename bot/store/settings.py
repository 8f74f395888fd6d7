"""What a channel has set for its debates."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from bot.store.posts import Channel
from bot.store.tables import CHANNEL_SETTINGS
from core.store.columns import insert_new
from core.store.database import Database


class ChannelSettings:
    """Settings per channel, as JSON. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def get(self, channel: Channel) -> Mapping[str, Any]:
        """What the channel has set; empty if nothing."""
        wanted = select(CHANNEL_SETTINGS.c.settings).where(_of(channel))
        found = await self._database.read(lambda c: c.execute(wanted).scalar())
        return found or {}

    async def put(self, channel: Channel, settings: Mapping[str, Any]) -> None:
        """Set all of the channel's settings; the last writer wins."""
        await self._database.write(lambda connection: _put(connection, channel, settings))


def _put(connection: Connection, channel: Channel, settings: Mapping[str, Any]) -> None:
    """Insert or update the row."""
    values = {**channel._asdict(), "settings": dict(settings)}
    if not insert_new(connection, CHANNEL_SETTINGS, values):
        connection.execute(update(CHANNEL_SETTINGS).where(_of(channel)).values(**values))


def _of(channel: Channel) -> Any:
    """The condition: of this channel."""
    table = CHANNEL_SETTINGS.c
    return (table.workspace == channel.workspace) & (table.channel == channel.channel)
