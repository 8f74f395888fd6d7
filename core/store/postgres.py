"""Connections to PostgreSQL: in threads for what Moot keeps, in the event loop for Slack's SDK."""

import asyncio
import select
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from core.store.threads import ConnectionThreads

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy.ext.asyncio import AsyncEngine

T = TypeVar("T")

#: Milliseconds after which the server ends a transaction left open by a frozen process, so that
#: its locks do not hold up the others.
_IDLE_MS = 5_000
#: Milliseconds after which a server is given up whose machine does not answer at all, not even that
#: it got what was sent (https://www.postgresql.org/docs/current/libpq-connect.html).
_VANISHED_MS = 30_000
#: Seconds that connections may take at the end: a server that stands still keeps nobody here.
_DISPOSE_SECONDS = 5.0
#: Seconds after which a connection that nobody used is asked whether it still lives.
_TRUSTED_SECONDS = 10.0
#: What every connection is made with, as libpq calls it.
CONNECT_ARGS: Mapping[str, Any] = {
    "connect_timeout": 10,
    # A server that has vanished without a word is given up.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "tcp_user_timeout": _VANISHED_MS,
    # What is written relies on READ COMMITTED, and what is read alone is as good in it.
    "options": f"-c idle_in_transaction_session_timeout={_IDLE_MS}"
    " -c synchronous_commit=on -c timezone=UTC"
    r" -c default_transaction_isolation=read\ committed",
}


def is_doubtful(file: int, seconds_alone: float) -> bool:
    """Whether a connection must be asked if it lives, before it is used.

    To ask takes a round trip, and a turn has a dozen transactions. In doubt is one where something
    came that nobody asked for, as when the server closes it, and one that nobody used for so long
    that something on the way may have forgotten it.

    Args:
        file: The number of its socket.
        seconds_alone: How long nobody has used it.
    """
    came = select.poll()
    came.register(file, select.POLLIN)
    return seconds_alone > _TRUSTED_SECONDS or bool(came.poll(0))


class ServerTransactions:
    """Transactions of psycopg's connections that wait, each whole one in a thread.

    Its connections for event loops do the same work, but a statement then takes several passes of
    the loop, and twice the CPU in all.
    """

    def __init__(self, url: URL, connections: int) -> None:
        """Open nothing yet.

        Args:
            url: Of the database.
            connections: How many transactions run at the same time.
        """
        # Each connection is asked for once, and kept.
        engine = create_engine(url, poolclass=NullPool, **_on_server())
        self._threads = ConnectionThreads(
            partial(_ServerConnection, engine), connections, _DISPOSE_SECONDS
        )

    async def transact(self, work: Callable[[Connection], T], *, by_statement: bool = False) -> T:
        """Run the work, once begun to its end, whoever is cancelled.

        It is a transaction, or each statement of it is one: that takes two round trips fewer, to
        begin and to commit. What is read is the same, as in a transaction, too, each statement
        sees what was committed before it began
        (https://www.postgresql.org/docs/current/transaction-iso.html).
        """
        return await self._threads.run(
            lambda connection: connection.run(work, by_statement=by_statement)
        )

    async def dispose(self) -> None:
        """Free connections and their threads, once all that was asked for is done."""
        await self._threads.dispose()


class _ServerConnection:
    """A connection, made when it is wanted and made anew when it is dead."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        #: What SQLAlchemy knows it as, and the driver. Kept: to be given one anew takes as long as
        #: a statement.
        self._known: tuple[Connection, psycopg.Connection] | None = None
        self._left_at = 0.0

    def run(self, work: Callable[[Connection], T], *, by_statement: bool) -> T:
        """Run the work, in a transaction or each statement by itself."""
        connection, driver = self._living()
        try:
            if driver.autocommit is not by_statement:
                driver.autocommit = by_statement  # the server is not asked
            with connection.begin():
                return work(connection)
        except BaseException:
            if connection.invalidated or driver.info.transaction_status:
                self._give_up()
            raise
        finally:
            self._left_at = time.monotonic()

    def close(self) -> None:
        """Close it, if it is open."""
        if self._known is not None:
            self._known[0].close()

    def _living(self) -> tuple[Connection, "psycopg.Connection"]:
        if self._known is not None and not self._lives(self._known[1]):
            self._give_up()
        if self._known is None:
            connection = self._engine.connect()
            driver: Any = connection.connection.driver_connection
            self._known = connection, driver
            self._left_at = time.monotonic()
        return self._known

    def _lives(self, driver: "psycopg.Connection") -> bool:
        """Whether the connection lives; the server is asked only where that is in doubt."""
        try:
            if not is_doubtful(driver.fileno(), time.monotonic() - self._left_at):
                return True
            driver.autocommit = True
            driver.execute("SELECT 1")
        except driver.Error:
            return False
        return True

    def _give_up(self) -> None:
        """Leave the connection as it is, and use it no more."""
        known, self._known = self._known, None
        if known is not None:
            with suppress(DBAPIError):
                known[0].invalidate()
            known[0].close()


def _on_server() -> dict[str, Any]:
    """What all connections to a server are made with."""
    return {
        "hide_parameters": True,  # errors end in logs
        # All transactions end by themselves: a connection comes back as it was.
        "pool_reset_on_return": None,
        "connect_args": dict(CONNECT_ARGS),
    }


def postgres_engine(url: URL) -> "AsyncEngine":
    """Connections to a server in the event loop; a dead one is noticed before it is used."""
    # It loads SQLAlchemy's ORM, which nothing else here wants: 0.06 s.
    from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415 - most have SQLite

    engine = create_async_engine(url, pool_size=8, max_overflow=8, **_on_server())
    _try_doubtful_connections(engine)
    return engine


def _try_doubtful_connections(engine: "AsyncEngine") -> None:
    """Have a doubtful connection asked whether it lives, and replaced if not, before it is used."""
    from psycopg import Error  # noqa: PLC0415 - an extra, for those with a server

    def left_alone(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["left_at"] = asyncio.get_running_loop().time()

    def look(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        now = asyncio.get_running_loop().time()
        alone = now - record.info.get("left_at", now)
        try:
            if is_doubtful(connection.driver_connection.fileno(), alone):
                engine.dialect.do_ping(connection)
        except Error:
            # All that were made before it are replaced as well.
            raise InvalidatePoolError from None

    event.listen(engine.sync_engine, "checkin", left_alone)
    event.listen(engine.sync_engine, "checkout", look)
