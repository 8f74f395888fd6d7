"""Transactions: in a batch with what else waits (SQLite), or each for itself (PostgreSQL)."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from core.errors import StoreDown
from core.retry import RetryPolicy, retry
from core.store.engines import SqliteEngine
from core.store.failures import explain, is_held_by_others

T = TypeVar("T")

#: Writes that may share one commit. Bounds how long the first of them waits for the last.
_BATCH = 128

#: Short waits for a conflict, long enough in all (26 s) for a server to restart.
_RETRIES = RetryPolicy(tries=12, first_wait=0.05, longest_wait=5.0)

#: Seconds that transactions under way may take at the end: a dead server keeps nobody here.
_DISPOSE_SECONDS = 5.0


class TransactionRunner(Protocol):
    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction; what it wrote is durable when this returns."""
        ...

    async def close(self) -> None:
        """Finish and free connections. Safe to call twice."""
        ...


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
        self._engine = engine
        self._place = place
        self._passes = passes
        self._pause = pause
        self._under_way: set[asyncio.Task[Any]] = set()

    async def run(self, work: Callable[[Connection], T]) -> T:
        failures = (SQLAlchemyError, OSError)
        try:
            return await retry(
                lambda: self._transact(work),
                _RETRIES,
                self._pause,
                on=failures,
                again=lambda error, wait: wait if self._passes(error) else None,
            )
        except failures as error:
            raise explain(error, self._place) from error

    async def _transact(self, work: Callable[[Connection], T]) -> T:
        task = asyncio.create_task(transact(self._engine, work), name="database transaction")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=_DISPOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._engine.dispose()


async def transact(engine: AsyncEngine | SqliteEngine, work: Callable[[Connection], T]) -> T:
    if isinstance(engine, SqliteEngine):
        return await engine.transact(work)
    async with engine.begin() as connection:
        return await connection.run_sync(work)


@dataclass(frozen=True)
class _QueuedWork:
    """Work that waits to be done, and who waits for it."""

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
        self,
        engine: AsyncEngine | SqliteEngine,
        place: str,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Write through `engine`, which has one connection and which nobody else uses.

        `check` is called before each transaction; it raises `StoreDown` if nothing must be written.
        """
        self._engine = engine
        self._place = place
        self._check = check
        self._line = deque[_QueuedWork]()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreDown(f"The database {self._place} is closed.")
        if self._task is None:
            self._task = asyncio.create_task(self._serve(), name="database writer")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._line.append(_QueuedWork(work, future))
        self._news.set()
        return await future

    async def close(self) -> None:
        self._closed = True
        task, self._task = self._task, None
        try:
            if task is not None:
                self._news.set()
                await task
        finally:
            await self._engine.dispose()

    async def _serve(self) -> None:
        while self._line or not self._closed:
            if not self._line:
                self._news.clear()
                await self._news.wait()
            batch = [self._line.popleft() for _ in range(min(len(self._line), _BATCH))]
            pending = [waiting for waiting in batch if not waiting.done.done()]
            if pending and not await self._commit(pending):
                for waiting in pending:
                    await self._commit([waiting])

    async def _commit(self, batch: Sequence[_QueuedWork]) -> bool:
        """Do the batch in one transaction; whether everybody knows what came of it.

        They do not where one of several works failed: whose failure it is shows one by one.
        """
        try:
            self._check()
            results = await transact(
                self._engine, lambda connection: [waiting.work(connection) for waiting in batch]
            )
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the callers
            # Each work would wait for a lock of others as long again, and everybody with it.
            if len(batch) > 1 and not (isinstance(error, StoreDown) or is_held_by_others(error)):
                return False
            for waiting in batch:
                if not waiting.done.done():  # somebody waits; raising an error writes to it
                    waiting.done.set_exception(self._store_error(error))
            return True
        for waiting, result in zip(batch, results, strict=True):
            if not waiting.done.done():
                waiting.done.set_result(result)
        return True

    def _store_error(self, error: Exception) -> Exception:
        if isinstance(error, SQLAlchemyError):
            store_error = explain(error, self._place)
            store_error.__cause__ = error
            return store_error
        return StoreDown(str(error)) if type(error) is StoreDown else error
