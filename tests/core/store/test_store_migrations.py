"""Migrations: their tables equal the tables that the program defines."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from inline_snapshot import external_file
from sqlalchemy import Connection, MetaData, Table, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from bot.building import database_url
from bot.store import tables as bot_tables
from bot.store.search import DebateWords
from bot.store.tables import Channel
from core.errors import StoreError
from core.store import tables as core_tables
from core.store.database import Database
from core.store.migrate import newest, take_steps
from tests.postgres import PostgresForTests


@dataclass(frozen=True)
class Package:
    """A package's tables as the program describes them, and the steps that lead there."""

    prepare: Callable[[Database], Awaitable[None]]
    metadata: MetaData
    location: Path
    version_table: str

    def take_steps(self, connection: Connection) -> None:
        """Run all migrations on an empty database."""
        take_steps(connection, self.location, self.version_table)


CORE, BOT = (
    Package(tables.prepare, tables.METADATA, tables.MIGRATIONS, tables.VERSION_TABLE)
    for tables in (core_tables, bot_tables)
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/100%.db") as opened:
        yield opened


def is_ours(name: str) -> bool:
    """A full-text table is made of several, and described by none of ours."""
    return not name.startswith("debate_words")


def table_names(connection: Connection) -> set[str]:
    return set(filter(is_ours, inspect(connection).get_table_names()))


def layout(connection: Connection) -> object:
    """All that a database says about its tables, their columns in order, and their indexes."""
    inspector = inspect(connection)
    tables = {
        name: (
            [{**column, "type": str(column["type"])} for column in inspector.get_columns(name)],
            inspector.get_pk_constraint(name),
            inspector.get_foreign_keys(name),
            sorted(inspector.get_unique_constraints(name), key=str),
            sorted(inspector.get_check_constraints(name), key=str),
        )
        for name in inspector.get_table_names()
        if is_ours(name) or connection.dialect.name == "postgresql"
    }
    if connection.dialect.name == "postgresql":
        indexes = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
    else:
        indexes = (
            "SELECT name, CASE WHEN type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' "
            "THEN instr(sql, 'AUTOINCREMENT') > 0 ELSE sql END FROM sqlite_master"
        )
    return tables, sorted(map(tuple, connection.execute(text(indexes))), key=str)


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def locations(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives the location of a new, empty database each time."""
    if request.param == "SQLite":
        numbers = count()
        return lambda: f"sqlite+aiosqlite:///{tmp_path}/{next(numbers)}.db"
    postgres: PostgresForTests = request.getfixturevalue("postgres")
    return lambda: database_url(postgres.fresh_database())


@pytest.mark.parametrize("package", [CORE, BOT])
async def test_a_new_database_is_what_all_the_steps_would_have_made_of_it(
    package: Package, locations: Callable[[], str]
) -> None:
    async with (
        await Database.open(locations()) as at_once,
        await Database.open(locations()) as by_steps,
    ):
        await package.prepare(at_once)
        await by_steps.write(package.take_steps)

        assert await at_once.read(layout) == await by_steps.read(layout)

        read = f"SELECT version_num FROM {package.version_table}"  # noqa: S608 - ours
        for item in (at_once, by_steps):
            versions = await item.read(lambda c: c.exec_driver_sql(read).scalars().all())
            assert versions == [newest(package.location)]
    assert ScriptDirectory(str(package.location)).get_heads() == [newest(package.location)]


@pytest.mark.parametrize("package", [CORE, BOT], ids=["core", "bot"])
def test_changed_tables_have_a_new_version(package: Package) -> None:
    """A column without a migration would be missing in every database of the present version.

    After a migration: delete the old file, and accept the new one, whose name has the new version.
    """
    statements = [
        CreateTable(item) if isinstance(item, Table) else CreateIndex(item)
        for table in package.metadata.sorted_tables
        for item in (table, *sorted(table.indexes, key=lambda index: str(index.name)))
    ]
    ddl = (str(item.compile(dialect=sqlite.dialect())).strip() for item in statements)
    layout_text = re.sub(r" +$", "", "\n\n".join(ddl), flags=re.MULTILINE).replace("\t", "    ")
    name = f"{package.version_table}-{newest(package.location)}.sql"

    assert f"{layout_text}\n" == external_file(f"../../golden/tables/{name}", format=".txt")


@pytest.mark.parametrize("version", ["0001", "0003"])
async def test_an_older_log_gets_the_tables_and_columns_it_lacks(
    database: Database, version: str
) -> None:
    await CORE.prepare(database)
    await BOT.prepare(database)  # both keep their tables in one database
    lacking = ["ALTER TABLE debates DROP COLUMN token_id"]
    if version == "0001":
        lacking += [f"DROP TABLE {table}" for table in ("spending", "installation", "reservations")]
    else:
        lacking += ["ALTER TABLE spending DROP COLUMN token_id"]
    stamp = f"UPDATE {CORE.version_table} SET version_num = '{version}'"  # noqa: S608 - ours
    for statement in (*lacking, stamp):
        await database.write(lambda c, made=statement: c.exec_driver_sql(made))

    await CORE.prepare(database)

    assert table_names_of(CORE) <= await database.read(table_names)
    columns = await database.read(lambda c: inspect(c).get_columns("spending"))
    assert "token_id" in [column["name"] for column in columns]


def table_names_of(package: Package) -> set[str]:
    return {*package.metadata.tables, package.version_table}


#: Tables of the bot's earlier versions, as far as what is in them is taken over.
OLDER = (
    "CREATE TABLE moot_bot_version (version_num VARCHAR(32) NOT NULL)",
    (
        "CREATE TABLE posts (id INTEGER PRIMARY KEY, key TEXT, workspace TEXT, channel TEXT, "
        "debate_id TEXT, thread_key TEXT, method TEXT, payload JSON, state TEXT, version INTEGER, "
        "life TEXT, attempted_at TIMESTAMP, attempts INTEGER, ts TEXT, error TEXT)"
    ),
    (
        "CREATE VIRTUAL TABLE debate_words USING fts5(debate_id UNINDEXED, workspace UNINDEXED, "
        "channel UNINDEXED, words, tokenize = 'unicode61 remove_diacritics 2')"
    ),
    "CREATE TABLE registers (workspace TEXT, channel TEXT, canvas TEXT)",
    (
        "INSERT INTO posts VALUES (1, 'd1/line', 'T1', 'C1', 'd1', NULL, 'post', "
        "'{\"text\": \"Hi\"}', 'waiting', 1, NULL, NULL, 0, NULL, NULL)"
    ),
    "INSERT INTO debate_words VALUES ('d1', 'T1', 'C1', 'Kafka?'), ('d2', 'T1', 'C1', 'Kafka?')",
)
LATER = (
    "CREATE TABLE refused_features (workspace TEXT, feature TEXT, at TIMESTAMP)",
    "ALTER TABLE posts ADD COLUMN urgent BOOLEAN NOT NULL DEFAULT 0",
)


@pytest.mark.parametrize(("version", "more"), [("0003", ()), ("0013", LATER)])
async def test_the_bots_first_step_brings_up_whatever_was_before_it(
    database: Database, version: str, more: tuple[str, ...]
) -> None:
    stamp = f"INSERT INTO moot_bot_version VALUES ('{version}')"  # noqa: S608 - ours
    for statement in (*OLDER, *more, stamp):
        await database.write(lambda c, made=statement: c.exec_driver_sql(made))

    await BOT.prepare(database)

    assert await database.read(table_names) == table_names_of(BOT)
    key = await database.read(lambda c: c.exec_driver_sql("SELECT key, state FROM queue").all())
    assert [tuple(row) for row in key] == [("d1/line", "waiting")]
    words, here = DebateWords(database), Channel("T1", "C1")
    await words.put("d1", here, "Use PostgreSQL.")
    hits = await words.find("T1", ["C1"], "kafka", 10)
    assert [hit.debate_id for hit in hits] == ["d2"]


@pytest.mark.parametrize("package", [CORE, BOT])
async def test_a_database_of_a_newer_version_is_refused_and_unchanged(
    database: Database, package: Package
) -> None:
    await package.prepare(database)
    newer = f"UPDATE {package.version_table} SET version_num = '9999'"  # noqa: S608 - ours
    await database.write(lambda c: c.exec_driver_sql(newer))

    with pytest.raises(StoreError, match=r"newer version of Moot .*9999.*Update Moot"):
        await package.prepare(database)
