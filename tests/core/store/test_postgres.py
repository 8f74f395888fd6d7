"""PostgreSQL as it is when machines freeze and servers restart."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

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


class LosesAnswer:
    """Stands between a client and the server; loses the answer to one COMMIT and hangs up."""

    def __init__(self, server: str, socket: Path) -> None:
        self._server, self._socket = server, socket
        self.lost = 0
        self.is_armed = False

    async def __aenter__(self) -> Self:
        self._listening = await asyncio.start_unix_server(self._serve, self._socket)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listening.close()

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_unix_connection(self._server)
        answers = asyncio.create_task(self._pass_on(server, to_client))
        while data := await client.read(65_536):
            if self.is_armed and b"COMMIT" in data:
                self.is_armed, self.lost = False, self.lost + 1
                answers.cancel()
                await asyncio.wait([answers])
                to_server.write(data)
                await server.readuntil(b"COMMIT\0")  # it is done
                break
            to_server.write(data)
        answers.cancel()
        to_server.close()
        to_client.close()

    @staticmethod
    async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            target.write(data)


async def test_a_commit_whose_answer_was_lost_is_repeated_and_changes_nothing(
    store: SqlDebateStore, on_postgres: str, tmp_path: Path
) -> None:
    url = make_url(on_postgres)
    server = f"{url.query['host']}/.s.PGSQL.5432"
    through = url.update_query_dict({"host": str(tmp_path)}).render_as_string(hide_password=False)
    async with (
        LosesAnswer(server, tmp_path / ".s.PGSQL.5432") as line,
        await Database.open(through) as database,
    ):
        line.is_armed = True
        appended = await SqlDebateStore(database).append("d1", note(1), at=NOON)

    assert line.lost == 1
    assert (appended.recorded.seq, appended.recorded.event) == (2, note(1))
    assert [recorded.seq for recorded in await store.events("d1")] == [1, 2]


async def test_many_processes_may_bring_the_tables_up_to_date_at_once(on_postgres: str) -> None:
    async def open_one() -> None:
        async with await Database.open(on_postgres) as database:
            await prepare(database)

    await asyncio.gather(*(open_one() for _ in range(4)))
