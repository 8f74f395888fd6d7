"""Who writes: one task that batches (SQLite), or each caller for itself, repeating (PostgreSQL)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from core.errors import StoreDown
from core.store.failures import explain

T = TypeVar("T")

#: Writes that may share one commit. Bounds how long the first of them waits for the last.
_BATCH = 128

#: Seconds to wait before each repetition: short for a conflict, long enough in all (26 s) for a
#: server to restart.
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.0, 5.0, 5.0, 5.0, 5.0)


class Writer(Protocol):
    """Runs work in transactions."""

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run the work; it is durable when this returns."""
        ...

    async def close(self) -> None:
        """Finish and free connections. Safe to call twice."""
        ...


class Repeating:
    """Each work is a transaction of its own, repeated when the failure is a passing one.

    A commit whose answer got lost is repeated too: work must be safe to do twice, which keys see
    to.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        place: str,
        *,
        passes: Callable[[BaseException], bool],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Work through `engine`.

        Args:
            engine: Used by nobody else.
            place: The database in words for people.
            passes: Whether the same work may succeed a little later.
            pause: Waits some seconds.
        """
        self._engine = engine
        self._place = place
        self._passes = passes
        self._pause = pause
        self._under_way: set[asyncio.Task[Any]] = set()

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run the work in a transaction of its own."""
        return await self.run(work)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run the work, repeating it while that may help.

        Raises:
            StoreError: It failed for good.
        """
        for seconds in _PAUSES:
            try:
                return await self._once(work)
            except (SQLAlchemyError, OSError) as error:
                if not self._passes(error):
                    raise explain(error, self._place) from error
            await self._pause(seconds)
        return await self._last(work)

    async def _last(self, work: Callable[[Connection], T]) -> T:
        """Run the work one last time."""
        try:
            return await self._once(work)
        except (SQLAlchemyError, OSError) as error:
            raise explain(error, self._place) from error

    async def _once(self, work: Callable[[Connection], T]) -> T:
        """Run the work once, to its end even if the caller is cancelled meanwhile.

        A connection that is torn from the driver in the middle of a statement is never closed.
        """
        task = asyncio.create_task(self._transact(work))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _transact(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """Free connections, once what is under way has ended."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._engine.dispose()


@dataclass(frozen=True)
class _Waiting:
    """Work that waits to be done, and who waits for it."""

    work: Callable[[Connection], Any]
    done: asyncio.Future[Any]

    def settle(self, outcome: "_Outcome") -> None:
        """Tell who waits; a caller that was cancelled is not there any more."""
        if self.done.done():
            return
        if outcome.error is not None:
            self.done.set_exception(outcome.error)
        else:
            self.done.set_result(outcome.result)


@dataclass(frozen=True)
class _Outcome:
    """What work came to."""

    result: Any = None
    error: Exception | None = None


class BatchingWriter:
    """One task that commits all waiting work together: one flush of the disk for many writes.

    Each work is in a savepoint of its own, so one that fails only fails its caller. When the
    database itself fails, SQLite may have rolled back everything
    (https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction), so the
    batch is given up and its parts are done one by one.
    """

    def __init__(self, engine: AsyncEngine, place: str) -> None:
        """Write through `engine`, which has one connection.

        Args:
            engine: Used by nobody else.
            place: The database in words for people.
        """
        self._engine = engine
        self._place = place
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run the work together with whatever else waits.

        Raises:
            StoreError: The database failed, or is closed.
        """
        if self._closed:
            raise StoreDown(f"The database {self._place} is closed.")
        if self._task is None:
            self._task = asyncio.create_task(self._serve(), name="database writer")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(_Waiting(work, done))
        return await done

    async def close(self) -> None:
        """Do what waits, then free the connection."""
        self._closed = True
        task, self._task = self._task, None
        try:
            if task is not None:
                self._queue.put_nowait(None)
                await task
        finally:
            await self._engine.dispose()

    async def _serve(self) -> None:
        """Take what waits and commit it, until told to end."""
        going_on = True
        while going_on:
            first = await self._queue.get()
            taken = [first, *self._more()]
            going_on = None not in taken
            wanted = [one for one in taken if one and not one.done.done()]
            if wanted:
                await self._commit(wanted)

    def _more(self) -> list[_Waiting | None]:
        """What waits besides the first."""
        count = min(self._queue.qsize(), _BATCH - 1)
        return [self._queue.get_nowait() for _ in range(count)]

    async def _commit(self, batch: Sequence[_Waiting]) -> None:
        """Do the batch in one transaction; if the database fails, each part in its own."""
        try:
            outcomes = await self._transact(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the callers
            if len(batch) > 1:
                for one in batch:
                    await self._commit([one])
                return
            outcomes = [_Outcome(error=self._explained(error))] * len(batch)
        for one, outcome in zip(batch, outcomes, strict=True):
            one.settle(outcome)

    async def _transact(self, batch: Sequence[_Waiting]) -> list[_Outcome]:
        """Do all in one transaction, or raise what the database raised."""
        async with self._engine.begin() as connection:
            if len(batch) == 1:
                # No savepoint: what SQLite says is then about the work, not about the savepoint
                # that went when it rolled back.
                return [_Outcome(result=await connection.run_sync(batch[0].work))]
            return [await _attempt(connection, one.work) for one in batch]

    def _explained(self, error: Exception) -> Exception:
        """Errors of the database in words for people; others as they are."""
        if isinstance(error, SQLAlchemyError):
            explained = explain(error, self._place)
            explained.__cause__ = error
            return explained
        return error


async def _attempt(connection: AsyncConnection, work: Callable[[Connection], Any]) -> _Outcome:
    """Do one work in a savepoint. Errors of the database go up: they concern the batch."""
    try:
        async with connection.begin_nested():
            return _Outcome(result=await connection.run_sync(work))
    except SQLAlchemyError:
        raise
    except Exception as error:  # noqa: BLE001 - it belongs to the caller
        return _Outcome(error=error)
