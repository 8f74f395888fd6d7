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

    def __init__(self) -> None:
        # One connection: in memory each has a database of its own.
        self._engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        METADATA.create_all(self._engine)

    async def write(self, work: Callable[[Connection], T]) -> T:
        with self._engine.begin() as connection:
            return work(connection)

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.write(work)

    def __del__(self) -> None:
        self._engine.dispose()


class InMemoryStore(SqlDebateStore):
    """A `DebateStore` in memory, gone with the process. Of one event loop."""

    def __init__(self) -> None:
        super().__init__(InMemoryDatabase())
