"""Looks at a database without changing it, also while the bot has it open."""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from core.errors import StoreDown, StoreMissing
from core.store.database import Database
from core.store.lock import check_there, is_in_use

_PATIENCE_SECONDS = 5.0
#: Nobody who works as we do holds the lock for so long.
_LOCK_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What was found."""

    #: Version table → the version of its tables; empty where they were never made.
    versions: Mapping[str, str]
    #: What is damaged; empty: nothing.
    damage: str = ""
    #: Whether another program keeps everybody else from writing.
    is_locked: bool = False


async def inspect_file(path: Path, version_tables: Sequence[str]) -> Inspection:
    """Look at an SQLite file that is there.

    Raises:
        StoreDown: It is no database, cannot be read, or was put in the place of another one.
    """

    def look() -> Inspection:
        with suppress(StoreMissing):  # an empty file is a database in which nothing is yet
            check_there(path)
        # Read only: no lock is taken, no database is made.
        address = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE_SECONDS)) as connection:
            integrity = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            versions = {
                table: str(connection.execute(f"SELECT version_num FROM {table}").fetchone()[0])  # noqa: S608 - our own names
                for table in version_tables
                if table in tables
            }
            # A process that uses the database checks itself whether it can write. A replaced file
            # must not be opened for writing beside the log of the one before it. While this
            # connection is open, closing another one does not merge a log into the file.
            is_locked = not is_in_use(path) and _is_locked(path)
        damage = "" if integrity == "ok" else integrity
        return Inspection(versions=versions, damage=damage, is_locked=is_locked)

    try:
        return await asyncio.to_thread(look)
    except sqlite3.Error as error:
        raise StoreDown(f"{path} cannot be read as a database ({error}).") from None


def _is_locked(path: Path) -> bool:
    """Whether the right to write cannot be had; it is given back at once."""
    address = f"{path.absolute().as_uri()}?mode=rw"
    with closing(
        sqlite3.connect(address, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)
    ) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            # What may not be written at all is told by who looks at its folder.
            return str(error.sqlite_errorname).startswith("SQLITE_BUSY")
    return False


async def inspect_server(location: str, version_tables: Sequence[str]) -> Inspection:
    """Look at a database on a server.

    Raises:
        StoreDown: It does not answer.
        ConfigurationBroken: The location cannot be understood.
    """

    def look(connection: Connection) -> Inspection:
        tables = set(inspect(connection).get_table_names())
        versions = {
            table: str(connection.execute(text(f"SELECT version_num FROM {table}")).scalar())  # noqa: S608 - our own names
            for table in version_tables
            if table in tables
        }
        return Inspection(versions=versions)

    async with await Database.open(location) as database:
        return await database.read(look)
