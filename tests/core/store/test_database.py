"""The database: what is written stays written, and trouble is told in words."""

import asyncio
import gc
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from core.errors import ConfigurationBroken, RunLost, StoreDown, StoreError
from core.store.database import Database

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
    """Read, then write what was read: two at once must not read the same."""
    count: int = connection.exec_driver_sql("SELECT count(*) FROM words").scalar_one()
    put(f"w{count}")(connection)
    return count


def words(connection: Connection) -> list[str]:
    return list(connection.exec_driver_sql("SELECT word FROM words ORDER BY rowid").scalars())


def fail_while_reading(connection: Connection) -> None:
    rows = connection.exec_driver_sql("SELECT word FROM words")
    for _ in rows:
        raise RunLost("half way")


async def test_a_read_that_fails_half_way_leaves_no_old_state_behind(database: Database) -> None:
    for number in range(300):
        await database.write(put(f"w{number}"))
    failures: list[BaseException] = []  # they refer to all that failed, as a log's traceback does
    for _ in range(8):
        with pytest.raises(RunLost) as failure:
            await database.read(fail_while_reading)
        failures.append(failure.value)
    await database.write(put("newest"))

    assert {(await database.read(words))[-1] for _ in range(8)} == {"newest"}
    assert len(failures) == 8


