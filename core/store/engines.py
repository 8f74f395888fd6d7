"""SQLAlchemy engines, set up so that what is written stays written."""

from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

#: Milliseconds to wait for a lock held by somebody outside (a person with the sqlite3 program).
_BUSY_MS = 5_000
#: Milliseconds after which the server ends a transaction left open by a frozen process, so that
#: its locks do not hold up the others.
_IDLE_MS = 5_000


def sqlite_writer(path: Path) -> AsyncEngine:
    """The one connection that writes to the file.

    FULL: each commit is on the disk before it returns (https://sqlite.org/pragma.html#pragma_synchronous).
    IMMEDIATE: take the write lock at once; a reading transaction cannot always become a writing
    one (https://sqlite.org/lang_transaction.html).
    """
    pragmas = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
    return _sqlite(path, connections=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def sqlite_reader(path: Path) -> AsyncEngine:
    """Connections that read the file while it is being written."""
    return _sqlite(path, connections=4, begin="BEGIN", pragmas=("query_only=ON",))


def _sqlite(path: Path, *, connections: int, begin: str, pragmas: tuple[str, ...]) -> AsyncEngine:
    """An engine whose connections are set up and whose transactions begin as told."""
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=60,
        hide_parameters=True,  # errors end in logs
        # sqlite3 must not begin transactions behind our back.
        connect_args={"isolation_level": None},
    )

    def set_up(connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={_BUSY_MS}", *pragmas):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begin_transaction(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", set_up)
    event.listen(engine.sync_engine, "begin", begin_transaction)
    return engine


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
