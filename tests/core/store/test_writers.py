"""Work that is repeated while it may help, and no longer; work that waits in line."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from core.errors import RunLost, StoreDown, StoreError
from core.store.engines import sqlite_writer
from core.store.writers import BatchingWriter, RepeatingWriter, transact


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
    """A `RepeatingWriter` whose pauses are noted and take no time."""

    def __init__(self, path: Path, *, passes: bool) -> None:
        self.pauses: list[float] = []
        self.repeating = RepeatingWriter(
            sqlite_writer(path), "place", passes=lambda _error: passes, pause=self.pause
        )

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture(params=[True, False], ids=["passes", "stays"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "moot.db", passes=request.param)
    await bench.repeating.run(lambda c: c.exec_driver_sql("CREATE TABLE tries (n)").close())
    yield bench
    await bench.repeating.close()


@pytest.mark.parametrize("bench", [True], indirect=True)
async def test_work_is_repeated_until_it_succeeds_and_leaves_no_traces(bench: Bench) -> None:
    assert await bench.repeating.run(Trouble(3)) == 1
    assert bench.pauses == sorted(bench.pauses)
    assert len(bench.pauses) == 3


@pytest.mark.parametrize("bench", [True], indirect=True)
async def test_work_is_given_up_after_half_a_minute(bench: Bench) -> None:
    trouble = Trouble(1000)

    with pytest.raises(StoreError, match="place"):
        await bench.repeating.run(trouble)
    assert trouble.tries == len(bench.pauses) + 1
    assert 20 < sum(bench.pauses) < 40


@pytest.mark.parametrize("bench", [False], indirect=True)
async def test_work_that_cannot_succeed_is_not_repeated(bench: Bench) -> None:
    trouble = Trouble(1)

    with pytest.raises(StoreError, match="place"):
        await bench.repeating.run(trouble)
    assert (trouble.tries, bench.pauses) == (1, [])


async def test_what_the_work_itself_raises_is_not_repeated(bench: Bench) -> None:
    def lost(_connection: Connection) -> None:
        raise RunLost

    with pytest.raises(RunLost):
        await bench.repeating.run(lost)
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

    await transact(engine, tables)
    with pytest.raises(IntegrityError):
        await transact(engine, refer)
    assert await transact(engine, count) == 0
    await engine.dispose()


async def test_what_nobody_waits_for_any_more_is_not_begun(tmp_path: Path) -> None:
    writer, log = BatchingWriter(sqlite_writer(tmp_path / "moot.db"), "place"), list[str]()
    given_up = asyncio.create_task(writer.run(lambda _: log.append("given up")))
    await asyncio.sleep(0)  # it waits
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up

    await writer.run(lambda _: log.append("next"))

    assert log == ["next"]
    await writer.close()


async def test_a_writer_that_is_closed_does_what_waits_before(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    writer, log = BatchingWriter(sqlite_writer(path), "place"), list[int]()
    waiting = [asyncio.create_task(writer.run(lambda _, n=n: log.append(n))) for n in range(3)]
    await asyncio.sleep(0)
    await writer.close()
    assert log == [0, 1, 2]
    assert all(task.done() for task in waiting)
    with pytest.raises(StoreDown):
        await writer.run(lambda _: log.append(3))


async def test_a_transaction_ends_though_who_asked_for_it_is_cancelled(tmp_path: Path) -> None:
    path, begun = tmp_path / "moot.db", asyncio.Event()
    repeating = RepeatingWriter(sqlite_writer(path), "place", passes=lambda _error: False)
    await repeating.run(lambda c: c.exec_driver_sql("CREATE TABLE tries (n)").close())

    def insert(connection: Connection) -> None:
        begun.set()
        connection.exec_driver_sql("INSERT INTO tries VALUES (1)")

    asking = asyncio.create_task(repeating.run(insert))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await repeating.close()

    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT count(*) FROM tries").fetchone() == (1,)
