"""Maintenance of a database: the installation's secret, a test write, inspection and deletion."""

import asyncio
import re
import secrets
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, delete, inspect, select, text, tuple_, update

from core.debate.state import Status
from core.debate.turn_events import SourceRead
from core.errors import StoreMissing
from core.store.database import Database, Transactions, file_at
from core.store.lock import is_in_use
from core.store.tables import DEBATES, EVENTS, INSTALLATION, RESERVATIONS, SPENDING, insert_new

#: Names of rows.
_SECRET, _PROBE = "secret", "probe"
_SECRET_BYTES = 32
#: Seconds to wait for the write lock. Moot itself never holds it for so long.
_LOCK_SECONDS = 2.0
_SOURCE_READ = SourceRead.kind
#: Events read in one query; each may have a megabyte.
_BODIES_AT_ONCE = 16
#: An id from `new_debate_id`, also within a longer word: in JSON the escape `\n` puts a letter
#: directly before an id. The match consumes only the "d", so that overlapping ids are found too.
_AFTER_D = re.compile("d(?=([a-z2-7]{7}))")


async def installation_secret(database: Transactions) -> bytes:
    """Return the secret of this installation; all processes on its database share it."""

    def make_or_read(connection: Connection) -> bytes:
        row = {"name": _SECRET, "content": secrets.token_hex(_SECRET_BYTES)}
        insert_new(connection, INSTALLATION, row)
        query = select(INSTALLATION.c.content).where(INSTALLATION.c.name == _SECRET)
        return bytes.fromhex(str(connection.execute(query).scalar_one()))

    return await database.write(make_or_read)


async def probe(database: Database) -> None:
    """Check that the database accepts writes and is still the file that was opened."""

    def write_a_change(connection: Connection) -> None:
        values = {"name": _PROBE, "content": secrets.token_hex(4)}
        if not insert_new(connection, INSTALLATION, values):
            row = update(INSTALLATION).where(INSTALLATION.c.name == _PROBE)
            connection.execute(row.values(content=values["content"]))

    await database.write(write_a_change)


@dataclass(frozen=True, kw_only=True)
class Inspection:
    #: Version table → version of its tables. Without an entry the tables do not exist.
    versions: Mapping[str, str]
    #: SQLite's report of the damage; empty if there is none.
    damage: str = ""
    #: Whether another program holds the write lock.
    is_locked: bool = False


async def inspect_database(location: str, version_tables: Sequence[str]) -> Inspection:
    """Inspect a database without changing it. Works while the bot has it open."""
    file = file_at(location)

    def look(connection: Connection) -> tuple[Mapping[str, str], str]:
        check = text("PRAGMA integrity_check(1)" if file else "SELECT 'ok'")
        integrity = str(connection.execute(check).scalar_one())
        tables = set(inspect(connection).get_table_names())
        versions = {
            table: str(connection.execute(text(f"SELECT version_num FROM {table}")).scalar())  # noqa: S608 - our own names
            for table in version_tables
            if table in tables
        }
        return versions, "" if integrity == "ok" else integrity

    try:
        database = await Database.open_read_only(location)
    except StoreMissing:  # an empty file is an empty database
        return Inspection(versions={})
    async with database:
        versions, damage = await database.read(look)
        # A process that uses the database checks by itself that it can write, and a replaced file
        # must not be opened for writing beside the log of the previous file. As long as this
        # connection is open, closing the one in `_is_locked` does not merge the log into the file.
        is_locked = False
        if file and not is_in_use(file):
            is_locked = await asyncio.to_thread(_is_locked, file)
    return Inspection(versions=versions, damage=damage, is_locked=is_locked)


def _is_locked(path: Path) -> bool:
    """Whether the write lock cannot be taken. It is released at once."""
    address = f"{path.as_uri()}?mode=rw"
    with closing(
        sqlite3.connect(address, uri=True, timeout=_LOCK_SECONDS, isolation_level=None)
    ) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            # A file without write permission is reported by the check of its folder.
            return str(error.sqlite_errorname).startswith("SQLITE_BUSY")
    return False


@dataclass(frozen=True, kw_only=True)
class PurgeFilter:
    """Restricts a deletion; an empty field does not restrict it."""

    #: Id of the person who started the debate.
    person: str = ""
    channel: str = ""
    debate: str = ""


EVERYTHING = PurgeFilter()


def purge_debates(
    connection: Connection,
    workspace: str | None,
    before: datetime | None,
    only: PurgeFilter = EVERYTHING,
    *,
    most: int,
) -> Sequence[str]:
    """Delete debates and return their ids.

    Args:
        connection: A connection within a transaction.
        workspace: Only debates of this workspace (the terminal's is empty); None: of all.
        before: Only debates that ended before this time; None: all, running debates included.
        only: Only debates of a person, of a channel, or one debate.
        most: Maximum number of debates to delete.
    """
    query = select(DEBATES.c.id).limit(most)
    if before is not None:
        query = query.where(DEBATES.c.status != Status.RUNNING.value, DEBATES.c.ended_at < before)
    if workspace is not None:  # empty: the terminal's
        query = query.where(DEBATES.c.workspace == workspace)
    for column, value in (
        (DEBATES.c.asked_by, only.person),
        (DEBATES.c.channel, only.channel),
        (DEBATES.c.id, only.debate),
    ):
        if value:
            query = query.where(column == value)
    ids = list(connection.execute(query).scalars())
    for debate_id in ids:  # one by one: databases limit the number of values in a list
        for table in (EVENTS, RESERVATIONS, SPENDING):
            connection.execute(delete(table).where(table.c.debate_id == debate_id))
        connection.execute(delete(DEBATES).where(DEBATES.c.id == debate_id))
    return ids


async def debates_citing(database: Database, debates: Collection[str]) -> Sequence[str]:
    """Return the ids of debates that read a decision of one of these deleted debates as a source.

    Their logs still contain the text of that decision.
    """
    deleted_ids, citing_ids = frozenset(debates), set[str]()
    place, last = (EVENTS.c.debate_id, EVENTS.c.seq), ("", 0)
    query = select(*place, EVENTS.c.body).where(EVENTS.c.kind == _SOURCE_READ)
    query = query.order_by(*place).limit(_BODIES_AT_ONCE)
    while deleted_ids and (
        rows := await database.read(
            lambda c, last=last: c.execute(query.where(tuple_(*place) > last)).all()
        )
    ):
        last = (rows[-1].debate_id, rows[-1].seq)
        citing_ids |= {
            debate_id
            for debate_id, _, body in rows
            if any(f"d{match[1]}" in deleted_ids for match in _AFTER_D.finditer(body))
        }
    return sorted(citing_ids)
