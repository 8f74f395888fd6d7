"""Opens, reads, writes and closes a database that has many writers.

The same code serves SQLite (one process; a single writer commits waiting writes in batches) and
PostgreSQL (several processes; each write is a transaction of its own, retried if that can help).
"""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError

from core.errors import ConfigurationBroken, StoreDown, StoreMissing
from core.store.engines import (
    FILE_FORM,
    BatchingWriter,
    RepeatingWriter,
    postgres_engine,
    sqlite_reader,
    sqlite_writer,
)
from core.store.failures import is_passing
from core.store.lock import FileLock, check_no_orphan_log, is_in_use

T = TypeVar("T")

#: Free pages returned to the disk in one transaction: 4 MB. Other writers wait some milliseconds.
_PAGES_AT_ONCE = 500
#: Driver names as written in the setting of the database's location.
_SQLITE = "sqlite+aiosqlite"
_POSTGRES = "postgresql+psycopg"


class Transactions(Protocol):
    """Runs functions that take a `Connection`, each in a transaction. `Database` implements it."""

    async def write(self, work: Callable[[Connection], T]) -> T: ...

    async def read(self, work: Callable[[Connection], T]) -> T: ...


class Database:
    """An open database. Created by `Database.open`, closed by `close` or by leaving `async with`.

    `work` is a function that takes a SQLAlchemy `Connection`. It may run more than once (after a
    failed batch or a restart of the server), so it must change nothing outside the database.
    """

    def __init__(
        self,
        place: str,
        reader: RepeatingWriter,
        writer: RepeatingWriter | None = None,
        *,
        lock: FileLock | None = None,
    ) -> None:
        """Called by `Database.open`. Only a file that is opened for writing has a lock.

        `place` names the database for people, without a password.
        """
        self.place, self._reader, self._lock = place, reader, lock
        self._file = Path(place) if lock else None
        self._identity = _file_identity(self._file) if self._file else None
        self._writer = writer or self._file_writer()

    @classmethod
    async def open(cls, location: str) -> "Database":
        """Open the database at `sqlite+aiosqlite:///path` or `postgresql+psycopg://…`.

        An SQLite file is created if there is none (its folder must exist) and locked against
        other processes until `close`.

        Raises:
            ConfigurationBroken: The location is not a valid URL of a database.
            StoreDown: The database cannot be opened. The text says why and what to do.
        """
        file = file_at(location)
        if file is None:
            return await _checked(_on_server(location))
        check_no_orphan_log(file)  # a new database would destroy the log
        lock = FileLock(file)
        # No retries: an error of the disk would only happen again.
        reader = RepeatingWriter(sqlite_reader(file), str(file))
        return await _checked(cls(str(file), reader, lock=lock))

    @classmethod
    async def open_read_only(cls, location: str) -> "Database":
        """Open a database for reading only, while another process may write to it.

        The file and its write-ahead log do not change. If there is no log, SQLite creates an empty
        one and its index (`-wal`, `-shm`) and leaves them there.

        Raises:
            ConfigurationBroken: The location is not a valid URL of a database.
            StoreMissing: The file does not exist or is empty, and no process uses it.
            StoreDown: The database cannot be opened. The text says why and what to do.
        """
        file = file_at(location)
        if file is None:
            return await _checked(_on_server(location))
        if state := check_no_orphan_log(file):
            if is_in_use(file):
                raise StoreDown(
                    f"A process uses the database {file}, but the file is {state}: it was "
                    "moved, deleted or replaced. Put it back, or stop Moot and restore a backup."
                )
            raise StoreMissing(f"The database {file} is {state}.")
        # Another process may hold the file's lock: the read-only connection serves as writer too,
        # so that a write fails.
        reader = RepeatingWriter(sqlite_reader(file, "ro"), str(file))
        return await _checked(cls(str(file), reader, reader))

    @property
    def is_shared(self) -> bool:
        return self._file is None

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction. Its changes are durable when this returns.

        If the caller is cancelled while it waits, the transaction is committed or not, as a whole.
        After an error nothing was written.
        """
        return await self._writer.run(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work`, which only reads.

        In SQLite all its statements see one snapshot of the database. In PostgreSQL each statement
        sees what was committed before it began (READ COMMITTED).
        """
        self.check_file()  # a read must not answer from another file
        return await self._reader.run(work)

    async def clean(self) -> None:
        """Erase deleted rows from the file and its write-ahead log by rewriting the file.

        Requires that nothing else uses the database. Does nothing on a server: its own VACUUM
        reclaims the space.
        """
        file = self._file
        if file is None:
            return

        def vacuum() -> None:
            with closing(sqlite3.connect(file, isolation_level=None)) as connection:
                # The page size cannot change in WAL mode. Leaving WAL mode also empties the log,
                # and fails while another connection is open.
                for pragma in ("journal_mode=DELETE", *FILE_FORM):
                    connection.execute(f"PRAGMA {pragma}")
                connection.execute("VACUUM")

        try:
            await self._writer.close()
            await self._reader.close()  # it reconnects at its next use
            await asyncio.to_thread(vacuum)
        except sqlite3.Error as error:
            raise StoreDown(f"The database {self.place} was not cleaned: {error}.") from error
        finally:
            self._writer = self._file_writer()

    def _file_writer(self) -> BatchingWriter:
        return BatchingWriter(sqlite_writer(Path(self.place)), self.place, self.check_file)

    async def shrink(self) -> None:
        """Return free pages to the disk in small transactions, so that other writes can go on.

        A file that an earlier version created keeps its size until `clean` has rewritten it; new
        rows use its free pages first. Does nothing on a server, which has its own VACUUM.
        """
        if self._file is None:
            return
        free = await self.write(_free_some_pages)
        while free and (remaining := await self.write(_free_some_pages)) < free:
            free = remaining
        await self.empty_write_ahead_log()

    async def empty_write_ahead_log(self) -> None:
        """Move SQLite's write-ahead log into the file and truncate it, unless a reader uses it."""
        if self._file is not None:
            await self.read(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())

    def check_file(self) -> None:
        """Raise `StoreDown` unless the path still leads to the file that was opened.

        The process could go on writing to a deleted or replaced file, and those writes would be
        lost. Called before each transaction.
        """
        if self._file and _file_identity(self._file) != self._identity:
            raise StoreDown(
                f"The database file {self.place} was deleted or replaced while Moot was using it. "
                "Put the file back, or stop Moot and restore a backup. Until then nothing is "
                "written."
            )

    async def close(self) -> None:
        """Finish waiting writes, close all connections and release the lock. Safe to call twice.

        Completes even if the caller is cancelled: a half-closed connection would outlive the event
        loop.
        """
        closing_task, is_cancelled = asyncio.create_task(self._close_all()), False
        while not closing_task.done():
            try:
                await asyncio.wait([closing_task])
            except asyncio.CancelledError:
                is_cancelled = True
        closing_task.result()
        if is_cancelled:
            raise asyncio.CancelledError

    async def _close_all(self) -> None:
        async with AsyncExitStack() as exit_stack:
            if self._lock is not None:
                exit_stack.callback(self._lock.release)
            exit_stack.push_async_callback(self._reader.close)
            exit_stack.push_async_callback(self._writer.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


_WRONG_LOCATION = (
    "The location of the database (MOOT_DATABASE) must be the path of a file, or look like "
    "postgresql://user:password@host/name."
)


def url_of_file(path: Path) -> str:
    return URL.create(_SQLITE, database=str(path)).render_as_string()


def file_at(location: str) -> Path | None:
    """Return the absolute path of the file in a database URL; None for a database on a server.

    Raises:
        ConfigurationBroken: The location is not a valid URL of a database.
    """
    try:
        url = make_url(location)
    except (ArgumentError, ValueError) as error:
        raise ConfigurationBroken(_WRONG_LOCATION) from error
    if url.drivername == _POSTGRES:
        return None
    if url.drivername != _SQLITE or url.database in {None, "", ":memory:"}:
        raise ConfigurationBroken(_WRONG_LOCATION)
    return Path(url.database or "").absolute()  # the working folder may change


def _on_server(location: str) -> Database:
    url = make_url(location)
    place = f"{url.host or 'localhost'}/{url.database or ''}"
    try:
        engine = postgres_engine(url)
    except ModuleNotFoundError as error:
        raise ConfigurationBroken(
            "PostgreSQL needs the package psycopg. Type `make extras` in a checkout; "
            "docs/deploy.md says how elsewhere."
        ) from error
    # Each statement that reads is a transaction of its own, which saves two round trips.
    reading = engine.execution_options(isolation_level="AUTOCOMMIT")
    reader = RepeatingWriter(reading, place, passes=is_passing)
    return Database(place, reader, RepeatingWriter(engine, place, passes=is_passing))


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode, which identify a file; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _free_some_pages(connection: Connection) -> int:
    """Remove some free pages from the end of the file. Return how many remain free."""
    # Each removed page is a row without columns; SQLAlchemy would not fetch those rows.
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
    cursor.fetchall()
    return connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()


async def _checked(database: Database) -> Database:
    """Return the database if it answers a query. Otherwise close it and raise the error."""

    def run_query(connection: Connection) -> None:
        is_file = connection.dialect.name == "sqlite"
        connection.exec_driver_sql("SELECT count(*) FROM sqlite_master" if is_file else "SELECT 1")

    try:
        await database.write(run_query)
    except BaseException:
        await database.close()
        raise
    return database
