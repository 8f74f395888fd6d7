"""SQLAlchemy engines, set up so that what is written stays written."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

T = TypeVar("T")

#: Milliseconds to wait for a lock held by somebody outside (a person with the sqlite3 program).
_BUSY_MS = 5_000
#: Milliseconds after which the server ends a transaction left open by a frozen process, so that
#: its locks do not hold up the others.
_IDLE_MS = 5_000


class Transactions(Protocol):
    """Runs work in transactions."""

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own."""
        ...

    async def dispose(self) -> None:
        """Free connections. Safe to call twice."""
        ...


class InThreads:
    """Transactions of a driver that blocks: each whole one in a thread.

    A driver that changes threads for every statement costs ten times as much.
    """

    def __init__(self, engine: Engine, threads: int) -> None:
        """Use an engine that nobody else uses, on so many threads at most."""
        self.engine = engine
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="database")
        self._running: set[asyncio.Future[Any]] = set()

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own; it goes on when its caller is cancelled."""
        running = asyncio.get_running_loop().run_in_executor(self._threads, self._transact, work)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await asyncio.shield(running)

    async def dispose(self) -> None:
        """Wait for what is under way, then free connections and threads."""
        await asyncio.gather(*self._running, return_exceptions=True)
        self._threads.shutdown()
        self.engine.dispose()

    def _transact(self, work: Callable[[Connection], T]) -> T:
        with self.engine.begin() as connection:
            return work(connection)


class InLoop:
    """Transactions of a driver that does not block."""

    def __init__(self, engine: AsyncEngine) -> None:
        """Use an engine that nobody else uses."""
        self.engine = engine

    async def transact(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own."""
        async with self.engine.begin() as connection:
            return await connection.run_sync(work)

    async def dispose(self) -> None:
        """Free connections."""
        await self.engine.dispose()


def sqlite_writer(path: Path) -> InThreads:
    """The one connection that writes to the file.

    FULL: each commit is on the disk before it returns (https://sqlite.org/pragma.html#pragma_synchronous).
    IMMEDIATE: take the write lock at once; a reading transaction cannot always become a writing
    one (https://sqlite.org/lang_transaction.html).
    """
    pragmas = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
    return _sqlite(path, connections=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def sqlite_reader(path: Path) -> InThreads:
    """Connections that read the file while it is being written."""
    return _sqlite(path, connections=4, begin="BEGIN", pragmas=("query_only=ON",))


def _sqlite(path: Path, *, connections: int, begin: str, pragmas: tuple[str, ...]) -> InThreads:
    """An engine whose connections are set up and whose transactions begin as told."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=60,
        hide_parameters=True,  # errors end in logs
        # sqlite3 must not begin transactions behind our back.
        # The pool lends each connection to one thread at a time.
        connect_args={"isolation_level": None, "check_same_thread": False},
    )

    def set_up(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={_BUSY_MS}", *pragmas):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", set_up)
    event.listen(engine, "begin", begin_transaction)
    return InThreads(engine, connections)


def postgres_engine(url: URL) -> AsyncEngine:
    """Connections to a server; a dead one is noticed before it is used."""
    return create_async_engine(
        url,
        pool_size=8,
        hide_parameters=True,
        max_overflow=8,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": 10,
            "options": f"-c idle_in_transaction_session_timeout={_IDLE_MS}"
            " -c synchronous_commit=on -c timezone=UTC",
        },
    )