def fail_after_writing(word: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        put(word)(connection)
        raise RunLost("not yours")

    return work


async def outcomes(database: Database, *works: Callable[[Connection], str]) -> list[str | object]:
    return await asyncio.gather(*(database.write(work) for work in works), return_exceptions=True)


async def test_the_file_is_kept_safe(database: Database, tmp_path: Path) -> None:
    def pragmas(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    full = 2
    assert await database.write(pragmas) == ["wal", full, 1, 2000]
    assert (tmp_path / "moot.db").stat().st_mode & 0o077 == 0


async def test_hundreds_of_read_then_write_transactions_all_succeed(database: Database) -> None:
    counts = await asyncio.gather(*(database.write(count_and_put) for _ in range(400)))

    assert sorted(counts) == list(range(400))
    assert len(await database.read(words)) == 400


async def test_writes_that_wait_share_a_commit(database: Database) -> None:
    # A reader on one connection sees `data_version` change once per commit of another one.
    reader = sqlite3.connect(database.place)
    versions = set[int]()
    writes = asyncio.gather(*(database.write(put(f"w{n}")) for n in range(300)))
    while not writes.done():
        versions.add(reader.execute("PRAGMA data_version").fetchone()[0])
        await asyncio.sleep(0)
    reader.close()

    assert len(await writes) == 300
    assert len(versions) < 30


async def test_reading_goes_on_while_others_write(database: Database) -> None:
    writes = asyncio.gather(*(database.write(put(f"w{n}")) for n in range(200)))
    counts = [len(await database.read(words)) for _ in range(50)]
    await writes

    assert counts == sorted(counts)
    assert len(await database.read(words)) == 200


async def test_it_can_be_cleaned_after_it_was_read(database: Database) -> None:
    await database.write(put("kept"))
    assert await database.read(words) == ["kept"]

    await database.clean()

    await database.write(put("later"))
    assert await database.read(words) == ["kept", "later"]


async def test_a_cleaning_that_is_refused_leaves_it_as_it_was(
    database: Database, tmp_path: Path
) -> None:
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


async def test_work_that_fails_fails_only_its_caller(database: Database) -> None:
    first, second, third = await outcomes(database, put("a"), fail_after_writing("b"), put("c"))

    assert (first, third) == ("a", "c")
    assert isinstance(second, RunLost)
    assert await database.read(words) == ["a", "c"]


async def test_work_the_database_refuses_fails_only_its_caller(database: Database) -> None:
    first, second, third = await outcomes(database, put("a"), put("a"), put("c"))

    assert (first, third) == ("a", "c")
    assert isinstance(second, StoreError)
    assert "SQLITE_CONSTRAINT" in str(second)
    assert "INSERT" not in str(second)
    assert await database.read(words) == ["a", "c"]


async def test_a_full_disk_is_told_and_nothing_is_half_written(database: Database) -> None:
    await database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 8").scalar())
    big = "x" * 50_000

    first, second, third = await outcomes(database, put("a"), put(big), put("c"))

    assert (first, third) == ("a", "c")
    assert isinstance(second, StoreDown)
    assert str(second) == f"The disk with the database {database.place} is full. Free some space."
    assert await database.read(words) == ["a", "c"]


async def test_work_goes_on_when_there_is_space_again(database: Database) -> None:
    await database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 8").scalar())
    big = "x" * 50_000
    with pytest.raises(StoreDown, match="is full"):
        await database.write(put(big))

    await database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 1000").scalar())

    assert await database.write(put(big)) == big


async def test_callers_that_give_up_do_no_harm(database: Database) -> None:
    dice = random.Random(7)
    tasks = [asyncio.create_task(database.write(put(f"w{n}"))) for n in range(200)]
    reads = [asyncio.create_task(database.read(words)) for _ in range(50)]
    for task in dice.sample([*tasks, *reads], 100):
        await asyncio.sleep(0.001)
        task.cancel()
    results: list[object] = []
    for task in (*tasks, *reads):
        await asyncio.wait([task])
        results.append("" if task.cancelled() else task.exception() or task.result())

    failed = [result for result in results if isinstance(result, Exception)]
    rows = await database.read(words)
    acknowledged = {result for result in results if isinstance(result, str) and result}
    assert failed == []
    assert acknowledged <= set(rows)
    assert await database.write(put("after")) == "after"


async def test_a_closed_database_says_so_and_can_be_closed_again(tmp_path: Path) -> None:
    database = await Database.open(location(tmp_path / "moot.db"))
    await database.close()
    await database.close()

    with pytest.raises(StoreDown, match="closed"):
        await database.write(put("duck"))


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


async def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    path.symlink_to(path)

    with pytest.raises(StoreDown, match=r"moot\.db cannot be opened: Too many levels"):
        await Database.open(location(path))


async def test_the_lock_is_given_back_when_opening_fails(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    path.mkdir()
    with pytest.raises(StoreDown, match="is a folder"):
        await Database.open(location(path))
    path.rmdir()

    async with await Database.open(location(path)) as database:
        assert database.place == str(path)


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    path.write_text("Dear diary, " * 200)

    with pytest.raises(StoreDown, match="is not a database"):
        await Database.open(location(path))

    assert path.read_text() == "Dear diary, " * 200
    path.unlink()
    async with await Database.open(location(path)):
        pass


async def test_a_program_that_holds_the_lock_is_told_of(tmp_path: Path) -> None:
    database = await Database.open(location(tmp_path / "moot.db"))
    await database.write(lambda c: c.exec_driver_sql("CREATE TABLE words (word TEXT)"))
    await database.write(lambda c: c.exec_driver_sql("PRAGMA busy_timeout = 100").close())
    other = sqlite3.connect(tmp_path / "moot.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreDown, match="locked by another program"):
        await database.write(put("duck"))
    other.execute("COMMIT")
    other.close()

    assert await database.write(put("duck")) == "duck"
    await database.close()


async def test_all_who_wait_are_told_of_a_lock_together(tmp_path: Path) -> None:
    async with await Database.open(location(tmp_path / "moot.db")) as database:
        await database.write(lambda c: c.exec_driver_sql("CREATE TABLE words (word TEXT)"))
        await database.write(lambda c: c.exec_driver_sql("PRAGMA busy_timeout = 300").close())
        with closing(sqlite3.connect(tmp_path / "moot.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            results = await outcomes(database, *(put(f"w{number}") for number in range(30)))
            other.execute("ROLLBACK")

        assert all(isinstance(item, StoreDown) for item in results)
        assert len(set(map(id, results))) == 30
        assert time.monotonic() - began < 9  # one after the other they took 18 seconds


@pytest.mark.parametrize("replaced", [False, True])
async def test_nothing_is_written_to_a_file_that_nobody_will_find(
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
    with pytest.raises(ConfigurationBroken, match=r"sqlite\+aiosqlite:///") as caught:
        await Database.open(wrong)

    assert "secret" not in str(caught.value)


def open_files(folder: Path) -> list[str]:
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
        path.write_text("no database " * 100)
        with pytest.raises(StoreDown):
            await Database.open(location(path))
        path.unlink()
    gc.collect()

    assert open_files(tmp_path) == []
    while threading.active_count() > threads:  # noqa: ASYNC110 - a thread that ends tells nobody
        await asyncio.sleep(0.01)


async def test_a_connection_that_could_not_be_set_up_is_made_anew(
    database: Database, tmp_path: Path
) -> None:
    await database.clean()  # which frees the connections
    with closing(sqlite3.connect(tmp_path / "moot.db", isolation_level=None)) as program:
        program.execute("PRAGMA locking_mode = EXCLUSIVE")
        program.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreDown, match="locked by another program"):
            await database.write(put("a"))
        program.execute("ROLLBACK")

    assert await database.write(put("b")) == "b"
    assert await database.read(words) == ["b"]


@pytest.mark.parametrize("runner", ["asyncio", "uvloop"])
def test_what_is_cancelled_at_any_step_leaves_no_thread_that_calls_a_closed_loop(
    tmp_path: Path, runner: str
) -> None:
    script = (
        "import asyncio, sys, uvloop\n"
        "from core.store.database import Database\n"
        "async def use(place):\n"
        "    async with await Database.open(place) as database:\n"
        "        await database.read(lambda connection: None)\n"
        "async def main(place, steps):\n"
        "    using = asyncio.create_task(use(place))\n"
        "    await asyncio.sleep(steps * 0.0003)\n"
        "    using.cancel()\n"
        "    await asyncio.wait([using])\n"
        "for steps in range(60):\n"
        f"    {runner}.run(main(sys.argv[1], steps))\n"
    )

    ended = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", script, location(tmp_path / "moot.db")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_program_ends_without_warnings(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from core.store.database import Database\n"
        "from core.store.tables import prepare\n"
        "async def main():\n"
        "    asyncio.get_running_loop().slow_callback_duration = 60\n"  # a slow machine is fine
        "    async with await Database.open(sys.argv[1]) as database:\n"
        "        await prepare(database)\n"
        "        raise SystemExit(7)\n"
        "asyncio.run(main())\n"
    )

    ended = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-X", "dev", "-W", "error", "-c", script, location(tmp_path / "moot.db")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "", "")
