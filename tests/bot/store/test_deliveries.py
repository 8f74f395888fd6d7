"""Deliveries are handled once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.store.records import Deliveries
from bot.store.tables import prepare
from core.store.database import Database

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture
async def deliveries(location: str) -> AsyncIterator[Deliveries]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield Deliveries(database)


async def test_a_delivery_is_new_once(deliveries: Deliveries) -> None:
    assert not await deliveries.seen("event", "Ev1", NOON)
    assert await deliveries.seen("event", "Ev1", NOON)
    assert not await deliveries.seen("trigger", "Ev1", NOON)
    assert not await deliveries.seen("event", "Ev2", NOON)


async def test_of_many_at_once_one_is_new(deliveries: Deliveries) -> None:
    answers = await asyncio.gather(*(deliveries.seen("event", "Ev1", NOON) for _ in range(50)))

    assert answers.count(False) == 1


async def test_old_deliveries_are_forgotten(deliveries: Deliveries) -> None:
    await deliveries.seen("event", "old", NOON - timedelta(days=8))
    await deliveries.seen("event", "edge", NOON - timedelta(days=7))
    await deliveries.seen("event", "new", NOON)

    assert await deliveries.purge(NOON - timedelta(days=7)) == 1
    assert not await deliveries.seen("event", "old", NOON)
    assert await deliveries.seen("event", "edge", NOON)
    assert await deliveries.seen("event", "new", NOON)
