"""Brings tables up to date: each package has migrations and a version table of its own.

A new database gets the tables as they are now, at once. The steps, which ask for Alembic, are for
older ones; a test compares what comes of both.
"""

from pathlib import Path

from sqlalchemy import Connection, MetaData, inspect, text
from sqlalchemy.util import OrderedSet

from core.errors import StoreDown, StoreError, StoreMissing
from core.store.database import Database

#: Any number, the same in all processes: who migrates a server's tables holds this lock.
_LOCK = 4_007_011


async def migrate(
    database: Database, metadata: MetaData, location: Path, version_table: str
) -> None:
    """Bring the tables of one package up to date, all in one transaction.

    Args:
        database: Open.
        metadata: The tables as they are now.
        location: Folder with the package's `env.py` and `versions`.
        version_table: Where the package's version is kept.

    Raises:
        StoreError: The tables were made by a newer version of the program.
    """

    def upgrade(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        current = _version(connection, version_table)
        for table in metadata.tables.values():
            # Where two serve as well SQLite takes the index made last: always the same one.
            table.indexes = OrderedSet(sorted(table.indexes, key=lambda index: str(index.name)))
        if current is None:
            metadata.create_all(connection, checkfirst=False)
            key = f"CONSTRAINT {version_table}_pkc PRIMARY KEY (version_num)"
            connection.execute(
                text(f"CREATE TABLE {version_table} (version_num VARCHAR(32) NOT NULL, {key})")
            )
            insertion = f"INSERT INTO {version_table} VALUES (:version)"  # noqa: S608 - our own name
            connection.execute(text(insertion), {"version": newest(location)})
            return
        if current < min(_versions(location)):  # the first step brings up whatever was before it
            connection.execute(text(f"DELETE FROM {version_table}"))  # noqa: S608 - our own name
        if current < newest(location):
            take_steps(connection, location, version_table)
        _check_not_newer(current, location, database.place)

    await database.write(upgrade)


async def check_tables(database: Database, location: Path, version_table: str) -> None:
    """Make sure that one can read the tables of one package as they are; change nothing.

    Raises:
        StoreMissing: They were never made.
        StoreError: The tables were made by another version of the program; says what to do.
    """
    current = await database.read(lambda connection: _version(connection, version_table))
    if current is None:
        raise StoreMissing(f"Nothing of Moot is in the database {database.place}.")
    _check_not_newer(current, location, database.place)
    if current < newest(location):
        raise StoreDown(
            f"The database {database.place} was written by an older version of Moot (its tables "
            f"are at {current}). Start Moot once, or hold a debate with `moot debate`: that brings "
            "them up to date."
        )


def _version(connection: Connection, version_table: str) -> str | None:
    if not inspect(connection).has_table(version_table):
        return None
    read = f"SELECT version_num FROM {version_table}"  # noqa: S608 - our own name
    return connection.execute(text(read)).scalar() or ""


def _check_not_newer(current: str, location: Path, place: str) -> None:
    if current > newest(location):
        raise StoreError(
            f"The database {place} was written by a newer version of Moot "
            f"(its tables are at {current}). Update Moot, or use another database."
        )


def take_steps(connection: Connection, location: Path, version_table: str) -> None:
    """Take every step of a package's migrations that the database has not taken yet."""
    from alembic import command  # noqa: PLC0415 - slow, and hardly ever needed
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(location).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = version_table
    command.upgrade(config, "head")


def newest(location: Path) -> str:
    """The version that a package's tables have when they are up to date.

    Versions are numbers of four digits, with which the names of their files begin.
    """
    return max(_versions(location))


def _versions(location: Path) -> list[str]:
    return [file.name[:4] for file in (location / "versions").glob("[0-9]*.py")]


def run_environment(metadata: MetaData) -> None:
    """What a package's `env.py` does: run its migrations on the connection it was given."""
    from alembic import context  # noqa: PLC0415 - see `take_steps`

    attributes = context.config.attributes
    context.configure(
        connection=attributes["connection"],
        version_table=attributes["version_table"],
        target_metadata=metadata,
    )
    context.run_migrations()
