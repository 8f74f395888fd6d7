"""That a workspace refused newer blocks is remembered, and they are tried again after a while."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from bot.store.records import FORGOTTEN_AFTER, NewerBlocks
from bot.store.tables import prepare
from core.store.database import Database

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
async def database(location: str) -> AsyncIterator[Database]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield database


async def test_newer_blocks_are_tried_again_after_a_while(database: Database) -> None:
    newer = NewerBlocks(database)
    await newer.note("T1", NOW)
    assert not await newer.are_refused("T1", NOW + FORGOTTEN_AFTER)
    await newer.note("T1", NOW + FORGOTTEN_AFTER)
    assert await newer.are_refused("T1", NOW + FORGOTTEN_AFTER)


async def test_a_workspace_that_refused_something_else_gets_them(database: Database) -> None:
    newer = NewerBlocks(database)
    await newer.note("T1", NOW)
    await newer.note("T1", None)
    for blocks in (newer, NewerBlocks(database)):
        assert not await blocks.are_refused("T1", NOW)
