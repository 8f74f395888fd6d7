"""Edits that can wait: only the newest is made, boards take turns, nothing old comes last."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.slack.outbox.later_edits import LaterEdits
from bot.store.posts import NewPost
from core.errors import StoreDown


class Desk:
    """Where edits arrive; it refuses as often as told."""

    def __init__(self, pause: float = 0.05) -> None:
        self.made: list[str] = []
        self.queued: list[str] = []
        self.refusals = 0
        #: Set when the first edit is being made.
        self.making = asyncio.Event()
        self.edits = LaterEdits(self._replace, pause)

    def put(self, key: str, state: str) -> None:
        self.edits.put(key, self._maker(key, state))

    async def queues(self, count: int) -> list[str]:
        async with asyncio.timeout(30):
            while len(self.queued) < count:  # noqa: ASYNC110 - a list tells nobody
                await asyncio.sleep(0.005)
        return self.queued

    def _maker(self, key: str, state: str) -> Callable[[], Awaitable[NewPost]]:
        async def make() -> NewPost:
            self.making.set()
            await asyncio.sleep(0.01)
            self.made.append(state)
            return NewPost(
                key=key, workspace="T1", channel="C1", method="update", payload={"text": state}
            )

        return make

    async def _replace(self, post: NewPost) -> None:
        if self.refusals:
            self.refusals -= 1
            raise StoreDown
        self.queued.append(post.payload["text"])


async def test_of_many_states_the_first_and_the_newest_are_made():
    desk = Desk()
    for state in ("one", "two", "three"):
        desk.put("board", state)
        await asyncio.sleep(0)
    assert await desk.queues(2) == ["one", "three"]
    await desk.edits.close()
    assert desk.made == ["one", "three"]


async def test_what_is_dropped_before_it_is_made_is_never_made():
    desk = Desk()
    desk.put("board", "one")
    await desk.edits.drop("board")
    desk.put("other", "two")
    assert await desk.queues(1) == ["two"]
    await desk.edits.close()
    assert desk.made == ["two"]


async def test_what_was_dropped_is_never_queued_not_even_when_under_way():
    desk = Desk()
    desk.put("board", "one")
    await desk.making.wait()
    desk.put("board", "two")
    await desk.edits.drop("board")
    queued = list(desk.queued)
    await asyncio.sleep(0.15)
    assert queued == desk.queued == ["one"]
    await desk.edits.close()


async def test_what_was_dropped_is_not_tried_again_when_the_database_refuses_it():
    desk = Desk()
    desk.refusals = 2
    desk.put("board", "one")
    await desk.making.wait()
    await desk.edits.drop("board")
    desk.put("other", "two")  # refused after the board, so it is tried again after the board's turn
    assert await desk.queues(1) == ["two"]
    assert (desk.refusals, desk.made) == (0, ["one", "two", "two"])
    desk.put("board", "three")
    assert await desk.queues(2) == ["two", "three"]
    await desk.edits.close()


async def test_the_more_boards_the_longer_each_waits_for_its_next_turn():
    desk, began = Desk(pause=0.05), asyncio.get_running_loop().time()
    for board in range(4):
        desk.put(f"board{board}", f"first {board}")
    await desk.queues(4)
    desk.put("board0", "second 0")
    await desk.queues(5)
    assert asyncio.get_running_loop().time() - began >= 4 * 0.05
    await desk.edits.close()


async def test_an_edit_that_the_database_refuses_is_made_again():
    desk = Desk()
    desk.refusals = 1
    desk.put("board", "one")
    assert await desk.queues(1) == ["one"]
    await desk.edits.close()


async def test_nothing_is_made_after_closing():
    desk = Desk()
    desk.put("board", "one")
    await desk.edits.close()
    desk.put("board", "two")
    await asyncio.sleep(0.05)
    assert desk.queued == []
