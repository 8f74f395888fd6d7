"""What errors of the two drivers mean."""

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


def from_sqlite(name: str) -> DBAPIError:
    cause = sqlite3.OperationalError("it failed")
    cause.sqlite_errorname = name
    return OperationalError("SELECT secret", {"name": "value"}, cause)


@pytest.mark.parametrize(
    "state", ["08006", "08001", "53300", "57P01", "57P03", "40001", "40P01", "25P03", None]
)
def test_trouble_that_passes_is_tried_again(state: str | None) -> None:
    assert is_passing(from_server(state))
    assert isinstance(explain(from_server(state), "db/moot"), StoreDown)


@pytest.mark.parametrize("state", ["23505", "42P01", "42501", "28P01", "3D000", "22021", "25P02"])
def test_trouble_that_stays_is_not_tried_again(state: str) -> None:
    assert not is_passing(from_server(state))


def test_a_broken_connection_is_tried_again() -> None:
    assert is_passing(ConnectionResetError())
    assert is_passing(DBAPIError("", {}, Exception("gone"), connection_invalidated=True))
    assert is_passing(PoolTimeoutError())


def test_a_fault_of_the_program_is_not_tried_again() -> None:
    assert not is_passing(InvalidRequestError("wrong use"))
    assert not is_passing(KeyError("x"))


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('FATAL:  database "nope" does not exist', "does not exist on its server"),
        ('FATAL:  role "joan" does not exist', "refuses our user or password"),
        ('FATAL:  password authentication failed for user "joan"', "refuses our user or password"),
        ("FATAL:  no pg_hba.conf entry for host", "refuses our user or password"),
    ],
)
def test_a_refused_connection_is_told_at_once(message: str, words: str) -> None:
    error = from_server(None, f"connection failed: {message}")

    assert not is_passing(error)
    assert words in str(explain(error, "db/moot"))


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (from_server("53100"), "disk of the database server db/moot is full"),
        (from_server("53300"), "short of connections"),
        (from_server("28P01"), "refuses our user or password"),
        (from_server("3D000"), "does not exist on its server"),
        (from_server("42501"), "Grant the rights"),
        (from_server("40001"), "too busy"),
        (from_server("57P01"), "does not answer"),
        (from_server("23505"), "refused to do it (23505)"),
        (ConnectionRefusedError(), "does not answer"),
        (PoolTimeoutError(), "no connection became free"),
        (InvalidRequestError("wrong use"), "InvalidRequestError"),
        (from_sqlite("SQLITE_FULL"), "disk with the database db/moot is full"),
        (from_sqlite("SQLITE_BUSY_SNAPSHOT"), "locked by another program"),
        (from_sqlite("SQLITE_LOCKED"), "locked by another program"),
        (from_sqlite("SQLITE_NOTADB"), "is not a database"),
        (from_sqlite("SQLITE_CORRUPT_INDEX"), "is damaged"),
        (from_sqlite("SQLITE_READONLY_DBMOVED"), "cannot be written"),
        (from_sqlite("SQLITE_CANTOPEN"), "cannot be opened"),
        (from_sqlite("SQLITE_IOERR_FSYNC"), "disk with the database db/moot fails"),
        (from_sqlite("SQLITE_CONSTRAINT_UNIQUE"), "refused to do it (SQLITE_CONSTRAINT_UNIQUE)"),
    ],
)
def test_trouble_is_told_in_words_without_the_statement(error: Exception, words: str) -> None:
    text = str(explain(error, "db/moot"))

    assert words in text
    assert "db/moot" in text
    assert "secret" not in text
    assert "value" not in text
