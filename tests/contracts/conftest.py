"""The debate store of each database that Moot can use."""

from collections.abc import AsyncIterator

import pytest

from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare


@pytest.fixture
async def store(location: str) -> AsyncIterator[SqlDebateStore]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield SqlDebateStore(database)
