"""A database that many may write to at once: opened, asked, written to and closed in one place.

One code for SQLite (one process; a single writer batches what waits into one commit) and
PostgreSQL (several processes; each write is a transaction of its own, repeated when that helps).
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
from core.store.lock import FileLock, check_no_log_is_left, is_in_use

T = TypeVar("T")

#: Pages given back in one transaction: 4 MB, for which others wait some milliseconds.
_PAGES_AT_ONCE = 500
#: As everybody's settings have it, and as the tables of Slack's SDK are opened.
_SQLITE = "sqlite+aiosqlite"
_POSTGRES = "postgresql+psycopg"


class Transactions(Protocol):
    """Runs plain functions of a `Connection`, each in a transaction; a `Database` does."""

    async def write(self, work: Callable[[Connection], T]) -> T: ...

    async def read(self, work: Callable[[Connection], T]) -> T: ...


class Database:
    """An open database. Made by `Database.open`; freed by `close` or by leaving `async with`.

    Work is a plain function of a SQLAlchemy `Connection`. It may run more than once (a batch is
    taken apart, a server restarts), so it changes nothing outside the database.
    """

    def __init__(
        self,
        place: str,
        reader: RepeatingWriter,
        writer: RepeatingWriter | None = None,
        *,
        lock: FileLock | None = None,
    ) -> None:
        """Keep the parts; `Database.open` makes them. Only a file that is written to has a lock.

        `place` is the database in words for people, without a password.
        """
        self.place, self._reader, self._lock = place, reader, lock
        self._file = Path(place) if lock else None
        self._identity = _identity_of(self._file) if self._file else None
        self._writer = writer or self._file_writer()

    @classmethod
    async def open(cls, location: str) -> "Database":
        """Open the database at `sqlite+aiosqlite:///path` or `postgresql+psycopg://…`.

        An SQLite file is created if there is none (its folder must exist) and locked against
        other processes until `close`.

        Raises:
            ConfigurationBroken: The location cannot be understood.
            StoreDown: It cannot be opened; says why and what to do.
        """
        file = file_at(location)
        if file is None:
            return await _asked(_on_server(location))
        check_no_log_is_left(file)  # a new database would take its place
        lock = FileLock(file)
        # What a disk refuses once it refuses again: nothing is repeated.
        reader = RepeatingWriter(sqlite_reader(file), str(file))
        return await _asked(cls(str(file), reader, lock=lock))

    @classmethod
    async def look_into(cls, location: str) -> "Database":
        """Open it for reading only, while another process may be writing to it.

        The file and its write-ahead log stay as they are. SQLite makes an empty log and its index
        (`-wal`, `-shm`) where there are none, and leaves them there.

        Raises:
            ConfigurationBroken: The location cannot be understood.
            StoreMissing: There is no file, or an empty one, and nothing says that there was more.
            StoreDown: It cannot be opened; says why and what to do.
        """
        file = file_at(location)
        if file is None:
            return await _asked(_on_server(location))
        if state := check_no_log_is_left(file):
            if is_in_use(file):
                raise StoreDown(
                    f"A process works on the database {file}, and its file is {state}: it was "
                    "moved, deleted or replaced. Put it back, or stop Moot and restore a backup."
                )
            raise StoreMissing(f"The database {file} is {state}.")
        # Another process may hold the file's lock, so nothing here writes: the reader refuses.
        reader = RepeatingWriter(sqlite_reader(file, "ro"), str(file))
        return await _asked(cls(str(file), reader, reader))

    @property
    def is_shared(self) -> bool:
        return self._file is None

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction; what it wrote is durable when this returns.

        A caller that is cancelled while waiting does no harm: its work is then done or not done,
        as a whole. After any error nothing of it was written.
        """
        return await self._writer.run(work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work`, which only reads.

        In SQLite it sees one state of the database; in PostgreSQL each of its statements sees what
        was committed before that began, as it would in a transaction.
        """
        self.check_file()  # a reader would make a new, empty file
        return await self._reader.run(work)

    async def clean(self) -> None:
        """Take what was deleted out of the file for good, and out of its write-ahead log.

        Nobody else may use the database. On a server its own housekeeping (VACUUM) does it.
        """
        file = self._file
        if file is None:
            return

        def vacuum() -> None:
            with closing(sqlite3.connect(file, isolation_level=None)) as connection:
                # With a write-ahead log the size of pages cannot change; this empties it, too. It
                # is refused while anybody else is connected, whatever they do.
                for pragma in ("journal_mode=DELETE", *FILE_FORM):
                    connection.execute(f"PRAGMA {pragma}")
                connection.execute("VACUUM")

        try:
            await self._writer.close()
            await self._reader.close()  # connects anew when it is next asked
            await asyncio.to_thread(vacuum)
        except sqlite3.Error as error:
            raise StoreDown(f"The database {self.place} was not cleaned: {error}.") from error
        finally:
            self._writer = self._file_writer()

    def _file_writer(self) -> BatchingWriter:
        return BatchingWriter(sqlite_writer(Path(self.place)), self.place, self.check_file)

    async def shrink(self) -> None:
        """Give free pages back to the disk, a few at a time, while others write.

        A file of an earlier version keeps its size until `clean` has rewritten it; new rows fill
        its free pages first. Does nothing on a server, which has its own housekeeping.
        """
        if self._file is None:
            return
        free = await self.write(_give_back)
        while free and (remaining := await self.write(_give_back)) < free:
            free = remaining
        await self.empty_write_ahead_log()

    async def empty_write_ahead_log(self) -> None:
        """Take what was deleted out of SQLite's write-ahead log, as far as nobody reads it now."""
        if self._file is not None:
            await self.read(lambda c: c.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())

    def check_file(self) -> None:
        """Raise `StoreDown` unless the file is still the one that was opened.

        One that is deleted or replaced under a running process would go on taking writes, which
        nobody would ever find again; so this is asked before each transaction.
        """
        if self._file and _identity_of(self._file) != self._identity:
            raise StoreDown(
                f"The database file {self.place} was deleted or replaced while Moot was using it. "
                "Put the file back, or stop Moot and restore a backup. Until then nothing is "
                "written."
            )

    async def close(self) -> None:
        """Finish what waits to be written, free connections and the lock. Safe to call twice.

        It goes on to its end, whoever is cancelled: a connection that is half closed would outlive
        the event loop.
        """
        freeing, cancelled = asyncio.create_task(self._free()), False
        while not freeing.done():
            try:
                await asyncio.wait([freeing])
            except asyncio.CancelledError:
                cancelled = True
        freeing.result()
        if cancelled:
            raise asyncio.CancelledError

    async def _free(self) -> None:
        async with AsyncExitStack() as freed:
            if self._lock is not None:
                freed.callback(self._lock.release)
            freed.push_async_callback(self._reader.close)
            freed.push_async_callback(self._writer.close)

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
    "The database location must look like sqlite+aiosqlite:///folder/moot.db "
    "or postgresql+psycopg://user@host/name."
)


def url_of_file(path: Path) -> str:
    return URL.create(_SQLITE, database=str(path)).render_as_string()


def file_at(location: str) -> Path | None:
    """The file of the database that a URL names, absolute; None: it is on a server.

    Raises:
        ConfigurationBroken: The location cannot be understood.
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


def _identity_of(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from every other one; None if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _give_back(connection: Connection) -> int:
    """Take some free pages off the file's end; how many are still free."""
    # Each page is a row without columns, of which SQLAlchemy would fetch none.
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
    cursor.fetchall()
    return connection.exec_driver_sql("PRAGMA freelist_count").scalar_one()


async def _asked(database: Database) -> Database:
    """The database, once it has answered; a location that nobody can use is found out here."""

    def ask(connection: Connection) -> None:
        is_file = connection.dialect.name == "sqlite"
        connection.exec_driver_sql("SELECT count(*) FROM sqlite_master" if is_file else "SELECT 1")

    try:
        await database.write(ask)
    except BaseException:
        await database.close()
        raise
    return database
