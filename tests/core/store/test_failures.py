"""Explanations of errors of both database drivers."""

import sqlite3

import pytest
from sqlalchemy.exc import DBAPIError, InvalidRequestError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from core.errors import StoreDown
from core.store.failures import explain, is_passing


class ServerError(Exception):
    """Stands for psycopg's errors, which carry the server's SQLSTATE."""

    def __init__(self, sqlstate: str | None, message: str = "") -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


ServerOperationalError = type("OperationalError", (ServerError,), {})


def from_server(sqlstate: str | None, message: str = "") -> DBAPIError:
    cause = ServerOperationalError(sqlstate, message)
    return OperationalError("SELECT secret", {"name": "value"}, cause)


def refused(message: str) -> DBAPIError:
    return from_server(None, f"connection failed: FATAL:  {message}")


def from_sqlite(name: str) -> DBAPIError:
    cause = sqlite3.OperationalError("it failed")
    cause.sqlite_errorname = name
    return OperationalError("SELECT secret", {"name": "value"}, cause)


LOST = DBAPIError("", {}, Exception("gone"), connection_invalidated=True)
PASSES = {
    "08006": "does not answer",
    "53300": "short of connections",
    "53100": "disk of the database server db/moot is full",
    "57P01": "does not answer",
    "40001": "too busy",
    "25P03": "does not answer",
}


@pytest.mark.parametrize(
    ("error", "passes", "words"),
    [
        *((from_server(state), True, words) for state, words in PASSES.items()),
        (from_server(None), True, "does not answer"),
        (ConnectionRefusedError(), True, "does not answer. Start it, or check its address."),
        (LOST, True, "does not answer"),
        (PoolTimeoutError(), True, "no connection became free"),
        (from_server("28P01"), False, "refuses our user or password"),
        (from_server("3D000"), False, "does not exist on its server"),
        (from_server("42501"), False, "Grant the rights"),
        (from_server("23505"), False, "refused to do it (23505)"),
        (from_server("25P02"), False, "refused to do it (25P02)"),
        (refused('database "nope" does not exist'), False, "does not exist on its server"),
        (refused('role "joan" does not exist'), False, "refuses our user or password"),
        (refused("password authentication failed"), False, "refuses our user or password"),
        (refused("no pg_hba.conf entry for host"), False, "refuses our user or password"),
        (InvalidRequestError("wrong use"), False, "InvalidRequestError"),
        (from_sqlite("SQLITE_FULL"), False, "disk with the database db/moot is full"),
        (from_sqlite("SQLITE_BUSY_SNAPSHOT"), False, "locked by another program"),
        (from_sqlite("SQLITE_LOCKED"), False, "locked by another program"),
        (from_sqlite("SQLITE_NOTADB"), False, "is not a database"),
        (from_sqlite("SQLITE_CORRUPT_INDEX"), False, "is damaged"),
        (from_sqlite("SQLITE_READONLY_DBMOVED"), False, "cannot be written"),
        (from_sqlite("SQLITE_CANTOPEN"), False, "cannot be opened"),
        (from_sqlite("SQLITE_IOERR_FSYNC"), False, "disk with the database db/moot fails"),
        (from_sqlite("SQLITE_CONSTRAINT_UNIQUE"), False, "(SQLITE_CONSTRAINT_UNIQUE)"),
    ],
)
def test_a_database_error_is_explained_without_its_statement_and_retried_if_temporary(
    error: Exception, words: str, *, passes: bool
) -> None:
    explained = explain(error, "db/moot")

    assert is_passing(error) is passes
    assert not passes or isinstance(explained, StoreDown)
    assert words in str(explained)
    assert "db/moot" in str(explained)
    assert "secret" not in str(explained)
    assert "value" not in str(explained)
