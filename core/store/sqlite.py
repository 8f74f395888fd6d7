"""Transactions of an SQLite file, so that what is written stays written."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from core.store.threads import ConnectionThreads, Transactions

T = TypeVar("T")

#: Milliseconds to wait for a lock held by somebody outside (a person with the sqlite3 program):
#: short enough that who typed a command hears within Slack's three seconds that it was not taken,
#: and that a process told to stop does.
_BUSY_MS = 2_000

#: How a new file is laid out, before anything is in it. Events of a debate have 2 to 3 KB: one of
#: those fits in SQLite's usual page of 4 KB, and a third of the file would be empty. Free pages can
#: be given back while others write (https://sqlite.org/pragma.html#pragma_auto_vacuum).
FILE_FORM = ("page_size=8192", "auto_vacuum=INCREMENTAL")


class FileTransactions:
    """Transactions of SQLite, each whole one in a thread that has a connection of its own."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        connections: int,
        set_up: Sequence[str],
        begin: str,
    ) -> None:
        """Open nothing yet.

        Args:
            connect: Makes a `_Connection`, in the thread that it is for.
            connections: How many transactions run at the same time.
            set_up: Statements that every connection begins with.
            begin: The statement that begins a transaction.
        """
        self._begin = begin
        # One for all threads, so that a statement is compiled once.
        self._engine = create_engine(
            "sqlite://",
            creator=connect,
            poolclass=NullPool,  # each is asked for once, and kept
            pool_reset_on_return=None,  # transactions end by themselves
            hide_parameters=True,  # errors end in logs
            json_deserializer=_read_json,
        )
        # Kept by their threads: to be given one anew takes as long as a statement.
        self._threads = ConnectionThreads(self._engine.connect, connections)

        def begin_connection(driver: sqlite3.Connection, _record: object) -> None:
            for statement in set_up:
                driver.execute(statement).close()

        event.listen(self._engine, "connect", begin_connection)

    async def transact(self, work: Callable[[Connection], T], *, by_statement: bool = False) -> T:
        """Run the work in a transaction of its own; once begun it ends, whoever is cancelled."""
        del by_statement  # to begin and to commit costs hardly anything in a file
        return await self._threads.run(partial(self._do, work))

    def _do(self, work: Callable[[Connection], T], known: Connection) -> T:
        driver = cast("_Connection", known.connection.driver_connection)
        try:
            if driver.in_transaction:  # a commit that fails may leave it open
                driver.rollback()
            # Not as a statement of SQLAlchemy, nor by a listener of its event: both take longer.
            driver.execute(self._begin)
        except sqlite3.Error as error:
            raise DBAPIError.instance(self._begin, None, error, sqlite3.Error) from error
        with known.begin():
            try:
                return work(known)
            finally:
                driver.close_cursors()

    async def dispose(self) -> None:
        """Free connections and their threads, once all that was asked for is done."""
        await self._threads.dispose()
        self._engine.dispose()


def _read_json(stored: str) -> Any:
    """The value of a JSON column; nothing where a file is damaged.

    Whatever wants the row then finds fields missing, and it alone fails; a row that cannot be read
    would hold up its whole queue.
    """
    try:
        return json.loads(stored)
    except ValueError:
        return {}


class _Connection(sqlite3.Connection):
    """A connection that can close every cursor it has given away.

    A result that was not read to its end, such as by work that failed, would keep the connection at
    the state of that moment for as long as anything refers to it, even after the transaction
    (https://sqlite.org/isolation.html).
    """

    def __init__(self, *args: Any, **named: Any) -> None:
        """Connect as the driver does."""
        super().__init__(*args, **named)
        self._given: list[sqlite3.Cursor] = []

    def cursor(self, *args: Any, **named: Any) -> Any:
        """Give away a cursor, as the driver does."""
        given = super().cursor(*args, **named)
        self._given.append(given)
        return given

    def close_cursors(self) -> None:
        """Close every cursor given away since the last time."""
        for given in self._given:
            given.close()
        self._given.clear()


def sqlite_writer(path: Path) -> Transactions:
    """The one connection that writes to the file.

    FULL: each commit is on the disk before it returns (https://sqlite.org/pragma.html#pragma_synchronous).
    IMMEDIATE: take the write lock at once; a reading transaction cannot always become a writing
    one (https://sqlite.org/lang_transaction.html).
    """
    # What is deleted is overwritten (https://sqlite.org/pragma.html#pragma_secure_delete).
    # The first two hold for a new file only.
    pragmas = (*FILE_FORM, "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
    pragmas = (*pragmas, "secure_delete=ON")
    return _sqlite(str(path), connections=1, begin="BEGIN IMMEDIATE", pragmas=pragmas)


def sqlite_reader(path: Path, mode: str = "rw") -> Transactions:
    """Connections that read the file while it is being written.

    They make no database, and with `ro` change none. The write-ahead log beside it holds what was
    written last: SQLite deletes it beside a new file, and brings it into a copy that was put there.

    Args:
        path: The file.
        mode: SQLite's word (https://sqlite.org/uri.html): `ro` for whoever does not hold the lock.
    """
    address = f"{path.as_uri()}?mode={mode}"
    return _sqlite(address, connections=4, begin="BEGIN", pragmas=("query_only=ON",))


def _sqlite(
    address: str, *, connections: int, begin: str, pragmas: tuple[str, ...]
) -> Transactions:
    """Transactions of connections that are set up and begin them as told."""
    return FileTransactions(
        partial(
            sqlite3.connect,
            address,
            uri=address.startswith("file:"),
            factory=_Connection,
            isolation_level=None,  # the driver must not begin transactions behind our back
        ),
        connections,
        [f"PRAGMA {pragma}" for pragma in (f"busy_timeout={_BUSY_MS}", *pragmas)],
        begin,
    )
