"""Who writes: one task that batches (SQLite), or each caller for itself, repeating (PostgreSQL)."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from core.errors import StoreDown, StoreError
from core.retry import RetryPolicy, retry
from core.store.failures import explain, is_held_by_others
from core.store.threads import Transactions

T = TypeVar("T")

#: Writes that may share one commit. Bounds how long the first of them waits for the last.
_BATCH = 128

#: Short waits for a conflict, long enough in all (26 s) for a server to restart.
_RETRIES = RetryPolicy(tries=12, first_wait=0.05, longest_wait=5.0)


class Writer(Protocol):
    """Runs work in transactions."""

    async def write(
        self,
        work: Callable[[Connection], T],
        *,
        for_person: bool = False,
        by_statement: bool = False,
    ) -> T:
        """Run the work; it is durable when this returns.

        Args:
            work: What to do.
            for_person: Whether somebody waits for it who typed or clicked: it goes first where
                one task writes for all.
            by_statement: Whether each statement of it may stand by itself.
        """
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
        engine: Transactions,
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

    async def write(
        self,
        work: Callable[[Connection], T],
        *,
        for_person: bool = False,
        by_statement: bool = False,
    ) -> T:
        """Run the work, whose only wait is for a free connection."""
        del for_person
        return await self.run(work, by_statement=by_statement)

    async def run(self, work: Callable[[Connection], T], *, by_statement: bool = False) -> T:
        """Run the work, repeating it while that may help.

        Raises:
            StoreError: It failed for good.
        """
        failures = (SQLAlchemyError, OSError)
        try:
            return await retry(
                lambda: self._engine.transact(work, by_statement=by_statement),
                _RETRIES,
                self._pause,
                on=failures,
                again=lambda error, wait: wait if self._passes(error) else None,
            )
        except failures as error:
            raise explain(error, self._place) from error

    async def close(self) -> None:
        """Free connections, once what is under way has ended."""
        await self._engine.dispose()


@dataclass(frozen=True)
class _Waiting:
    """Work that waits to be done, and who waits for it."""

    work: Callable[[Connection], Any]
    done: asyncio.Future[Any]

    def succeed(self, result: Any) -> None:
        """Tell who waits; a caller that was cancelled is not there any more."""
        if not self.done.done():
            self.done.set_result(result)

    def fail(self, error: Exception) -> None:
        """Tell who waits, if anybody does still."""
        if not self.done.done():
            self.done.set_exception(error)


class BatchingWriter:
    """One task that commits all waiting work together: one flush of the disk for many writes.

    A batch in which anything fails is rolled back and done again in halves, so that in the end a
    work that fails only fails its caller. Savepoints would do it too, but cost two statements per
    work, and when the database itself fails, SQLite may have rolled back everything
    (https://sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
    """

    def __init__(
        self, engine: Transactions, place: str, check: Callable[[], None] = lambda: None
    ) -> None:
        """Write through `engine`, which has one connection.

        Args:
            engine: Used by nobody else.
            place: The database in words for people.
            check: Called before each transaction; raises `StoreDown` if nothing must be written.
        """
        self._engine = engine
        self._place = place
        self._check = check
        #: What people wait for, and everything else.
        self._first, self._others = deque[_Waiting](), deque[_Waiting]()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def write(
        self,
        work: Callable[[Connection], T],
        *,
        for_person: bool = False,
        by_statement: bool = False,
    ) -> T:
        """Run the work together with whatever else waits, people's before and without the rest's.

        After each batch of people's the others' next one is done, however much people do.

        Raises:
            StoreError: The database failed, or is closed.
        """
        del by_statement  # one commit for all costs less
        if self._closed:
            raise StoreDown(f"The database {self._place} is closed.")
        if self._task is None:
            self._task = asyncio.create_task(self._serve(), name="database writer")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        (self._first if for_person else self._others).append(_Waiting(work, done))
        self._news.set()
        return await done

    async def close(self) -> None:
        """Do what waits, then free the connection."""
        self._closed = True
        task, self._task = self._task, None
        try:
            if task is not None:
                self._news.set()
                await task
        finally:
            await self._engine.dispose()

    async def _serve(self) -> None:
        """Take what waits and commit it, until told to end."""
        while self._first or self._others or not self._closed:
            if not self._first and not self._others:
                await self._news.wait()
                self._news.clear()
            for line in (self._first, self._others):  # in turn: nobody is kept waiting for ever
                taken = [line.popleft() for _ in range(min(len(line), _BATCH))]
                if wanted := [one for one in taken if not one.done.done()]:
                    await self._commit(wanted)

    async def _commit(self, batch: Sequence[_Waiting]) -> None:
        """Do the batch in one transaction; if anything in it fails, each half in its own."""
        try:
            self._check()
            results = await self._engine.transact(lambda c: [one.work(c) for one in batch])
        except StoreDown as error:
            _fail_all(batch, error)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to the callers
            if is_held_by_others(error):
                # Each part would wait for the lock as long again, and everybody with it.
                _fail_all(batch, explain(error, self._place))
                return
            await self._take_apart(batch, error)
            return
        for one, result in zip(batch, results, strict=True):
            one.succeed(result)

    async def _take_apart(self, batch: Sequence[_Waiting], error: Exception) -> None:
        """Find whose failure it is by halving."""
        if len(batch) == 1:
            told = error
            if isinstance(error, SQLAlchemyError):  # others are said as they are
                told = explain(error, self._place)
                told.__cause__ = error
            batch[0].fail(told)
            return
        middle = len(batch) // 2
        await self._commit(batch[:middle])
        await self._commit(batch[middle:])


def _fail_all(batch: Sequence[_Waiting], error: StoreError) -> None:
    """Tell everybody; each gets an error of its own, because raising one writes to it."""
    for one in batch:
        one.fail(type(error)(str(error)))
