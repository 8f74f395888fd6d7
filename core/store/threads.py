"""Threads that have a connection to a database each, and take work from one line."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")


class Transactions(Protocol):
    """Runs work in transactions."""

    async def transact(self, work: Callable[[Connection], T], *, by_statement: bool = False) -> T:
        """Run the work in a transaction of its own; once begun it ends, whoever is cancelled.

        Args:
            work: What to do.
            by_statement: Whether each statement of it may stand by itself, where that saves
                something.
        """
        ...

    async def dispose(self) -> None:
        """Free connections, once all that was asked for is done. Safe to call twice."""
        ...


class Closable(Protocol):
    """What a thread holds: a connection, or what makes one when it is wanted."""

    def close(self) -> None:
        """Free it."""
        ...


C = TypeVar("C", bound=Closable)


class _Order(NamedTuple):
    """Work that waits to be done, and who waits for it."""

    work: Callable[[Any], Any]
    done: asyncio.Future[Any]


#: Work in the order of asking; None: a thread is to end.
_Line = SimpleQueue[_Order | None]


class ConnectionThreads(Generic[C]):
    """Runs work in threads, each with a connection of its own, begun when they are wanted.

    Statement by statement a transaction would come back to the event loop many times. And the
    threads take from one line by themselves: were it the event loop that lends connections, one
    would come back, and go to the next transaction, only when the loop comes round, and that is
    where a busy bot's reads spent most of their time (decision 0050).

    No pool of the standard library: a program waits at its end for the threads of those, and
    one that waits for a dead server never ends.
    """

    def __init__(self, connect: Callable[[], C], most: int, patience: float | None = None) -> None:
        """Begin nothing yet.

        Args:
            connect: Makes a connection, in the thread that it is for; asked again if it fails.
            most: How many threads there may be.
            patience: Seconds that `dispose` waits for threads; None: for as long as they take.
        """
        self._patience = patience
        self._connect = connect
        self._most = most
        self._line = _Line()
        #: Orders that are not done.
        self._unfinished = 0
        #: Of each thread: what it tells when it has ended.
        self._threads: list[asyncio.Future[None]] = []

    async def run(self, work: Callable[[C], T]) -> T:
        """Run the work with a connection; once begun it ends, whoever is cancelled.

        Raises:
            Exception: Whatever the work raises, or making the connection.
        """
        loop = asyncio.get_running_loop()
        if len(self._threads) < min(self._unfinished + 1, self._most):
            ended: asyncio.Future[None] = loop.create_future()
            serve = partial(self._serve, self._line, ended)
            threading.Thread(target=serve, name="database", daemon=True).start()
            self._threads.append(ended)
        done: asyncio.Future[T] = loop.create_future()
        self._unfinished += 1
        self._line.put(_Order(work, done))
        try:
            return await done
        finally:
            del done  # an error that it holds refers to this frame

    def _serve(self, line: _Line, ended: asyncio.Future[None]) -> None:
        """Do what waits in the line, in a thread, until told to end."""
        connection: C | None = None
        try:
            while (order := line.get()) is not None:
                connection = self._do(order, connection)
                del order  # else what it read would be kept until somebody asks again
            if connection is not None:
                connection.close()
        finally:
            with suppress(RuntimeError):  # the event loop has ended, and with it who waited
                ended.get_loop().call_soon_threadsafe(ended.set_result, None)

    def _do(self, order: _Order, connection: C | None) -> C | None:
        """Do the work and tell who waits; the connection for the next, if there is one."""
        tell, outcome = order.done.set_result, None
        try:
            if connection is None and not order.done.cancelled():
                connection = self._connect()
            if connection is not None and not order.done.cancelled():
                outcome = order.work(connection)
        except StopIteration as error:  # which no future takes
            tell, outcome = order.done.set_exception, RuntimeError("the work raised StopIteration")
            outcome.__cause__ = error
        except BaseException as error:  # noqa: BLE001 - whatever it is belongs to who asked
            tell, outcome = order.done.set_exception, error
        with suppress(RuntimeError):  # as above
            order.done.get_loop().call_soon_threadsafe(self._finish, order.done, tell, outcome)
        del order, tell, outcome  # an error refers to this frame
        return connection

    def _finish(self, done: asyncio.Future[Any], tell: Callable[[Any], None], outcome: Any) -> None:
        self._unfinished -= 1
        if not done.done():  # else whoever waited was cancelled
            tell(outcome)

    async def dispose(self) -> None:
        """Free connections and their threads, once all that was asked for is done.

        Who asks later gets new ones. A thread that takes longer than there is patience for is left
        to itself: it ends with what it waits for, or with the process.
        """
        line, self._line = self._line, _Line()
        ended, self._threads = self._threads, []
        for _ in ended:
            line.put(None)
        if ended:
            await asyncio.wait(ended, timeout=self._patience)
