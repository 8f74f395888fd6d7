"""SQLAlchemy's engines for both databases, and how transactions run on them.

On SQLite waiting writes are committed together in one batch. On PostgreSQL each write is a
transaction of its own.
"""

import asyncio
import json
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import aiosqlite
from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import SingletonThreadPool

from core.errors import StoreDown
from core.retry import RetryPolicy, retry
from core.store.failures import explain, is_locked_by_others

T = TypeVar("T")

#: Milliseconds to wait for a lock that another program holds (such as a person's sqlite3). Short
#: enough to answer a command within Slack's three seconds, and for the process to stop in time.
_BUSY_MS = 2_000

#: Pragmas that fix the layout of a new file. Events of a debate have 2 to 3 KB: only one fits in
#: SQLite's default page of 4 KB, and a third of the file would be empty. Incremental vacuum returns
#: free pages while others write (https://sqlite.org/pragma.html#pragma_auto_vacuum).
FILE_FORM = ("page_size=8192", "auto_vacuum=INCREMENTAL")

#: libpq's parameters for every connection to a server
#: (https://www.postgresql.org/docs/current/libpq-connect.html).
CONNECT_ARGS: Mapping[str, Any] = {
    "connect_timeout": 10,
    # The connection to a server whose machine is gone is given up after 30 s.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "tcp_user_timeout": 30_000,
    # The server ends a transaction that a frozen process left open, long before that process
    # counts as dead, so that its locks do not block the other processes. Writes rely on READ
    # COMMITTED; for single reads it makes no difference.
    "options": "-c idle_in_transaction_session_timeout=5000"
    " -c synchronous_commit=on -c timezone=UTC"
    r" -c default_transaction_isolation=read\ committed",
}

#: Most writes in one commit. Bounds how long the first of them waits for the last.
_BATCH = 128

#: Short waits, for conflicts between transactions; 26 s in all, enough for a server to restart.
_RETRIES = RetryPolicy(tries=12, first_wait=0.05, longest_wait=5.0)

#: Seconds that `close` waits for running transactions, so that a dead server cannot block it.
_DISPOSE_SECONDS = 5.0


