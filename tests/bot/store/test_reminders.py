"""Dates to look at decisions again are kept until people were reminded."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime

import pytest

from bot.store.reminders import Reminders
from bot.store.tables import prepare
from core.models import Decision, DecisionKind, Person
from core.store.database import Database

DANA = Person(id="U1")


@pytest.fixture
async def reminders(location: str) -> AsyncIterator[Reminders]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield Reminders(database)


def revisit(day: date | None, origin: str = "V1") -> Decision:
    return Decision(kind=DecisionKind.REVISIT, by=DANA, revisit_on=day, origin=origin)


async def test_a_date_is_due_in_the_morning_of_its_day_and_not_before(reminders: Reminders) -> None:
    await reminders.put("d1", revisit(date(2026, 3, 1)))
    assert await reminders.due(datetime(2026, 3, 1, 7, 59, tzinfo=UTC)) == []
    (due,) = await reminders.due(datetime(2026, 3, 1, 8, 0, tzinfo=UTC))
    assert (due.debate_id, due.decision) == ("d1", "V1")


async def test_the_same_date_twice_is_one_and_forgotten_it_is_gone(reminders: Reminders) -> None:
    later = datetime(2026, 4, 1, tzinfo=UTC)
    await reminders.put("d1", revisit(date(2026, 3, 1)))
    await reminders.put("d1", revisit(date(2026, 3, 1)))
    (due,) = await reminders.due(later)
    await reminders.forget(due)
    assert await reminders.due(later) == []


async def test_a_decision_without_a_date_reminds_nobody(reminders: Reminders) -> None:
    await reminders.put("d1", revisit(None))
    assert await reminders.due(datetime(2100, 1, 1, tzinfo=UTC)) == []
