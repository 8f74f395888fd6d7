"""Connections and their threads are freed whoever gives up, and everybody is answered."""

import asyncio
import threading
from dataclasses import dataclass

import pytest

from core.store.threads import ConnectionThreads


@dataclass
class Held:
    """What stands for a connection."""

    is_closed: bool = False

    def close(self) -> None:
        self.is_closed = True


def test_what_is_cancelled_while_it_connects_is_not_done_and_leaves_nothing_behind() -> None:
    begun, go = threading.Event(), threading.Event()
    made, done = list[Held](), list[str]()

    def connect() -> Held:
        begun.set()
        go.wait(60)
        made.append(Held())
        return made[0]

    async def cancel_and_close() -> None:
        threads = ConnectionThreads(connect, 1)
        asked = asyncio.create_task(threads.run(lambda _: done.append("given up")))
        await asyncio.to_thread(begun.wait, 60)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        go.set()
        await threads.run(lambda _: done.append("next"))
        await threads.dispose()

    asyncio.run(cancel_and_close())
    assert done == ["next"]
    assert made == [Held(is_closed=True)]


async def test_what_cannot_connect_is_tried_again_by_the_next() -> None:
    tries = iter([OSError("down"), Held()])

    def connect() -> Held:
        if isinstance(found := next(tries), OSError):
            raise found
        return found

    threads = ConnectionThreads(connect, 1)
    with pytest.raises(OSError, match="down"):
        await threads.run(lambda _: None)
    assert await threads.run(lambda held: held.is_closed) is False
    await threads.dispose()


async def test_work_that_raises_what_no_future_takes_is_answered() -> None:
    threads = ConnectionThreads(Held, 1)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await threads.run(lambda _: next(iter(())))
    await threads.dispose()


async def test_no_more_threads_are_begun_than_there_is_work_for() -> None:
    made = list[Held]()

    def connect() -> Held:
        made.append(Held())
        return made[-1]

    threads = ConnectionThreads(connect, 4)
    for _ in range(5):
        await threads.run(lambda _: None)
    assert len(made) == 1
    await threads.dispose()
    await threads.dispose()


async def test_who_has_no_patience_leaves_a_thread_that_stands_still_to_itself() -> None:
    begun, go = threading.Event(), threading.Event()

    def stand_still(_: Held) -> None:
        begun.set()
        go.wait(60)

    threads = ConnectionThreads(Held, 1, patience=0.05)
    asked = asyncio.create_task(threads.run(stand_still))
    await asyncio.to_thread(begun.wait, 60)
    await threads.dispose()
    assert not asked.done()
    go.set()
    await asked
