"""Deliveries are handled once and forgotten in time; refusals and settings are kept."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.store.records import KEPT, ChannelSettings, Deliveries, deleting_daily
from bot.store.tables import CHANNEL_SETTINGS, prepare
from core.debate.people import Place
from core.store.database import Database
from core.store.tables import insert_new
from core.testing import ManualClock
from core.use_cases.choices import ChannelChoices

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Days(ManualClock):
    """A clock that tells when a day has been slept away."""

    def __init__(self) -> None:
        super().__init__()
        self.slept = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.set()
        await asyncio.sleep(seconds)


@pytest.fixture
async def database(location: str) -> AsyncIterator[Database]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield database


async def test_a_delivery_is_new_once(database: Database) -> None:
    deliveries = Deliveries(database)
    assert not await deliveries.seen("event", "Ev1", NOW)
    assert await deliveries.seen("event", "Ev1", NOW)
    assert not await deliveries.seen("trigger", "Ev1", NOW)
    answers = await asyncio.gather(*(deliveries.seen("event", "Ev2", NOW) for _ in range(50)))
    assert answers.count(False) == 1


async def test_old_deliveries_go_and_young_ones_stay(database: Database) -> None:
    deliveries, clock = Deliveries(database), Days()
    edge = clock.now() - KEPT
    await deliveries.seen("event", "old", edge - timedelta(seconds=1))
    await deliveries.seen("event", "edge", edge)
    async with deleting_daily(deliveries, clock):
        await clock.slept.wait()

    assert not await deliveries.seen("event", "old", clock.now())
    assert await deliveries.seen("event", "edge", clock.now())


async def test_settings_that_can_no_longer_be_read_are_none(database: Database) -> None:
    here = Place(surface="slack", workspace="T1", channel="C1")
    broken = {"workspace": "T1", "channel": "C1", "settings": {"stewards": 3}}
    await database.write(lambda c: insert_new(c, CHANNEL_SETTINGS, broken))
    assert await ChannelSettings(database).get(here) == ChannelChoices()
