"""What a channel has set for its debates."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, select, update

from bot.log import logger
from bot.store.tables import CHANNEL_SETTINGS
from core.models import Place
from core.redaction import without_secrets
from core.store.columns import insert_new
from core.store.database import Database
from core.use_cases.choices import ChannelChoices

_log = logger(__name__)


class ChannelSettings:
    """Settings per channel, as JSON. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def get(self, place: Place) -> ChannelChoices:
        """What the channel has set; nothing, if that can no longer be read."""
        wanted = select(CHANNEL_SETTINGS.c.settings).where(_of(place))
        found = await self._database.read(lambda c: c.execute(wanted).scalar())
        try:
            return ChannelChoices.model_validate(found or {})
        except ValidationError as error:
            _log.warning("channel settings not read", channel=place.channel, reason=str(error))
            return ChannelChoices()

    async def stewards(self, place: Place) -> Sequence[str]:
        """Ids of people who may steer the channel's debates besides those who start them."""
        return (await self.get(place)).stewards

    async def put(self, place: Place, chosen: ChannelChoices) -> None:
        """Set all of the channel's settings; the last writer wins."""
        settings = without_secrets(chosen).model_dump(mode="json")
        row = {"workspace": place.workspace, "channel": place.channel, "settings": settings}

        def insert_or_update(connection: Connection) -> None:
            if not insert_new(connection, CHANNEL_SETTINGS, row):
                change = update(CHANNEL_SETTINGS).where(_of(place))
                connection.execute(change.values(settings=settings))

        await self._database.write(insert_or_update)


def _of(place: Place) -> Any:
    """The condition: of this channel."""
    table = CHANNEL_SETTINGS.c
    return (table.workspace == place.workspace) & (table.channel == place.channel)
