"""Looks at a database without changing it, also while the bot has it open."""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from core.errors import StoreMissing
from core.store.database import Database, file_at
from core.store.lock import is_in_use

#: Nobody who works as we do holds the lock for so long.
_LOCK_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class Inspection:
    #: Version table → the version of its tables; empty where they were never made.
    versions: Mapping[str, str]
    #: What is damaged; empty: nothing.
    damage: str = ""
    #: Whether another program keeps everybody else from writing.
    is_locked: bool = False


async def inspect_database(location: str, version_tables: Sequence[str]) -> Inspection:
    file = file_at(location)

    def look(connection: Connection) -> Inspection:
        check = text("PRAGMA integrity_check(1)" if file else "SELECT 'ok'")
        integrity = str(connection.execute(check).scalar_one())
        tables = set(inspect(connection).get_table_names())
        versions = {
            table: str(connection.execute(text(f"SELECT version_num FROM {table}")).scalar())  # noqa: S608 - our own names
            for table in version_tables
            if table in tables
        }
        return Inspection(versions=versions, damage="" if integrity == "ok" else integrity)

    try:
        database = await Database.look_into(location)
    except StoreMissing:  # an empty file is a database in which nothing is yet
        return Inspection(versions={})
    async with database:
        found = await database.read(look)
        # A process that uses the database checks itself whether it can write. A replaced file must
        # not be opened for writing beside the log of the one before it. While this connection is
        # open, closing another one does not merge a log into the file.
        if file and not is_in_use(file):
            found = replace(found, is_locked=await asyncio.to_thread(_is_locked, file))
    return found


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
