"""SQLAlchemy's engines for both databases, set up so that what is written stays written."""

import asyncio
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import SingletonThreadPool

T = TypeVar("T")

#: Milliseconds to wait for a lock held by somebody outside (a person with the sqlite3 program):
#: short enough that who typed a command hears within Slack's three seconds that it was not taken,
#: and that a process told to stop does.
_BUSY_MS = 2_000

#: How a new file is laid out, before anything is in it. Events of a debate have 2 to 3 KB: one of
#: those fits in SQLite's usual page of 4 KB, and a third of the file would be empty. Free pages can
#: be given back while others write (https://sqlite.org/pragma.html#pragma_auto_vacuum).
FILE_FORM = ("page_size=8192", "auto_vacuum=INCREMENTAL")

#: What every connection to a server is made with, as libpq calls it
#: (https://www.postgresql.org/docs/current/libpq-connect.html).
CONNECT_ARGS: Mapping[str, Any] = {
    "connect_timeout": 10,
    # A server whose machine has vanished without a word is given up after 30 s.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "tcp_user_timeout": 30_000,
    # The server ends a transaction that a frozen process left open, long before that process
    # counts as dead: its locks must not hold up the others. What is written relies on READ
    # COMMITTED, and what is read alone is as good in it.
    "options": "-c idle_in_transaction_session_timeout=5000"
    " -c synchronous_commit=on -c timezone=UTC"
    r" -c default_transaction_isolation=read\ committed",
}


class SqliteEngine:
    """Connections to an SQLite file; aiosqlite has a thread for each.

    A transaction runs whole in the thread of its connection. Statement by statement it would change
    threads five times or more, which takes four times the CPU.
    """

    def __init__(self, url: URL, *, connections: int, begin: str, pragmas: Sequence[str]) -> None:
        """Open nothing yet; `begin` is the statement that begins a transaction."""
        self._idle: list[_ConnectionThread] = []
        self._places = asyncio.Semaphore(connections)
        self._engine = create_engine(
            url,
            # The driver must not begin transactions behind our back.
            connect_args={"isolation_level": None, "check_same_thread": False},
            poolclass=SingletonThreadPool,
            pool_size=1000,  # `connections` bounds them; above this the pool would close one in use
            hide_parameters=True,  # errors end in logs
            json_deserializer=_read_json,
        )

        def set_up(driver: Any, _record: object) -> None:
            for pragma in (f"busy_timeout={_BUSY_MS}", *pragmas):
                driver.execute(f"PRAGMA {pragma}").close()

        def begin_transaction(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

        event.listen(self._engine, "connect", set_up)
        event.listen(self._engine, "begin", begin_transaction)

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in one transaction; it goes on to its end when its caller is cancelled."""
        async with self._places:
            if self._idle:
                thread = self._idle.pop()
            else:
                thread = _ConnectionThread(self._connect)
                await thread.open()
            try:
                return await thread.run(lambda: self._transact(work))
            finally:
                self._idle.append(thread)

    def _connect(self) -> Any:
        with self._engine.connect() as connection:  # the pool keeps one for each thread
            return connection.connection.driver_connection

    def _transact(self, work: Callable[[Connection], T]) -> T:
        with self._engine.begin() as connection:
            try:
                return work(connection)
            except BaseException as error:
                # A result that was not read to its end keeps the connection at this moment's state
                # of the file (https://sqlite.org/isolation.html): the error must not hold it.
                traceback.clear_frames(error.__traceback__)
                raise

    async def dispose(self) -> None:
        while self._idle:
            await self._idle.pop().close()
        self._engine.dispose()


class _ConnectionThread(aiosqlite.Connection):
    """A connection of aiosqlite whose thread takes more than a statement at once."""

    def __init__(self, connector: Callable[[], Any]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True  # a program that ends without closing must not hang
        self._end: asyncio.Future[None] | None = None

    async def open(self) -> None:
        """Connect; where that fails, return when the thread has ended."""
        try:
            await self
        except BaseException:
            # aiosqlite does not wait for it, and it may end after its event loop.
            if self._end:
                await self._end
            raise

    def stop(self) -> asyncio.Future[None] | None:
        """End the thread after what waits."""
        self._end = super().stop()  # pyright: ignore[reportUnknownMemberType] - untyped in aiosqlite
        return self._end

    async def run(self, function: Callable[[], T]) -> T:
        return await self._execute(function)  # pyright: ignore[reportUnknownMemberType] - untyped in aiosqlite


def sqlite_writer(path: Path) -> SqliteEngine:
    """The one connection that writes to the file.

    FULL: each commit is on the disk before it returns (https://sqlite.org/pragma.html#pragma_synchronous).
    IMMEDIATE: take the write lock at once; a reading transaction cannot always become a writing
    one (https://sqlite.org/lang_transaction.html).
    """
    # What is deleted is overwritten (https://sqlite.org/pragma.html#pragma_secure_delete).
    # The first two hold for a new file only.
    pragmas = (*FILE_FORM, "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
    pragmas = (*pragmas, "secure_delete=ON")
    url = URL.create("sqlite", database=str(path))
    return SqliteEngine(url, connections=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def sqlite_reader(path: Path, mode: str = "rw") -> SqliteEngine:
    """Connections that read the file while it is being written.

    They make no database, and with `mode=ro` (https://sqlite.org/uri.html), for whoever does not
    hold the lock, change none. The write-ahead log beside it holds what was written last: SQLite
    deletes it beside a new file, and brings it into a copy that was put there.
    """
    query = {"mode": mode, "uri": "true"}
    url = URL.create("sqlite", database=path.as_uri(), query=query)
    return SqliteEngine(url, connections=4, begin="BEGIN", pragmas=("query_only=ON",))


def postgres_engine(url: URL) -> AsyncEngine:
    """Connections to a server; a dead one is noticed and replaced before it is used."""
    return create_async_engine(
        url,
        pool_size=8,
        max_overflow=8,
        pool_pre_ping=True,
        hide_parameters=True,  # errors end in logs
        connect_args=dict(CONNECT_ARGS),
    )


def _read_json(stored: str) -> Any:
    """The value of a JSON column; nothing where a file is damaged.

    Whatever wants the row then finds fields missing, and it alone fails; a row that cannot be read
    would hold up its whole queue.
    """
    try:
        return json.loads(stored)
    except ValueError:
        return {}
