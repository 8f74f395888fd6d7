"""Settings of channels are kept."""

from collections.abc import AsyncIterator

import pytest

from bot.store.records import ChannelSettings
from bot.store.tables import CHANNEL_SETTINGS, prepare
from core.models import Place
from core.store.columns import insert_new
from core.store.database import Database
from core.use_cases.choices import ChannelChoices


@pytest.fixture
async def settings(location: str) -> AsyncIterator[ChannelSettings]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield ChannelSettings(database)


HERE = Place(surface="slack", workspace="T1", channel="C1")


async def test_settings_that_can_no_longer_be_read_are_none(location: str) -> None:
    async with await Database.open(location) as database:
        await prepare(database)
        broken = {"workspace": "T1", "channel": "C1", "settings": {"stewards": 3}}
        await database.write(lambda c: insert_new(c, CHANNEL_SETTINGS, broken))

        assert await ChannelSettings(database).get(HERE) == ChannelChoices()