class SqliteEngine:
    """Connections to an SQLite file; aiosqlite has a thread for each.

    A whole transaction runs in the thread of its connection. If each statement were sent to the
    thread on its own, a transaction would switch threads five times or more and take four times
    the CPU.
    """

    def __init__(self, url: URL, *, connections: int, begin: str, pragmas: Sequence[str]) -> None:
        """`begin` is the statement that begins a transaction. Connections are opened at use."""
        self._idle: list[_ConnectionThread] = []
        self._places = asyncio.Semaphore(connections)
        self._engine = create_engine(
            url,
            # The driver must not begin transactions by itself.
            connect_args={"isolation_level": None, "check_same_thread": False},
            poolclass=SingletonThreadPool,
            pool_size=1000,  # `connections` is the real bound; a full pool closes one in use
            hide_parameters=True,  # errors are logged
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
        """Run the work in one transaction. It completes even if the caller is cancelled."""
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
                # A result that was not read to its end keeps the connection on an old snapshot of
                # the file (https://sqlite.org/isolation.html). The traceback's frames refer to it.
                traceback.clear_frames(error.__traceback__)
                raise

    async def dispose(self) -> None:
        while self._idle:
            await self._idle.pop().close()
        self._engine.dispose()


class _ConnectionThread(aiosqlite.Connection):
    """A connection of aiosqlite whose thread runs a whole function, not only one statement."""

    def __init__(self, connector: Callable[[], Any]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True  # a program that exits without `close` must not hang
        self._end: asyncio.Future[None] | None = None

    async def open(self) -> None:
        """Connect. If that fails, wait until the thread has ended, then raise."""
        try:
            await self
        except BaseException:
            # aiosqlite does not wait for the thread, which may then outlive the event loop.
            if self._end:
                await self._end
            raise

    def stop(self) -> asyncio.Future[None] | None:
        """End the thread after its waiting work."""
        self._end = super().stop()  # pyright: ignore[reportUnknownMemberType] - untyped in aiosqlite
        return self._end

    async def run(self, function: Callable[[], T]) -> T:
        return await self._execute(function)  # pyright: ignore[reportUnknownMemberType] - untyped in aiosqlite


def sqlite_writer(path: Path) -> SqliteEngine:
    """The single connection that writes to the file.

    FULL: each commit is on the disk before it returns (https://sqlite.org/pragma.html#pragma_synchronous).
    IMMEDIATE: takes the write lock at the start; a read transaction cannot always be upgraded to a
    write transaction (https://sqlite.org/lang_transaction.html).
    """
    # secure_delete overwrites deleted rows (https://sqlite.org/pragma.html#pragma_secure_delete).
    # The pragmas of FILE_FORM only have an effect on a new file.
    pragmas = (*FILE_FORM, "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
    pragmas = (*pragmas, "secure_delete=ON")
    url = URL.create("sqlite", database=str(path))
    return SqliteEngine(url, connections=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def sqlite_reader(path: Path, mode: str = "rw") -> SqliteEngine:
    """Connections that read the file while it is being written.

    They never create the file: SQLite would delete a write-ahead log that lies beside a new file.
    With `mode=ro` (https://sqlite.org/uri.html), for a process without the lock, they do not change
    it either: SQLite would merge the log into a copy that replaced the file.
    """
    query = {"mode": mode, "uri": "true"}
    url = URL.create("sqlite", database=path.as_uri(), query=query)
    return SqliteEngine(url, connections=4, begin="BEGIN", pragmas=("query_only=ON",))


def postgres_engine(url: URL) -> AsyncEngine:
    """Connections to a server. A broken connection is replaced before it is used."""
    return create_async_engine(
        url,
        pool_size=8,
        max_overflow=8,
        pool_pre_ping=True,
        hide_parameters=True,  # errors are logged
        connect_args=dict(CONNECT_ARGS),
    )


def _read_json(text: str) -> Any:
    """Return the value of a JSON column; an empty object if a damaged file has no valid JSON.

    The reader of that row then fails for missing fields. An error here would fail the whole query,
    and with it every row of a queue.
    """
    try:
        return json.loads(text)
    except ValueError:
        return {}


class RepeatingWriter:
    """Runs each work in a transaction of its own, and retries it after a temporary failure.

    A commit whose response was lost is retried too, so work must be idempotent; unique keys make it
    so. A transaction completes even if its caller is cancelled: otherwise a connection that is
    being opened could outlive the event loop.
    """

    def __init__(
        self,
        engine: AsyncEngine | SqliteEngine,
        place: str,
        *,
        passes: Callable[[BaseException], bool] = lambda _error: False,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Open no connection yet.

        Args:
            engine: Runs the transactions; used by nothing else.
            place: Name of the database for people.
            passes: Whether the same work may succeed a little later. By default no work is retried.
            pause: Waits a number of seconds.
        """
        self._engine, self._place, self._passes, self._pause = engine, place, passes, pause
        self._under_way: set[asyncio.Task[Any]] = set()

    async def run(self, work: Callable[[Connection], T]) -> T:
        async def attempt() -> T:
            task = asyncio.create_task(transact(self._engine, work), name="database transaction")
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
            return await asyncio.shield(task)

        failures = (SQLAlchemyError, OSError)
        try:
            return await retry(
                attempt,
                _RETRIES,
                self._pause,
                on=failures,
                again=lambda error, wait: wait if self._passes(error) else None,
            )
        except failures as error:
            raise explain(error, self._place) from error

    async def close(self) -> None:
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=_DISPOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._engine.dispose()


class _QueuedWork(NamedTuple):
    work: Callable[[Connection], Any]
    result: asyncio.Future[Any]


class BatchingWriter:
    """One task commits all waiting work in one transaction, because each commit flushes the disk.

    If one work of a batch fails, the batch is rolled back and its works run again one by one, so
    that an error only reaches its own caller. Savepoints would cost two statements per work, and
    after an error of the database SQLite may have rolled back the whole transaction
    (https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
    """

    def __init__(
        self, engine: SqliteEngine, place: str, check: Callable[[], None] = lambda: None
    ) -> None:
        """Open no connection yet.

        Args:
            engine: Has one connection; used by nothing else.
            place: Name of the database for people.
            check: Called before each transaction; raises `StoreDown` if nothing may be written.
        """
        self._engine, self._place, self._check = engine, place, check
        self._queue = deque[_QueuedWork]()
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreDown(f"The database {self._place} is closed.")
        if self._task is None:
            self._task = asyncio.create_task(self._serve(), name="database writer")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append(_QueuedWork(work, future))
        self._changed.set()
        return await future

    async def close(self) -> None:
        self._closed = True
        task, self._task = self._task, None
        try:
            if task is not None:
                self._changed.set()
                await task
        finally:
            await self._engine.dispose()

    async def _serve(self) -> None:
        while self._queue or not self._closed:
            if not self._queue:
                self._changed.clear()
                await self._changed.wait()
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))]
            batch = [item for item in batch if not item.result.done()]
            if batch and not await self._commit(batch):
                for item in batch:
                    await self._commit([item])

    async def _commit(self, batch: Sequence[_QueuedWork]) -> bool:
        """Run the batch in one transaction and resolve its futures.

        Returns:
            False if the works must run one by one, to see which of them fails.
        """
        try:
            self._check()
            results = await self._engine.transact(
                lambda connection: [item.work(connection) for item in batch]
            )
        except Exception as error:  # noqa: BLE001 - every error is passed on to the callers
            # If another program holds the lock, each single work would wait for it once more.
            is_shared = isinstance(error, StoreDown) or is_locked_by_others(error)
            if len(batch) > 1 and not is_shared:
                return False
            for item in batch:
                if not item.result.done():
                    item.result.set_exception(self._in_words(error))
            return True
        for item, result in zip(batch, results, strict=True):
            if not item.result.done():
                item.result.set_result(result)
        return True

    def _in_words(self, error: Exception) -> Exception:
        """Return a copy of the error for one caller: raising an exception modifies it."""
        if not isinstance(error, SQLAlchemyError):
            return StoreDown(str(error)) if type(error) is StoreDown else error
        store_error = explain(error, self._place)
        store_error.__cause__ = error
        return store_error


async def transact(engine: AsyncEngine | SqliteEngine, work: Callable[[Connection], T]) -> T:
    if isinstance(engine, SqliteEngine):
        return await engine.transact(work)
    async with engine.begin() as connection:
        return await connection.run_sync(work)
