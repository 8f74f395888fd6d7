"""Work that is repeated: while it may help, and no longer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from core.errors import RunLost, StoreError
from core.store.engines import sqlite_writer
from core.store.writers import Repeating


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
