"""What workspaces refused is remembered, each feature by itself, and tried again after a while."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree

import pytest
from sqlalchemy import text

from bot.store.refused_features import FORGOTTEN_AFTER, RefusedFeatures
from bot.store.tables import MIGRATIONS, VERSION_TABLE, prepare
from core.store.database import Database
from core.store.migrate import take_steps

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
async def database(location: str) -> AsyncIterator[Database]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield database


async def test_what_one_workspace_refused_is_known_after_a_restart(database: Database) -> None:
    await RefusedFeatures(database).note("T1", ["plan"], NOW)
    await RefusedFeatures(database).note("T1", ["plan", "container"], NOW)
    known = RefusedFeatures(database)
    assert await known.of("T1", NOW) == {"plan", "container"}
    assert await known.of("T2", NOW) == frozenset()


async def test_each_feature_is_tried_again_after_its_own_time(database: Database) -> None:
    known = RefusedFeatures(database)
    await known.note("T1", ["plan"], NOW)
    await known.note("T1", ["container"], NOW + timedelta(days=1))
    later = NOW + FORGOTTEN_AFTER
    assert await known.of("T1", later) == {"container"}
    await known.note("T1", ["plan"], later)
    assert await RefusedFeatures(database).of("T1", later) == {"plan", "container"}


async def test_what_is_forgotten_is_tried_again_everywhere_at_once(database: Database) -> None:
    known = RefusedFeatures(database)
    for workspace in ("T1", "T2"):
        await known.note(workspace, ["session", "plan"], NOW)
    await known.forget("session")
    for one in (known, RefusedFeatures(database)):
        assert await one.of("T1", NOW) == await one.of("T2", NOW) == {"plan"}


async def test_refused_folds_of_earlier_versions_are_taken_over(tmp_path: Path) -> None:
    earlier = tmp_path / "migrations"
    copytree(MIGRATIONS, earlier)
    for version in (earlier / "versions").glob("0*.py"):
        if version.name >= "0008":
            version.unlink()
    location = f"sqlite+aiosqlite:///{tmp_path / 'posts.db'}"
    async with await Database.open(location) as database:
        await database.write(lambda c: take_steps(c, earlier, VERSION_TABLE))
        insert = text("INSERT INTO refused_folds VALUES ('T1', '2026-02-20 00:00:00.000000')")
        await database.write(lambda connection: connection.execute(insert))
        await prepare(database)
        assert await RefusedFeatures(database).of("T1", NOW) == {"container"}
