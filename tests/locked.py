"""Another program that works on an SQLite file of a bot that runs."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

Values = Mapping[str, object] | Sequence[object]


@asynccontextmanager
async def locked(database: Path) -> AsyncGenerator[None]:
    """Hold the lock for the block.

    The lock is waited for in a thread: what the bot writes meanwhile, on this event loop, has to
    end before anybody else gets it.
    """
    connect = sqlite3.connect(database, timeout=30, isolation_level=None, check_same_thread=False)
    with closing(connect) as connection:
        await asyncio.to_thread(connection.execute, "BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


async def change(database: Path, statement: str, values: Values = ()) -> int:
    """Change the file from outside, in a thread; return the number of changed rows."""

    def work() -> int:
        with closing(sqlite3.connect(database, timeout=30)) as connection, connection:
            return connection.execute(statement, values).rowcount

    return await asyncio.to_thread(work)
