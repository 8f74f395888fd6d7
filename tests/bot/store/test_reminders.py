"""Dates on which people are reminded of decisions are kept until they were."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from bot.store.reminders import Reminders
from bot.store.tables import prepare
from core.store.database import Database
from core.use_cases.remind import Reminder

DUE = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


@pytest.fixture
async def reminders(location: str) -> AsyncIterator[Reminders]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield Reminders(database)


async def test_a_date_is_due_from_its_time_on_and_not_before(reminders: Reminders) -> None:
    await reminders.put(Reminder("d1", "V1", DUE))
    assert await reminders.due(datetime(2026, 3, 1, 7, 59, tzinfo=UTC)) == []
    assert await reminders.due(DUE) == [Reminder("d1", "V1", DUE)]


async def test_the_first_date_of_a_decision_stays_and_forgotten_it_is_gone(
    reminders: Reminders,
) -> None:
    later = datetime(2026, 4, 1, tzinfo=UTC)
    await reminders.put(Reminder("d1", "V1", DUE))
    await reminders.put(Reminder("d1", "V1", later))
    (due,) = await reminders.due(later)
    assert due.due_at == DUE
    await reminders.forget(due)
    assert await reminders.due(later) == []
