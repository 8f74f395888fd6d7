"""That a workspace refused newer blocks is remembered, and they are tried again after a while."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree

import pytest
from sqlalchemy import text

from bot.store.newer_blocks import FORGOTTEN_AFTER, NewerBlocks
from bot.store.tables import MIGRATIONS, VERSION_TABLE, prepare
from core.store.database import Database
from core.store.migrate import take_steps

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
async def database(location: str) -> AsyncIterator[Database]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield database


async def test_newer_blocks_are_tried_again_after_a_while(database: Database) -> None:
    known = NewerBlocks(database)
    await known.note("T1", NOW)
    assert not await known.are_refused("T1", NOW + FORGOTTEN_AFTER)
    await known.note("T1", NOW + FORGOTTEN_AFTER)
    assert await known.are_refused("T1", NOW + FORGOTTEN_AFTER)


async def test_a_workspace_that_refused_something_else_gets_them(database: Database) -> None:
    known = NewerBlocks(database)
    await known.note("T1", NOW)
    await known.note("T1", None)
    for blocks in (known, NewerBlocks(database)):
        assert not await blocks.are_refused("T1", NOW)


async def test_refused_blocks_of_earlier_versions_are_taken_over(tmp_path: Path) -> None:
    earlier = tmp_path / "migrations"
    copytree(MIGRATIONS, earlier)
    for version in (earlier / "versions").glob("0*.py"):
        if version.name >= "0016":
            version.unlink()
    location = f"sqlite+aiosqlite:///{tmp_path / 'posts.db'}"
    async with await Database.open(location) as database:
        await database.write(lambda c: take_steps(c, earlier, VERSION_TABLE))
        rows = (
            "('T1', 'plan', '2026-02-20 00:00:00.000000'), "
            "('T1', 'container', '2026-02-21 00:00:00.000000'), "
            "('T2', 'session', '2026-02-20 00:00:00.000000')"
        )
        insert = text(f"INSERT INTO refused_features VALUES {rows}")  # noqa: S608 - our own rows
        await database.write(lambda connection: connection.execute(insert))
        await prepare(database)
        known = NewerBlocks(database)
        assert await known.are_refused("T1", NOW)
        assert not await known.are_refused("T2", NOW)
