"""The database: durability, locking, and texts of errors."""

import asyncio
import gc
import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from core.errors import ConfigurationBroken, RunLost, StoreDown, StoreError
from core.store.database import Database
from core.store.engines import BatchingWriter, RepeatingWriter, sqlite_writer

ROOT = Path(__file__).parents[3]


def location(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with await Database.open(location(tmp_path / "moot.db")) as opened:
        await opened.write(
            lambda c: c.exec_driver_sql("CREATE TABLE words (word TEXT PRIMARY KEY NOT NULL)")
        )
        yield opened


def put(word: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        connection.execute(text("INSERT INTO words VALUES (:word)"), {"word": word})
        return word

    return work


def count_and_put(connection: Connection) -> int:
    """Read a count and write it: two transactions must not read the same count."""
    count: int = connection.exec_driver_sql("SELECT count(*) FROM words").scalar_one()
    put(f"w{count}")(connection)
    return count


def words(connection: Connection) -> list[str]:
    return list(connection.exec_driver_sql("SELECT word FROM words ORDER BY rowid").scalars())


def put_and_fail(connection: Connection) -> str:
    put("b")(connection)
    raise RunLost("not yours")


async def outcomes(database: Database, *works: Callable[[Connection], str]) -> list[str | object]:
    return await asyncio.gather(*(database.write(work) for work in works), return_exceptions=True)


async def test_a_read_that_fails_half_way_leaves_no_old_state_behind(database: Database) -> None:
    def fail_half_way(connection: Connection) -> None:
        rows = connection.exec_driver_sql("SELECT word FROM words")
        for _ in rows:
            raise RunLost("half way")

    for number in range(300):
        await database.write(put(f"w{number}"))
    failures: list[BaseException] = []  # keep the tracebacks alive, as a log does
    for _ in range(8):
        with pytest.raises(RunLost) as failure:
            await database.read(fail_half_way)
        failures.append(failure.value)
    await database.write(put("newest"))

    assert {(await database.read(words))[-1] for _ in range(8)} == {"newest"}
    assert len(failures) == 8


async def test_the_file_is_kept_safe(database: Database, tmp_path: Path) -> None:
    def pragmas(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    full = 2
    assert await database.write(pragmas) == ["wal", full, 1, 2000]
    assert (tmp_path / "moot.db").stat().st_mode & 0o077 == 0


async def test_many_read_then_write_transactions_all_succeed_and_share_commits(
    database: Database,
) -> None:
    # A reader on one connection sees `data_version` change once per commit of another one.
    with closing(sqlite3.connect(database.place)) as reader:
        versions = set[int]()
        writes = asyncio.gather(*(database.write(count_and_put) for _ in range(400)))
        while not writes.done():
            versions.add(reader.execute("PRAGMA data_version").fetchone()[0])
            await asyncio.sleep(0)

    assert sorted(await writes) == list(range(400))
    assert len(await database.read(words)) == 400
    assert len(versions) < 40


async def test_a_refused_cleaning_loses_no_data(database: Database, tmp_path: Path) -> None:
    await database.write(put("kept"))
    with closing(sqlite3.connect(tmp_path / "moot.db")) as somebody:
        somebody.execute("SELECT * FROM words").fetchall()
        with pytest.raises(StoreDown, match="was not cleaned"):
            await database.clean()

    await database.write(put("later"))
    await database.clean()
    assert await database.read(words) == ["kept", "later"]


async def test_reading_cannot_write(database: Database) -> None:
    with pytest.raises(StoreError):
        await database.read(put("duck"))
    assert await database.read(words) == []


@pytest.mark.parametrize(
    ("work", "error", "told"),
    [
        (put_and_fail, RunLost, "not yours"),
        (put("a"), StoreError, "SQLITE_CONSTRAINT"),
        (put("x" * 50_000), StoreDown, "is full. Free some space."),
    ],
)
async def test_work_that_fails_fails_only_its_caller(
    database: Database, work: Callable[[Connection], str], error: type[Exception], told: str
) -> None:
    await database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 8").scalar())
    first, second, third = await outcomes(database, put("a"), work, put("c"))

    assert (first, third) == ("a", "c")
    assert isinstance(second, error)
    assert told in str(second)
    assert "INSERT" not in str(second)
    assert await database.read(words) == ["a", "c"]
    await database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 1000").scalar())
    assert await database.write(put("y" * 50_000))


async def test_callers_that_give_up_do_no_harm(database: Database) -> None:
    dice = random.Random(7)
    tasks = [asyncio.create_task(database.write(put(f"w{n}"))) for n in range(200)]
    reads = [asyncio.create_task(database.read(words)) for _ in range(50)]
    for task in dice.sample([*tasks, *reads], 100):
        await asyncio.sleep(0.001)
        task.cancel()
    results: list[object] = [
        *await asyncio.gather(*tasks, return_exceptions=True),
        *await asyncio.gather(*reads, return_exceptions=True),
    ]

    failed = [item for item in results if isinstance(item, Exception)]
    acknowledged = {item for item in results if isinstance(item, str)}
    assert failed == []
    assert acknowledged <= set(await database.read(words))
    assert await database.write(put("after")) == "after"


async def test_nobody_else_can_open_it_meanwhile(database: Database, tmp_path: Path) -> None:
    with pytest.raises(StoreDown, match="Another process") as caught:
        await Database.open(location(tmp_path / "moot.db"))

    assert str(os.getpid()) in str(caught.value)
    assert str(tmp_path / "moot.db") in str(caught.value)
    assert await database.write(put("still mine")) == "still mine"


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder shut even to root")
async def test_a_folder_that_cannot_be_written_is_named() -> None:
    with pytest.raises(StoreDown, match=r"cannot be written\. Allow writing in /sys"):
        await Database.open(location(Path("/sys/kernel/moot.db")))


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def fill_with_words(path: Path) -> None:
    path.write_text("Dear diary, " * 200)


@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        (link_to_itself, r"moot\.db cannot be opened: Too many levels"),
        (Path.mkdir, "is a folder"),
        (fill_with_words, "is not a database"),
    ],
)
async def test_a_file_that_is_no_database_is_unchanged_and_unlocked(
    tmp_path: Path, prepare: Callable[[Path], object], told: str
) -> None:
    path = tmp_path / "moot.db"
    prepare(path)
    with pytest.raises(StoreDown, match=told):
        await Database.open(location(path))
    assert path.is_symlink() or path.is_dir() or path.read_text().startswith("Dear diary")

    path.rmdir() if path.is_dir() else path.unlink()
    async with await Database.open(location(path)) as database:
        assert database.place == str(path)


async def test_all_waiting_callers_get_the_error_of_a_held_lock_together(
    tmp_path: Path,
) -> None:
    transactions = list[None]()
    path = tmp_path / "moot.db"
    writer = BatchingWriter(sqlite_writer(path), "place", lambda: transactions.append(None))
    await writer.run(lambda c: c.exec_driver_sql("PRAGMA busy_timeout = 100").close())
    transactions.clear()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = (writer.run(lambda _: "done") for _ in range(30))
        results = await asyncio.gather(*waiting, return_exceptions=True)
        other.execute("ROLLBACK")

    assert all(isinstance(item, StoreDown) for item in results)
    assert "locked by another program" in str(results[0])
    assert len(set(map(id, results))) == 30
    assert len(transactions) <= 2, "each would wait as long again, one after the other"
    assert await writer.run(lambda _: "done") == "done"
    await writer.close()


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_deleted_or_replaced_database_file_is_not_used(
    database: Database, tmp_path: Path, *, replaced: bool
) -> None:
    file, aside = tmp_path / "moot.db", tmp_path / "aside.db"
    await database.write(put("ant"))
    file.rename(aside)
    if replaced:
        file.write_bytes(aside.read_bytes())
    with pytest.raises(StoreDown, match="deleted or replaced"):
        await database.write(put("bee"))
    with pytest.raises(StoreDown, match="deleted or replaced"):
        await database.read(words)
    assert file.exists() == replaced

    aside.rename(file)

    assert await database.write(put("cat")) == "cat"
    assert await database.read(words) == ["ant", "cat"]


@pytest.mark.parametrize(
    "wrong", ["moot.db", "mysql://u:secret@h/d", "sqlite+aiosqlite://", "", "sqlite+aiosqlite:///"]
)
async def test_a_location_that_cannot_be_understood_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigurationBroken, match="postgresql://user:password@host/name") as caught:
        await Database.open(wrong)

    assert "secret" not in str(caught.value)


