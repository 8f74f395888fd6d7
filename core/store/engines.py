"""SQLAlchemy's engines for both databases, and how transactions run on them.

What is written stays written: on SQLite in a batch with what else waits, on PostgreSQL each
transaction for itself.
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
from core.store.failures import explain, is_held_by_others

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

#: Writes that may share one commit. Bounds how long the first of them waits for the last.
_BATCH = 128

#: Short waits for a conflict, long enough in all (26 s) for a server to restart.
_RETRIES = RetryPolicy(tries=12, first_wait=0.05, longest_wait=5.0)

#: Seconds that transactions under way may take at the end: a dead server keeps nobody here.
_DISPOSE_SECONDS = 5.0


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


class RepeatingWriter:
    """Each work is a transaction of its own, repeated when the failure is a passing one.

    A commit whose answer got lost is repeated too: work must be safe to do twice, which keys see
    to. A transaction that has begun ends, whoever is cancelled: else a connection that is being
    made could outlive the event loop.
    """

    def __init__(
        self,
        engine: AsyncEngine | SqliteEngine,
        place: str,
        *,
        passes: Callable[[BaseException], bool] = lambda _error: False,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Work through `engine`, which nobody else uses.

        Args:
            engine: Makes the transactions.
            place: The database in words for people.
            passes: Whether the same work may succeed a little later; without, nothing is repeated.
            pause: Waits some seconds.
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
    done: asyncio.Future[Any]


class BatchingWriter:
    """One task commits whatever waits in one transaction: a commit is one flush of the disk.

    A batch in which anything fails is rolled back and done again one by one, so that a work that
    fails only fails its caller. Savepoints would do it too, but cost two statements per work, and
    when the database itself fails, SQLite may have rolled back everything
    (https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
    """

    def __init__(
        self, engine: SqliteEngine, place: str, check: Callable[[], None] = lambda: None
    ) -> None:
        """Write through `engine`, which has one connection and which nobody else uses.

        `check` is called before each transaction; it raises `StoreDown` if nothing must be written.
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
            batch = [queued for queued in batch if not queued.done.done()]
            if batch and not await self._commit(batch):
                for queued in batch:
                    await self._commit([queued])

    async def _commit(self, batch: Sequence[_QueuedWork]) -> bool:
        """Do the batch in one transaction; False where it has to be done one by one.

        Whose failure it is shows only then.
        """
        try:
            self._check()
            results = await self._engine.transact(
                lambda connection: [queued.work(connection) for queued in batch]
            )
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the callers
            # Each work would wait for a lock of others as long again, and everybody with it.
            if len(batch) > 1 and not (isinstance(error, StoreDown) or is_held_by_others(error)):
                return False
            for queued in batch:
                if not queued.done.done():
                    queued.done.set_exception(self._in_words(error))
            return True
        for queued, result in zip(batch, results, strict=True):
            if not queued.done.done():
                queued.done.set_result(result)
        return True

    def _in_words(self, error: Exception) -> Exception:
        """The error for one of the callers: each gets its own, as raising it writes to it."""
        if not isinstance(error, SQLAlchemyError):
            return StoreDown(str(error)) if type(error) is StoreDown else error
        explained = explain(error, self._place)
        explained.__cause__ = error
        return explained


async def transact(engine: AsyncEngine | SqliteEngine, work: Callable[[Connection], T]) -> T:
    if isinstance(engine, SqliteEngine):
        return await engine.transact(work)
    async with engine.begin() as connection:
        return await connection.run_sync(work)
