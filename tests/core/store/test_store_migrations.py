"""The tables: made by the migrations, the same as the program describes them."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, inspect

from bot.store import tables as bot_tables
from core.errors import StoreError
from core.store import tables as core_tables
from core.store.database import Database
from core.store.migrate import newest

Prepare = Callable[[Database], Awaitable[None]]
PACKAGES = [
    pytest.param(core_tables.prepare, core_tables.METADATA, core_tables.VERSION_TABLE, id="core"),
    pytest.param(bot_tables.prepare, bot_tables.METADATA, bot_tables.VERSION_TABLE, id="bot"),
]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/100%.db") as opened:
        yield opened


def table_names(connection: Connection) -> set[str]:
    """All tables but those that make up the full-text one: no metadata describes them."""
    names = inspect(connection).get_table_names()
    return {name for name in names if not name.startswith("debate_words")}


def is_ours(name: object, *_: object) -> bool:
    """A full-text table is made of several, and described by none of ours."""
    return not str(name).startswith("debate_words")


@pytest.mark.parametrize(("prepare", "metadata", "version_table"), PACKAGES)
async def test_migrations_make_the_tables_the_program_describes(
    database: Database, prepare: Prepare, metadata: MetaData, version_table: str
) -> None:
    await prepare(database)

    def differences(connection: Connection) -> list[object]:
        options: dict[str, object] = {
            "version_table": version_table,
            "compare_type": True,
            "include_name": is_ours,
        }
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)

    assert await database.read(differences) == []
    assert await database.read(table_names) == {*metadata.tables, version_table}


async def test_both_packages_keep_their_tables_in_one_database(database: Database) -> None:
    for _ in range(2):
        await core_tables.prepare(database)
        await bot_tables.prepare(database)

    assert {"debates", "events", "posts", "deliveries"} <= await database.read(table_names)


@pytest.mark.parametrize(("prepare", "metadata", "version_table"), PACKAGES)
async def test_a_database_of_a_newer_program_is_refused_and_left_alone(
    database: Database, prepare: Prepare, metadata: MetaData, version_table: str
) -> None:
    await prepare(database)
    await database.write(
        lambda c: c.exec_driver_sql(f"UPDATE {version_table} SET version_num = '9999'")  # noqa: S608 - ours
    )

    with pytest.raises(StoreError, match=r"newer version of Moot .*9999.*Update Moot"):
        await prepare(database)


@pytest.mark.parametrize("tables", [core_tables, bot_tables])
def test_the_steps_form_one_line(tables: object) -> None:
    location = getattr(tables, "MIGRATIONS")  # noqa: B009 - both modules have it
    heads = ScriptDirectory(str(location)).get_heads()

    assert heads == [newest(Path(str(location)))]


async def test_where_the_tables_are_up_to_date_nothing_that_migrates_is_loaded(
    tmp_path: Path,
) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with await Database.open(url) as opened:
        await core_tables.prepare(opened)
    program = f"""
import asyncio, sys
from core.store.database import Database
from core.store.tables import prepare

async def main():
    async with await Database.open({url!r}) as database:
        await prepare(database)
    print("alembic" in sys.modules)

asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=PIPE)
    said, _ = await process.communicate()

    assert said == b"False\n"
