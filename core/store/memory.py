"""The store of a running program over an SQLite that forgets, for tests and tryouts."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool

from core.store.debates import SqlDebateStore
from core.store.tables import METADATA

T = TypeVar("T")


class InMemoryDatabase:
    """Tables in memory, gone with the value: no file, no thread, no waiting."""

    is_shared = False

    def __init__(self) -> None:
        """Make empty tables."""
        # One connection: in memory each has a database of its own.
        self._engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        METADATA.create_all(self._engine)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction."""
        with self._engine.begin() as connection:
            return work(connection)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work`, which only reads."""
        return await self.write(work)

    def __del__(self) -> None:
        """Free the connection."""
        self._engine.dispose()


class InMemoryStore(SqlDebateStore):
    """A `DebateStore` in memory, gone with the process. Of one event loop."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(InMemoryDatabase())
