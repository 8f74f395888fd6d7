"""Procrastinate's connection to PostgreSQL: its tables, and how it lives through a restart."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException
from procrastinate.schema import SchemaManager
from psycopg import sql
from sqlalchemy import make_url

from core.errors import StoreDown
from core.store.engines import CONNECT_ARGS

#: Seconds that a call waits for a server that restarts.
PATIENCE = 30.0
#: Seconds between two tries to listen again.
_PAUSE = 0.5
#: Any number, the same in all replicas: who makes Procrastinate's tables holds this lock.
_LOCK = 4_007_012


def conninfo_of(url: str) -> str:
    """Return SQLAlchemy's URL of a PostgreSQL database as libpq wants it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


class ListeningConnector(PsycopgConnector):
    """Listens again after a restart of the server, instead of ending the worker and its jobs."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(
            conninfo=conninfo, kwargs=dict(CONNECT_ARGS), min_size=1, max_size=8, timeout=PATIENCE
        )

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
