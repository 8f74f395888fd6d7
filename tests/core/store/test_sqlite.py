"""Connections of SQLite are freed whenever they are given up, with their threads."""

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from core.store.sqlite import sqlite_reader, sqlite_writer


def test_what_is_under_way_ends_before_its_connection_is_freed(tmp_path: Path) -> None:
    begun, go = threading.Event(), threading.Event()

    def work(_: object) -> str:
        begun.set()
        go.wait(10)
        return "done"

    async def close_meanwhile() -> str:
        transactions = sqlite_writer(tmp_path / "moot.db")
        writing = asyncio.create_task(transactions.transact(work))
        await asyncio.to_thread(begun.wait, 10)
        asyncio.get_running_loop().call_later(0.1, go.set)
        await transactions.dispose()
        assert writing.done()
        return await writing

    assert asyncio.run(close_meanwhile()) == "done"


async def test_what_waits_is_taken_up_while_the_event_loop_stands_still(tmp_path: Path) -> None:
    transactions = sqlite_writer(tmp_path / "moot.db")
    begun, go, next_done = threading.Event(), threading.Event(), threading.Event()

    def slow(_: object) -> None:
        begun.set()
        go.wait(60)

    first = asyncio.create_task(transactions.transact(slow))
    await asyncio.to_thread(begun.wait, 60)
    next_one = asyncio.create_task(transactions.transact(lambda _: next_done.set()))
    await asyncio.sleep(0)  # it waits for the only connection
    go.set()
    is_done = next_done.wait(60)  # nothing else runs in the event loop meanwhile

    assert is_done
    await asyncio.gather(first, next_one)
    await transactions.dispose()


async def test_what_is_quick_does_not_wait_for_what_is_slow(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "moot.db").close()
    transactions = sqlite_reader(tmp_path / "moot.db")
    begun, go = threading.Event(), threading.Event()

    def slow(_: object) -> str:
        begun.set()
        go.wait(60)
        return "slow"

    under_way = asyncio.create_task(transactions.transact(slow))
    await asyncio.to_thread(begun.wait, 60)
    quick = await asyncio.gather(*(transactions.transact(lambda _: "quick") for _ in range(20)))

    assert quick == ["quick"] * 20
    assert not under_way.done()
    go.set()
    assert await under_way == "slow"
    await transactions.dispose()


async def test_what_nobody_waits_for_any_more_is_not_begun(tmp_path: Path) -> None:
    transactions, done = sqlite_writer(tmp_path / "moot.db"), list[str]()
    begun, go = threading.Event(), threading.Event()

    def slow(_: object) -> None:
        begun.set()
        go.wait(60)

    first = asyncio.create_task(transactions.transact(slow))
    await asyncio.to_thread(begun.wait, 60)
    given_up = asyncio.create_task(transactions.transact(lambda _: done.append("given up")))
    await asyncio.sleep(0)  # it waits for the only connection
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    go.set()
    await first
    await transactions.transact(lambda _: done.append("next"))

    assert done == ["next"]
    await transactions.dispose()
