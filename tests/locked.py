"""Another program that holds an SQLite file's write lock."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path


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
