"""Settings of channels are kept."""

from collections.abc import AsyncIterator

import pytest

from bot.store.posts import Channel
from bot.store.settings import ChannelSettings
from bot.store.tables import prepare
from core.store.database import Database


@pytest.fixture
async def settings(location: str) -> AsyncIterator[ChannelSettings]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield ChannelSettings(database)


async def test_a_channel_has_no_settings_at_first(settings: ChannelSettings) -> None:
    assert await settings.get(Channel("T1", "C1")) == {}


async def test_the_last_settings_stand_each_channel_for_itself(settings: ChannelSettings) -> None:
    await settings.put(Channel("T1", "C1"), {"rounds": 2, "roles": ["architect"]})
    await settings.put(Channel("T1", "C1"), {"rounds": 3})
    await settings.put(Channel("T2", "C1"), {"rounds": 5})

    assert await settings.get(Channel("T1", "C1")) == {"rounds": 3}
    assert await settings.get(Channel("T2", "C1")) == {"rounds": 5}
