"""SQLAlchemy engines, set up so that what is written stays written."""

import asyncio
import json
import select
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

T = TypeVar("T")

#: Milliseconds to wait for a lock held by somebody outside (a person with the sqlite3 program):
#: short enough that who typed a command hears within Slack's three seconds that it was not taken,
#: and that a process told to stop does.
_BUSY_MS = 2_000
#: Milliseconds after which the server ends a transaction left open by a frozen process, so that
#: its locks do not hold up the others.
_IDLE_MS = 5_000
#: Seconds after which a connection that nobody used is asked whether it still lives.
_TRUSTED_SECONDS = 10.0


#: How a new file is laid out, before anything is in it. Events of a debate have 2 to 3 KB: one of
#: those fits in SQLite's usual page of 4 KB, and a third of the file would be empty. Free pages can
#: be given back while others write (https://sqlite.org/pragma.html#pragma_auto_vacuum).
FILE_FORM = ("page_size=8192", "auto_vacuum=INCREMENTAL")


class Transactions(Protocol):
    """Runs work in transactions."""

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own."""
        ...

    async def dispose(self) -> None:
        """Free connections. Safe to call twice."""
        ...


class InLoop:
    """Transactions of a driver that never blocks."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Use an engine that nobody else uses."""
        self._engine = engine

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own."""
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def dispose(self) -> None:
        """Free connections."""
        await self._engine.dispose()


class InThreads:
    """Transactions of a driver that blocks, each whole one in a thread that waits for it.

    Statement by statement a transaction would change threads some twenty times, and wait for the
    interpreter's lock each time: up to 5 ms when the event loop is busy
    (https://docs.python.org/3/library/sys.html#sys.setswitchinterval).
    """

    def __init__(self, engine: Engine, begin: str, threads: int) -> None:
        """Use an engine that nobody else uses, whose connections are made by `_Connection`.

        Args:
            engine: Has as many connections as there are threads.
            begin: The statement that begins a transaction.
            threads: How many transactions run at the same time.
        """
        self._engine = engine
        self._begin = begin
        self._threads = threads
        #: Made anew by whoever asks after `dispose`.
        self._executor: ThreadPoolExecutor | None = None

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own, as a whole or not at all if cancelled."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._threads, "database")
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._do, work)

    def _do(self, work: Callable[[Connection], T]) -> T:
        with self._engine.begin() as connection:
            driver = cast("_Connection", connection.connection.driver_connection)
            try:
                # No listener of SQLAlchemy's event: with one, each statement asks for more of them.
                connection.exec_driver_sql(self._begin)
                return work(connection)
            finally:
                driver.close_cursors()

    async def dispose(self) -> None:
        """Free connections and their threads."""
        executor, self._executor = self._executor, None
        if executor:
            await asyncio.get_running_loop().run_in_executor(executor, self._engine.dispose)
            executor.shutdown()  # nothing is under way any more


def _read_json(stored: str) -> Any:
    """The value of a JSON column; nothing where a file is damaged.

    Whatever wants the row then finds fields missing, and it alone fails; a row that cannot be read
    would hold up its whole queue.
    """
    try:
        return json.loads(stored)
    except ValueError:
        return {}


class _Connection(sqlite3.Connection):
    """A connection that can close every cursor it has given away.

    A result that was not read to its end, such as by work that failed, would keep the connection at
    the state of that moment for as long as anything refers to it, even after the transaction
    (https://sqlite.org/isolation.html).
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        """Connect as the driver does."""
        super().__init__(*args, **named)
        self._given: list[sqlite3.Cursor] = []

    def cursor(self, *args: Any, **named: Any) -> Any:
        """Give away a cursor, as the driver does."""
        given = super().cursor(*args, **named)
        self._given.append(given)
        return given

    def close_cursors(self) -> None:
        """Close every cursor given away since the last time."""
        for given in self._given:
            given.close()
        self._given.clear()


def sqlite_writer(path: Path) -> Transactions:
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
    return _sqlite(url, connections=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def sqlite_reader(path: Path, mode: str = "rw") -> Transactions:
    """Connections that read the file while it is being written.

    They make no database, and with `ro` change none. The write-ahead log beside it holds what was
    written last: SQLite deletes it beside a new file, and brings it into a copy that was put there.

    Args:
        path: The file.
        mode: SQLite's word (https://sqlite.org/uri.html): `ro` for whoever does not hold the lock.
    """
    query = {"mode": mode, "uri": "true"}
    url = URL.create("sqlite", database=path.as_uri(), query=query)
    return _sqlite(url, connections=4, begin="BEGIN", pragmas=("query_only=ON",))


def _sqlite(url: URL, *, connections: int, begin: str, pragmas: tuple[str, ...]) -> Transactions:
    """An engine whose connections are set up and whose transactions begin as told."""
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_reset_on_return=None,  # transactions end by themselves
        hide_parameters=True,  # errors end in logs
        json_deserializer=_read_json,
        connect_args={
            "factory": _Connection,
            "isolation_level": None,  # the driver must not begin transactions behind our back
            "check_same_thread": False,  # one thread after the other uses it
        },
    )

    def set_up(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={_BUSY_MS}", *pragmas):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    event.listen(engine, "connect", set_up)
    return InThreads(engine, begin, connections)


def postgres_engine(url: URL) -> AsyncEngine:
    """Connections to a server; a dead one is noticed before it is used."""
    engine = create_async_engine(
        url,
        pool_size=8,
        hide_parameters=True,
        max_overflow=8,
        connect_args={
            "connect_timeout": 10,
            "options": f"-c idle_in_transaction_session_timeout={_IDLE_MS}"
            " -c synchronous_commit=on -c timezone=UTC",
        },
    )
    _try_doubtful_connections(engine)
    return engine


def _try_doubtful_connections(engine: AsyncEngine) -> None:
    """Have a connection asked whether it lives, and replaced if not, before it is used.

    Only where that is in doubt, because it takes a round trip, and a turn has a dozen transactions:
    where something came that nobody asked for, as when the server closes it, and where nothing was
    asked for so long that something on the way may have forgotten it.
    """
    from psycopg import Error  # noqa: PLC0415 - an extra, for those with a server

    def left_alone(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["left_at"] = asyncio.get_running_loop().time()

    def is_doubtful(connection: Any, record: ConnectionPoolEntry) -> bool:
        alone = asyncio.get_running_loop().time() - record.info.get("left_at", inf)
        came = select.poll()
        came.register(connection.driver_connection.fileno(), select.POLLIN)
        return alone > _TRUSTED_SECONDS or bool(came.poll(0))

    def look(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        try:
            if is_doubtful(connection, record):
                engine.dialect.do_ping(connection)
        except Error:
            # All that were made before it are replaced as well.
            raise InvalidatePoolError from None

    event.listen(engine.sync_engine, "checkin", left_alone)
    event.listen(engine.sync_engine, "checkout", look)
