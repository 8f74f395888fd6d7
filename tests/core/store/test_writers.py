"""Work that is repeated while it may help, and no longer; work that waits in line."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from core.errors import RunLost, StoreDown, StoreError
from core.store.sqlite import sqlite_writer
from core.store.writers import BatchingWriter, Repeating


class Trouble:
    """Work on a real connection that the database refuses some times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.tries = 0

    def __call__(self, connection: Connection) -> int:
        self.tries += 1
        connection.exec_driver_sql("INSERT INTO tries VALUES (1)")
        if self.tries <= self.times:
            connection.exec_driver_sql("SELECT * FROM nowhere")
        return connection.exec_driver_sql("SELECT count(*) FROM tries").scalar_one()


class Bench:
    """A `Repeating` whose pauses are noted and take no time."""

    def __init__(self, path: Path, *, passes: bool) -> None:
        self.pauses: list[float] = []
        self.repeating = Repeating(
            sqlite_writer(path), "place", passes=lambda _error: passes, pause=self.pause
        )

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture(params=[True, False], ids=["passes", "stays"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path / "moot.db", passes=request.param)
    await made.repeating.write(lambda c: c.exec_driver_sql("CREATE TABLE tries (n)").close())
    yield made
    await made.repeating.close()


@pytest.mark.parametrize("bench", [True], indirect=True)
async def test_work_is_repeated_until_it_succeeds_and_leaves_no_traces(bench: Bench) -> None:
    assert await bench.repeating.write(Trouble(3)) == 1
    assert bench.pauses == sorted(bench.pauses)
    assert len(bench.pauses) == 3


@pytest.mark.parametrize("bench", [True], indirect=True)
async def test_work_is_given_up_after_half_a_minute(bench: Bench) -> None:
    trouble = Trouble(1000)

    with pytest.raises(StoreError, match="place"):
        await bench.repeating.write(trouble)
    assert trouble.tries == len(bench.pauses) + 1
    assert 20 < sum(bench.pauses) < 40


@pytest.mark.parametrize("bench", [False], indirect=True)
async def test_work_that_cannot_succeed_is_not_repeated(bench: Bench) -> None:
    trouble = Trouble(1)

    with pytest.raises(StoreError, match="place"):
        await bench.repeating.write(trouble)
    assert (trouble.tries, bench.pauses) == (1, [])


async def test_what_the_work_itself_raises_is_not_repeated(bench: Bench) -> None:
    def lost(_connection: Connection) -> None:
        raise RunLost

    with pytest.raises(RunLost):
        await bench.repeating.write(lost)
    assert bench.pauses == []


async def test_a_commit_that_fails_leaves_a_connection_that_can_be_used(tmp_path: Path) -> None:
    engine = sqlite_writer(tmp_path / "moot.db")

    def tables(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE one (id INTEGER PRIMARY KEY)")
        # Checked when it is committed (https://sqlite.org/foreignkeys.html#fk_deferred), and then
        # the transaction stays open.
        later = "REFERENCES one DEFERRABLE INITIALLY DEFERRED"
        connection.exec_driver_sql(f"CREATE TABLE other (one INTEGER {later})")

    def refer(connection: Connection) -> None:
        connection.exec_driver_sql("INSERT INTO other VALUES (7)")

    def count(connection: Connection) -> int:
        return connection.exec_driver_sql("SELECT count(*) FROM other").scalar_one()

    await engine.transact(tables)
    with pytest.raises(IntegrityError):
        await engine.transact(refer)
    assert await engine.transact(count) == 0
    await engine.dispose()


class Held:
    """Work that goes on until it is let go."""

    def __init__(self, done: list[str], name: str) -> None:
        self._done, self._name = done, name
        self._has_begun, self._is_free = Event(), Event()

    def __call__(self, connection: Connection) -> None:
        del connection
        self._done.append(self._name)
        self._has_begun.set()
        assert self._is_free.wait(timeout=60)

    async def until_begun(self) -> None:
        assert await asyncio.to_thread(self._has_begun.wait, timeout=60)

    def let_go(self) -> None:
        self._is_free.set()


async def test_what_a_person_waits_for_is_committed_before_and_without_what_else_waits(
    tmp_path: Path,
) -> None:
    writer, done = BatchingWriter(sqlite_writer(tmp_path / "moot.db"), "place"), list[str]()
    held = Held(done, "under way")

    def named(name: str) -> Callable[[Connection], None]:
        return lambda _: done.append(name)

    under_way = asyncio.create_task(writer.write(held))
    await held.until_begun()
    others = [asyncio.create_task(writer.write(named("other"))) for _ in range(3)]
    person = asyncio.create_task(writer.write(named("person"), for_person=True))
    await asyncio.sleep(0)  # all of them wait
    held.let_go()
    await person
    assert done[:2] == ["under way", "person"]
    await asyncio.gather(under_way, *others)
    assert done[2:] == ["other"] * 3
    await writer.close()


async def test_what_people_do_keeps_nothing_else_waiting_for_ever(tmp_path: Path) -> None:
    writer, done = BatchingWriter(sqlite_writer(tmp_path / "moot.db"), "place"), list[str]()
    held = Held(done, "person")

    people = [asyncio.create_task(writer.write(held, for_person=True))]
    await held.until_begun()
    other = asyncio.create_task(writer.write(lambda _: done.append("other")))
    people.append(
        asyncio.create_task(writer.write(lambda _: done.append("next person"), for_person=True))
    )
    await asyncio.sleep(0)  # both wait
    held.let_go()
    await asyncio.gather(other, *people)
    assert done == ["person", "other", "next person"]
    await writer.close()


async def test_a_writer_that_is_closed_does_what_waits_before(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    writer, done = BatchingWriter(sqlite_writer(path), "place"), list[int]()
    waiting = [
        asyncio.create_task(writer.write(lambda _, n=n: done.append(n), for_person=n == 1))
        for n in range(3)
    ]
    await asyncio.sleep(0)
    await writer.close()
    assert done == [1, 0, 2]
    assert all(one.done() for one in waiting)
    with pytest.raises(StoreDown):
        await writer.write(lambda _: done.append(3))
