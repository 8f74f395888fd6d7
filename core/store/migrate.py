"""Brings tables up to date: each package has migrations and a version table of its own."""

from pathlib import Path

from alembic import command, context
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, text

from core.errors import StoreError
from core.store.database import Database

#: Any number, the same in all processes: who migrates a server's tables holds this lock.
_LOCK = 4_007_011


async def migrate(database: Database, location: Path, version_table: str) -> None:
    """Bring the tables of one package up to date, all in one transaction.

    Args:
        database: Open.
        location: Folder with the package's `env.py` and `versions`.
        version_table: Where the package's version is kept.

    Raises:
        StoreError: The tables were made by a newer version of the program.
        StoreDown: The database does not answer.
    """

    def upgrade(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        config = Config()
        config.set_main_option("script_location", str(location).replace("%", "%%"))
        config.attributes["connection"] = connection
        config.attributes["version_table"] = version_table
        _refuse_newer(connection, config, version_table, database.place)
        command.upgrade(config, "head")

    await database.write(upgrade)


def newest(location: Path) -> str:
    """The version that a package's tables have when they are up to date."""
    config = Config()
    config.set_main_option("script_location", str(location).replace("%", "%%"))
    return ScriptDirectory.from_config(config).get_current_head() or ""


def _refuse_newer(connection: Connection, config: Config, version_table: str, place: str) -> None:
    """Raise if the database has a version this program does not know."""
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    options = {"version_table": version_table}
    current = MigrationContext.configure(connection, opts=options).get_current_heads()
    newer = sorted(set(current) - known)
    if newer:
        raise StoreError(
            f"The database {place} was written by a newer version of Moot "
            f"(its tables are at {newer[0]}). Update Moot, or use another database."
        )


def run_environment(metadata: MetaData) -> None:
    """What a package's `env.py` does: run its migrations on the connection it was given."""
    attributes = context.config.attributes
    context.configure(
        connection=attributes["connection"],
        version_table=attributes["version_table"],
        target_metadata=metadata,
    )
    context.run_migrations()
