"""Who only reads debates changes no database, and loses nothing of one that was moved away."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from shutil import copy

import pytest

from bot.building import database_url, open_records, open_store
from bot.operations.backup import back_up, restore
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.errors import StoreDown
from core.ports import DebateFilter
from core.store.tables import VERSION_TABLE
from core.store.upkeep import inspect_database
from core.testing import a_setup

DEBATE = "dabc2345"


async def found_in(location: Path | str) -> Sequence[str]:
    """The debates that a reader finds."""
    async with open_records(str(location)) as store:
        return [entry.debate_id for entry in await store.find(DebateFilter(limit=9))]


@pytest.fixture
async def killed(tmp_path: Path) -> Path:
    """The database of a process that was killed: its debate stands in the log beside it only."""
    running, database = tmp_path / "running.db", tmp_path / "moot.db"
    async with open_store(str(running)):
        pass  # with its tables in the file
    async with open_store(str(running)) as store:
        started = DebateStarted(setup=a_setup())
        await store.create(DEBATE, started, origin="x", at=SystemClock().now())
        for ending in ("", "-wal"):
            copy(f"{running}{ending}", f"{database}{ending}")
    return database


@pytest.mark.parametrize("stands_there", ["nothing", "an empty file", "a copy"])
async def test_the_log_of_a_file_that_was_moved_away_is_kept(
    killed: Path, stands_there: str
) -> None:
    file, log, aside = (killed.with_name(name) for name in ("moot.db", "moot.db-wal", "aside.db"))
    content = log.read_bytes()
    file.rename(aside)
    if stands_there == "a copy":
        copy(aside, file)
        await found_in(file)
        await inspect_database(database_url(str(file)), [VERSION_TABLE])
        assert file.read_bytes() == aside.read_bytes()
    else:
        if stands_there == "an empty file":
            file.touch()
            with pytest.raises(StoreDown, match=r"is empty, and moot\.db-wal beside it holds"):
                await inspect_database(database_url(str(file)), [VERSION_TABLE])
        with pytest.raises(StoreDown, match=r"moot\.db-wal beside it holds what was written last"):
            await found_in(file)
    assert log.read_bytes() == content
    aside.rename(file)

    assert await found_in(file) == [DEBATE]


@pytest.mark.parametrize("stands_there", ["nothing", "an empty file"])
async def test_who_writes_keeps_the_log_of_a_file_that_was_moved_away(
    killed: Path, stands_there: str
) -> None:
    file, log, aside = (killed.with_name(name) for name in ("moot.db", "moot.db-wal", "aside.db"))
    content = log.read_bytes()
    file.rename(aside)
    if stands_there == "an empty file":
        file.touch()
    with pytest.raises(StoreDown, match=r"Put the file back that it belongs to, or move both"):
        async with open_store(str(file)):
            pass

    assert log.read_bytes() == content
    assert file.exists() is (stands_there == "an empty file")
    aside.rename(file)
    async with open_store(str(file)) as store:
        assert [entry.debate_id for entry in await store.find(DebateFilter(limit=9))] == [DEBATE]


async def test_a_backup_can_be_restored_beside_the_log_of_a_file_that_was_moved_away(
    killed: Path,
) -> None:
    file, log = (killed.with_name(name) for name in ("moot.db", "moot.db-wal"))
    copied, content = killed.with_name("backup.db"), log.read_bytes()
    back_up(str(file), copied)
    log.write_bytes(content)
    file.write_bytes(b"")
    with pytest.raises(StoreDown, match=r"is empty, and moot\.db-wal beside it holds"):
        back_up(str(file), killed.with_name("another.db"))
    assert log.read_bytes() == content
    aside = await asyncio.to_thread(restore, str(file), copied)

    assert aside
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == content
    assert await found_in(file) == [DEBATE]
