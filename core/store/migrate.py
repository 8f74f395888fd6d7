"""Migrates tables: each package has its own migrations and its own version table.

In a new database the current tables are created directly. Only an older database runs the
migrations, which need Alembic; a test compares the results of both.
"""

from pathlib import Path

from sqlalchemy import Connection, MetaData, inspect, text
from sqlalchemy.util import OrderedSet

from core.errors import StoreDown, StoreError, StoreMissing
from core.store.database import Database

#: Key of the advisory lock that a process holds while it migrates a server's tables. Arbitrary.
_LOCK = 4_007_011


async def migrate(
    database: Database, metadata: MetaData, location: Path, version_table: str
) -> None:
    """Migrate the tables of one package to the current version, in one transaction.

    Args:
        database: An open database.
        metadata: The current tables.
        location: Folder with the package's `env.py` and `versions`.
        version_table: Name of the table with the package's version.

    Raises:
        StoreError: The tables were made by a newer version of the program.
    """

    def upgrade(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        current = _version(connection, version_table)
        for table in metadata.tables.values():
            # Of two equally good indexes SQLite uses the one created last: fix the order.
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
        if current < min(_versions(location)):  # the first migration handles all older versions
            connection.execute(text(f"DELETE FROM {version_table}"))  # noqa: S608 - our own name
        if current < newest(location):
            take_steps(connection, location, version_table)
        _check_not_newer(current, location, database.place)

    await database.write(upgrade)


async def check_tables(database: Database, location: Path, version_table: str) -> None:
    """Check that this version of Moot can read the tables of one package. Changes nothing.

    Raises:
        StoreMissing: The tables do not exist.
        StoreError: Another version of Moot wrote the tables. The text says what to do.
    """
    current = await database.read(lambda connection: _version(connection, version_table))
    if current is None:
        raise StoreMissing(f"The database {database.place} contains no tables of Moot.")
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
    query = f"SELECT version_num FROM {version_table}"  # noqa: S608 - our own name
    return connection.execute(text(query)).scalar() or ""


def _check_not_newer(current: str, location: Path, place: str) -> None:
    if current > newest(location):
        raise StoreError(
            f"The database {place} was written by a newer version of Moot "
            f"(its tables are at {current}). Update Moot, or use another database."
        )


def take_steps(connection: Connection, location: Path, version_table: str) -> None:
    """Run the migrations of a package that the database has not run yet."""
    from alembic import command  # noqa: PLC0415 - slow to import and rarely needed
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(location).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = version_table
    command.upgrade(config, "head")


def newest(location: Path) -> str:
    """Return the newest version of a package's tables.

    Versions have four digits; the name of each migration's file begins with them.
    """
    return max(_versions(location))


def _versions(location: Path) -> list[str]:
    return [file.name[:4] for file in (location / "versions").glob("[0-9]*.py")]


def run_environment(metadata: MetaData) -> None:
    """Run a package's migrations on the connection from Alembic's config. For its `env.py`."""
    from alembic import context  # noqa: PLC0415 - see `take_steps`

    attributes = context.config.attributes
    context.configure(
        connection=attributes["connection"],
        version_table=attributes["version_table"],
        target_metadata=metadata,
    )
    context.run_migrations()
