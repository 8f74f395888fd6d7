"""Contract of `ChannelChoicesStore`, for each implementation."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.records import ChannelSettings
from bot.store.tables import prepare
from core.debate.people import Place
from core.store.database import Database
from core.testing import InMemoryChannelChoices
from core.use_cases.choices import ChannelChoices, ChannelChoicesStore, Choices

HERE = Place(surface="slack", workspace="T1", channel="C1")


@pytest.fixture(params=["memory", "sqlite"])
async def channels(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[ChannelChoicesStore]:
    if request.param == "memory":
        yield InMemoryChannelChoices()
        return
    database = await Database.open(f"sqlite+aiosqlite:///{tmp_path}/moot.db")
    try:
        await prepare(database)
        yield ChannelSettings(database)
    finally:
        await database.close()


async def test_a_channel_that_set_nothing_has_the_usual(channels: ChannelChoicesStore) -> None:
    assert await channels.get(HERE) == ChannelChoices()


async def test_the_last_one_who_sets_something_wins(channels: ChannelChoicesStore) -> None:
    await channels.put(HERE, ChannelChoices(keep_pinned=True, stewards=("U1",)))
    await channels.put(HERE, ChannelChoices(choices=Choices(rounds=3)))

    assert await channels.get(HERE) == ChannelChoices(choices=Choices(rounds=3))


@pytest.mark.parametrize("change", [{"channel": "C2"}, {"workspace": "T2"}])
async def test_other_channels_and_workspaces_do_not_have_it(
    channels: ChannelChoicesStore, change: dict[str, str]
) -> None:
    await channels.put(HERE, ChannelChoices(keep_pinned=True))

    assert not (await channels.get(HERE.model_copy(update=change))).keep_pinned
