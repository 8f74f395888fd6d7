"""PostgreSQL when processes freeze and the server restarts."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import make_url, text

from core.debate.contributions import Note
from core.debate.debate_events import DebateStarted
from core.debate.message_events import NoteAdded
from core.debate.people import Person
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.engines import postgres_engine
from core.store.tables import prepare
from core.testing import a_setup
from tests.postgres import PostgresForTests

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
JOAN = Person(id="U1", name="Joan")


@pytest.fixture
async def store(on_postgres: str) -> AsyncIterator[SqlDebateStore]:
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        await store.create("d1", DebateStarted(setup=a_setup()), origin="o1", at=NOON)
        yield store


def note(number: int) -> NoteAdded:
    return NoteAdded(note=Note(id=f"n{number}", author=JOAN, text="Mind the cost"))


async def test_a_frozen_transaction_does_not_hold_up_the_others(
    store: SqlDebateStore, on_postgres: str
) -> None:
    frozen = postgres_engine(make_url(on_postgres))
    connection = await frozen.connect()
    await connection.execute(text("SELECT * FROM debates WHERE id = 'd1' FOR UPDATE"))
    async with asyncio.timeout(300):
        assert (await store.append("d1", note(1), at=NOON)).fresh
    await connection.invalidate()
    await frozen.dispose()


async def test_a_restart_of_the_server_fails_nobody(
    store: SqlDebateStore, postgres: PostgresForTests
) -> None:
    async def write(number: int) -> bool:
        await asyncio.sleep(number * 0.02)
        return (await store.append("d1", note(number), at=NOON)).fresh

    async def restart() -> None:
        await asyncio.sleep(0.2)
        await asyncio.to_thread(postgres.restart)

    results = await asyncio.gather(restart(), *(write(number) for number in range(40)))

    log = await store.events("d1")
    assert len(results) == 41
    assert [recorded.seq for recorded in log] == list(range(1, 42))
    assert len({recorded.event.key for recorded in log}) == 41


async def test_a_connection_that_the_server_ended_is_replaced_before_it_is_used(
    on_postgres: str,
) -> None:
    # No transaction is repeated here: the first one must come to a connection that lives.
    engine, elsewhere = (postgres_engine(make_url(on_postgres)) for _ in range(2))
    own = text("SELECT pg_backend_pid()")
    async with engine.begin() as connection:
        before = (await connection.execute(own)).scalar_one()
    async with elsewhere.begin() as connection:
        await connection.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": before})
    async with engine.begin() as connection:
        assert (await connection.execute(own)).scalar_one() != before
    await engine.dispose()
    await elsewhere.dispose()


async def test_many_processes_may_bring_the_tables_up_to_date_at_once(on_postgres: str) -> None:
    async def open_one() -> None:
        async with await Database.open(on_postgres) as database:
            await prepare(database)

    await asyncio.gather(*(open_one() for _ in range(4)))
