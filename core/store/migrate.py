"""Brings tables up to date: each package has migrations and a version table of its own.

A new database gets the tables as they are now, at once. The steps, which ask for Alembic, are for
older ones; a test compares what comes of both.
"""

from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    inspect,
    text,
)

from core.errors import StoreError
from core.store.database import Database

#: Any number, the same in all processes: who migrates a server's tables holds this lock.
_LOCK = 4_007_011


async def migrate(
    database: Database, metadata: MetaData, location: Path, version_table: str
) -> None:
    """Bring the tables of one package up to date, all in one transaction.

    Args:
        database: Open.
        metadata: The tables as they are now; what else they need is made after it was created.
        location: Folder with the package's `env.py` and `versions`.
        version_table: Where the package's version is kept.

    Raises:
        StoreError: The tables were made by a newer version of the program.
        StoreDown: The database does not answer.
    """

    def upgrade(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        if not inspect(connection).has_table(version_table):
            metadata.create_all(connection, checkfirst=False)
            version = Table(
                version_table,
                MetaData(),
                Column("version_num", String(32), nullable=False),
                PrimaryKeyConstraint("version_num", name=f"{version_table}_pkc"),
            )
            version.create(connection)
            connection.execute(version.insert().values(version_num=newest(location)))
            return
        read = f"SELECT version_num FROM {version_table}"  # noqa: S608 - our own name
        current = connection.execute(text(read)).scalar() or ""
        if current == newest(location):
            return
        if current > newest(location):
            raise StoreError(
                f"The database {database.place} was written by a newer version of Moot "
                f"(its tables are at {current}). Update Moot, or use another database."
            )
        take_steps(connection, location, version_table)

    await database.write(upgrade)


def take_steps(connection: Connection, location: Path, version_table: str) -> None:
    """Take every step of a package's migrations that the database has not taken yet."""
    # Slow, and hardly ever needed.
    from alembic import command  # noqa: PLC0415
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
    return max(file.name[:4] for file in (location / "versions").glob("[0-9]*.py"))


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