def open_files(folder: Path) -> Sequence[str]:
    """Files of the folder this process has open."""
    names = [os.path.realpath(path) for path in Path("/proc/self/fd").iterdir()]
    return [name for name in names if name.startswith(str(folder))]


async def test_nothing_is_left_open(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    threads = threading.active_count()
    for _ in range(3):
        async with await Database.open(location(path)) as database:
            await database.write(lambda c: c.exec_driver_sql("CREATE TABLE IF NOT EXISTS t (x)"))
            assert open_files(tmp_path) != []
        await database.close()  # safe to call twice
        with pytest.raises(StoreDown, match="closed"):
            await database.write(put("duck"))
        path.write_text("no database " * 100)
        with pytest.raises(StoreDown):
            await Database.open(location(path))
        path.unlink()
    gc.collect()

    assert open_files(tmp_path) == []
    while threading.active_count() > threads:  # noqa: ASYNC110 - a thread that ends tells nobody
        await asyncio.sleep(0.01)


_CANCELLED = """
import asyncio, sys, uvloop
from core.store.database import Database
async def use(place):
    async with await Database.open(place) as database:
        await database.read(lambda connection: None)
async def main(place, steps):
    using = asyncio.create_task(use(place))
    await asyncio.sleep(steps * 0.0003)
    using.cancel()
    await asyncio.wait([using])
for steps in range(60):
    {runner}.run(main(sys.argv[1], steps))
"""
_ENDED = """
import asyncio, sys
from core.store.database import Database
from core.store.tables import prepare
async def main():
    asyncio.get_running_loop().slow_callback_duration = 60  # a slow machine is fine
    async with await Database.open(sys.argv[1]) as database:
        await prepare(database)
        raise SystemExit(7)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("options", "script", "code"),
    [
        ((), _CANCELLED.format(runner="asyncio"), 0),
        ((), _CANCELLED.format(runner="uvloop"), 0),
        (("-X", "dev"), _ENDED, 7),
    ],
    ids=["cancelled at any step", "the same with uvloop", "ended"],
)
def test_a_program_ends_without_warnings(
    tmp_path: Path, options: Sequence[str], script: str, code: int
) -> None:
    ended = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *options, "-W", "error", "-c", script, location(tmp_path / "moot.db")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", "")


# --- writers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "passes", "tries"), [(3, True, 4), (1000, True, 12), (1, False, 1)]
)
async def test_work_is_repeated_while_that_may_help(
    tmp_path: Path, times: int, tries: int, *, passes: bool
) -> None:
    pauses, tried = list[float](), 0

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    def trouble(connection: Connection) -> int:
        """Fail the first times. Each failure must undo the insertion."""
        nonlocal tried
        tried += 1
        connection.exec_driver_sql("INSERT INTO tries VALUES (1)")
        if tried <= times:
            connection.exec_driver_sql("SELECT * FROM nowhere")
        return connection.exec_driver_sql("SELECT count(*) FROM tries").scalar_one()

    def lost(_connection: Connection) -> None:
        raise RunLost

    repeating = RepeatingWriter(
        sqlite_writer(tmp_path / "moot.db"), "place", passes=lambda _error: passes, pause=pause
    )
    await repeating.run(lambda c: c.exec_driver_sql("CREATE TABLE tries (n)").close())
    with pytest.raises(RunLost):  # what the work itself raises is not repeated
        await repeating.run(lost)
    assert pauses == []
    if tries > times:
        assert await repeating.run(trouble) == 1
    else:
        with pytest.raises(StoreError, match="place"):
            await repeating.run(trouble)
    assert (tried, len(pauses)) == (tries, tries - 1)
    assert tries < 12 or 20 < sum(pauses) < 40
    await repeating.close()


async def test_a_writer_that_is_closed_does_what_waits_and_nothing_that_nobody_waits_for(
    tmp_path: Path,
) -> None:
    writer, log = BatchingWriter(sqlite_writer(tmp_path / "moot.db"), "place"), list[int]()
    waiting = [asyncio.create_task(writer.run(lambda _, n=n: log.append(n))) for n in range(3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    await asyncio.sleep(0)
    await writer.close()
    assert log == [0, 2]
    assert all(task.done() for task in waiting)


async def test_a_file_that_was_taken_from_a_process_is_not_called_an_empty_database(
    database: Database, tmp_path: Path
) -> None:
    await database.write(put("kept"))
    for name in ("moot.db", "moot.db-wal", "moot.db-shm"):
        os.rename(tmp_path / name, tmp_path / f"taken-{name}")  # noqa: PTH104 - in no thread

    with pytest.raises(StoreDown, match=r"A process uses the database .* is not there"):
        await Database.open_read_only(location(tmp_path / "moot.db"))
