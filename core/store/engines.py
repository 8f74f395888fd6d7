"""SQLAlchemy engines, set up so that what is written stays written."""

import asyncio
import json
import select
import sqlite3
import threading
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, cast

import aiosqlite
from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, SingletonThreadPool

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


class InDriverThreads:
    """Transactions of aiosqlite, each whole one in the thread of its connection.

    Statement by statement a transaction would change threads some twenty times, and wait for the
    interpreter's lock each time: up to 5 ms when the event loop is busy
    (https://docs.python.org/3/library/sys.html#sys.setswitchinterval). A script is what aiosqlite
    hands to that thread in one piece, so a transaction goes there as a script.
    """

    def __init__(
        self,
        open_driver: Callable[[], aiosqlite.Connection],
        connections: int,
        set_up: Sequence[str],
        begin: str,
    ) -> None:
        """Open nothing yet.

        Args:
            open_driver: Begins a connection, which makes a `_Connection`.
            connections: How many transactions run at the same time.
            set_up: Statements that every connection begins with.
            begin: The statement that begins a transaction.
        """
        self._open_driver = open_driver
        self._begin = begin
        self._free: list[aiosqlite.Connection] = []
        self._places = asyncio.Semaphore(connections)
        self._here = threading.local()
        # One for all threads, so that a statement is compiled once.
        self._engine = create_engine(
            "sqlite://",
            creator=lambda: self._here.driver,
            poolclass=SingletonThreadPool,
            pool_size=connections,
            pool_reset_on_return=None,  # transactions end by themselves
            hide_parameters=True,  # errors end in logs
            json_deserializer=_read_json,
        )

        def begin_connection(driver: _Connection, _record: object) -> None:
            for statement in set_up:
                driver.execute(statement).close()

        event.listen(self._engine, "connect", begin_connection)

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own; it goes on when its caller is cancelled."""
        script = _Script(lambda driver: self._do(work, driver))
        async with self._places:
            driver = self._free.pop() if self._free else await self._opened()
            try:
                await driver.executescript(script)
            finally:
                if await self._is_open(driver):
                    self._free.append(driver)
        return cast("T", script.result)

    async def _is_open(self, driver: aiosqlite.Connection) -> bool:
        """Whether it can be used again; SQLAlchemy closes one whose set-up has failed."""
        try:
            _ = driver.in_transaction
        except sqlite3.ProgrammingError:
            await driver.close()  # its thread
            return False
        return True

    async def _opened(self) -> aiosqlite.Connection:
        driver = self._open_driver()
        # As SQLAlchemy's own engine does: no program waits at its end for one that nobody closed.
        driver._thread.daemon = True  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        try:
            return await driver
        except sqlite3.Error as error:
            raise DBAPIError.instance(None, None, error, sqlite3.Error) from error

    def _do(self, work: Callable[[Connection], T], driver: "_Connection") -> T:
        self._here.driver = driver
        with self._engine.begin() as connection:
            try:
                # No listener of SQLAlchemy's event: with one, each statement asks for more of them.
                connection.exec_driver_sql(self._begin)
                return work(connection)
            finally:
                driver.close_cursors()

    async def dispose(self) -> None:
        """Free connections and their threads."""
        while self._free:
            await self._free.pop().close()
        self._engine.dispose()


def _read_json(stored: str) -> Any:
    """The value of a JSON column; nothing where a file is damaged.

    Whatever wants the row then finds fields missing, and it alone fails; a row that cannot be read
    would hold up its whole queue.
    """
    try:
        return json.loads(stored)
    except ValueError:
        return {}


class _Script(str):
    """A transaction in the shape of a script: the connection runs its work, not its text."""

    __slots__ = ("result", "work")

    work: Callable[["_Connection"], Any]
    #: What the work returned.
    result: Any

    def __new__(cls, work: Callable[["_Connection"], Any]) -> Self:
        made = super().__new__(cls, "-- a transaction")
        made.work = work
        return made


class _Connection(sqlite3.Connection):
    """A connection that can run a whole transaction, and close every cursor it has given away.

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

    def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
        """Run a script, or the work of a transaction."""
        if not isinstance(sql_script, _Script):
            return super().executescript(sql_script)
        sql_script.result = sql_script.work(self)
        return super().cursor()

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
    return _sqlite(str(path), connections=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def sqlite_reader(path: Path, mode: str = "rw") -> Transactions:
    """Connections that read the file while it is being written.

    They make no database, and with `ro` change none. The write-ahead log beside it holds what was
    written last: SQLite deletes it beside a new file, and brings it into a copy that was put there.

    Args:
        path: The file.
        mode: SQLite's word (https://sqlite.org/uri.html): `ro` for whoever does not hold the lock.
    """
    address = f"{path.as_uri()}?mode={mode}"
    return _sqlite(address, connections=4, begin="BEGIN", pragmas=("query_only=ON",))


def _sqlite(
    address: str, *, connections: int, begin: str, pragmas: tuple[str, ...]
) -> Transactions:
    """Transactions of connections that are set up and begin them as told."""
    return InDriverThreads(
        partial(
            aiosqlite.connect,
            address,
            uri=address.startswith("file:"),
            factory=_Connection,
            isolation_level=None,  # the driver must not begin transactions behind our back
            check_same_thread=False,  # SQLAlchemy closes anew, from the event loop, what is closed
        ),
        connections,
        [f"PRAGMA {pragma}" for pragma in (f"busy_timeout={_BUSY_MS}", *pragmas)],
        begin,
    )


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
