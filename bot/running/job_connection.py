"""Procrastinate's connection to PostgreSQL: its tables, and how it lives through a restart."""

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, LiteralString, cast
from weakref import WeakKeyDictionary

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from procrastinate.schema import SchemaManager
from psycopg import sql
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import make_url

from core.errors import StoreDown
from core.store.postgres import CONNECT_ARGS, is_doubtful

#: Seconds that a call waits for a server that restarts.
PATIENCE = 30.0
#: Seconds between two tries to listen again.
_PAUSE = 0.5
#: Any number, the same in all replicas: who makes Procrastinate's tables holds this lock.
_LOCK = 4_007_012


def conninfo_of(url: str) -> str:
    """Return SQLAlchemy's URL of a PostgreSQL database as libpq wants it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


class RetryingConnector(PsycopgConnector):
    """Listens again after a restart of the server, instead of ending the worker.

    Procrastinate runs one statement at a time, so each is a transaction of its own: with a
    transaction around it, and a question whether the connection lives before it, it would take four
    round trips.
    """

    def __init__(self, conninfo: str) -> None:
        super().__init__(
            conninfo=conninfo,
            kwargs=dict(CONNECT_ARGS),
            min_size=1,
            max_size=8,
            timeout=PATIENCE,
            configure=self._set_up,
            pool_factory=self._pool_of,
        )
        #: When a connection was taken last, or made.
        self._taken_at = WeakKeyDictionary[psycopg.AsyncConnection[Any], float]()

    async def _set_up(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Have each statement of a new connection be a transaction of its own."""
        self._taken_at[connection] = time.monotonic()
        await connection.set_autocommit(True)

    def _pool_of(self, **wanted: Any) -> AsyncConnectionPool:
        """Make the connections, by Procrastinate's wishes but for one."""
        settings: dict[str, Any] = {**wanted, "check": self._try_if_doubtful}
        return AsyncConnectionPool(**settings)

    async def _try_if_doubtful(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Ask a connection whether it lives where that is in doubt.

        Raises:
            psycopg.Error: It does not live.
        """
        now = time.monotonic()
        before, self._taken_at[connection] = self._taken_at[connection], now
        if is_doubtful(connection.fileno(), now - before):
            await AsyncConnectionPool.check_connection(connection)

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Hear of new jobs for ever."""
        names = tuple(channels)
        while True:
            try:
                await super().listen_notify(on_notification, names)
            except (ConnectorException, psycopg.Error, OSError):
                await asyncio.sleep(_PAUSE)


async def prepare(conninfo: str) -> None:
    """Make Procrastinate's tables, or bring older ones up to date.

    Raises:
        StoreDown: The database does not answer.
    """
    try:
        async with await psycopg.AsyncConnection[Any].connect(conninfo) as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            # Everything, or the migrations that were not run yet.
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS moot_jobs_migrations (name text PRIMARY KEY)"
            )
            cursor = await connection.execute("SELECT name FROM moot_jobs_migrations")
            done = {row[0] for row in await cursor.fetchall()}
            steps = _steps()
            fresh = [name for name in sorted(steps) if name not in done]
            for name in fresh:
                await connection.execute("INSERT INTO moot_jobs_migrations VALUES (%s)", (name,))
            wanted: list[LiteralString] = (
                [steps[name] for name in fresh] if done else [SchemaManager.get_schema()]
            )
            for step in wanted:
                await connection.execute(sql.SQL(step))
    except psycopg.Error as error:
        words = f"The tables of the job queue cannot be made ({type(error).__name__})."
        raise StoreDown(words) from error


def _steps() -> dict[str, LiteralString]:
    """Procrastinate's own migrations by their names, which sort by age."""
    files = Path(SchemaManager.get_migrations_path()).glob("*.sql")
    return {path.name: cast("LiteralString", path.read_text("utf-8")) for path in files}
