"""Transactions on a server, each in the thread of its connection."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import DBAPIError

from core.store.postgres import ServerTransactions

_MOST = 3


def ask(statement: str) -> Callable[[Connection], Any]:
    """Work that returns a statement's one value."""
    return lambda connection: connection.execute(text(statement)).scalar_one()


def do(statement: str) -> Callable[[Connection], None]:
    """Work of a statement that returns nothing."""

    def work(connection: Connection) -> None:
        connection.execute(text(statement))

    return work


def fail_after(statement: str) -> Callable[[Connection], None]:
    """Work that runs a statement, then fails."""

    def work(connection: Connection) -> None:
        connection.execute(text(statement))
        raise KeyError(statement)

    return work


@pytest.fixture
async def server(on_postgres: str) -> AsyncIterator[ServerTransactions]:
    server = ServerTransactions(make_url(on_postgres), _MOST)
    await server.transact(do("CREATE TABLE seen (number integer)"))
    yield server
    await server.dispose()


async def test_what_fails_leaves_nothing_and_fails_only_its_caller(
    server: ServerTransactions,
) -> None:
    with pytest.raises(KeyError):
        await server.transact(fail_after("INSERT INTO seen VALUES (1)"))
    with pytest.raises(DBAPIError):
        await server.transact(do("INSERT INTO unknown VALUES (1)"))
    await server.transact(do("INSERT INTO seen VALUES (2)"))
    assert await server.transact(ask("SELECT sum(number) FROM seen")) == 2


async def test_by_statement_begins_no_transaction_and_afterwards_there_are_some(
    server: ServerTransactions,
) -> None:
    def times(connection: Connection) -> Sequence[Any]:
        # The time at which the transaction began.
        return [connection.execute(text("SELECT now()")).scalar_one() for _ in range(2)]

    first, second = await server.transact(times, by_statement=True)
    assert first < second
    with pytest.raises(KeyError):
        await server.transact(fail_after("INSERT INTO seen VALUES (1)"))
    first, second = await server.transact(times)
    assert first == second
    assert await server.transact(ask("SELECT count(*) FROM seen"), by_statement=True) == 0


async def test_a_connection_is_replaced_before_it_is_used_if_the_server_ended_it(
    server: ServerTransactions, on_postgres: str
) -> None:
    # Nothing is repeated here: each work must come to a connection that lives.
    elsewhere = ServerTransactions(make_url(on_postgres), 1)
    for by_statement in (False, True):
        transact = partial(server.transact, by_statement=by_statement)
        before = await transact(ask("SELECT pg_backend_pid()"))
        await elsewhere.transact(ask(f"SELECT pg_terminate_backend({before}, 5000)"))
        assert await transact(ask("SELECT pg_backend_pid()")) != before
    await elsewhere.dispose()


async def test_a_connection_that_the_server_ends_in_a_transaction_is_used_no_more(
    server: ServerTransactions,
) -> None:
    with pytest.raises(DBAPIError):
        await server.transact(ask("SELECT pg_terminate_backend(pg_backend_pid())"))
    assert await server.transact(ask("SELECT count(*) FROM seen")) == 0


async def test_more_than_there_are_connections_wait_for_their_turn(
    server: ServerTransactions,
) -> None:
    def slow(connection: Connection) -> int:
        return connection.execute(text("SELECT pg_backend_pid() FROM pg_sleep(0.01)")).scalar_one()

    used = await asyncio.gather(*(server.transact(slow) for _ in range(10 * _MOST)))
    assert len(used) == 10 * _MOST
    assert len(set(used)) <= _MOST


async def test_what_is_under_way_goes_on_without_its_caller_and_ends_before_its_connection(
    on_postgres: str,
) -> None:
    others = set(threading.enumerate())
    server = ServerTransactions(make_url(on_postgres), 1)
    await server.transact(do("CREATE TABLE seen (number integer)"))
    begun, go = threading.Event(), threading.Event()

    def insert(connection: Connection) -> None:
        begun.set()
        go.wait(10)
        connection.execute(text("INSERT INTO seen VALUES (1)"))

    writing = asyncio.create_task(server.transact(insert))
    await asyncio.to_thread(begun.wait, 10)
    waiting = asyncio.create_task(server.transact(do("INSERT INTO seen VALUES (2)")))
    await asyncio.sleep(0)
    writing.cancel()
    waiting.cancel()
    await asyncio.wait([writing, waiting])
    assert writing.cancelled()
    asyncio.get_running_loop().call_later(0.1, go.set)
    own = {one for one in threading.enumerate() if one.name == "database"} - others
    assert len(own) == 1
    await server.dispose()
    for one in own:
        one.join(10)
        assert not one.is_alive()

    # Connects anew when it is next asked; what had not begun was not done.
    assert await server.transact(ask("SELECT sum(number) FROM seen")) == 1
    await server.dispose()
    await server.dispose()
