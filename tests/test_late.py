"""What is held back is seen later, whole, and nothing else is held back for it; all that can be."""

import asyncio
import selectors
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import text

from core.store.engines import sqlite_writer, transact
from slack_on_loopback import Workspace, run_workspace
from tests.late import DEEDS, LateSelector, by_chance, make_commits_late, make_people_late


@contextmanager
def watched(*seconds: float) -> Generator[tuple[LateSelector, socket.socket]]:
    """A selector that draws these seconds in turn, and a socket it watches, which is ready."""
    near, far = socket.socketpair()
    with near, far, LateSelector(iter(seconds).__next__) as late:
        late.register(near, selectors.EVENT_READ)
        far.send(b"x")
        yield late, near


def test_what_is_ready_is_seen_later_and_not_lost() -> None:
    with watched(0.05, 0.0) as (late, near):
        assert late.select(0) == []
        assert [key.fileobj for key, _ in late.select(10)] == [near]
        assert [key.fileobj for key, _ in late.select(0)] == [near]  # it was not read


def test_a_wait_ends_though_all_is_held_back() -> None:
    with watched(3600) as (late, _):
        assert late.select(0.01) == []


def test_what_is_watched_anew_is_not_held_back_any_more() -> None:
    with watched(3600, 0.0) as (late, near):
        assert late.select(0) == []
        late.unregister(near)
        late.register(near, selectors.EVENT_READ)

        assert [key.fileobj for key, _ in late.select(0)] == [near]


def test_the_same_seed_draws_the_same() -> None:
    first, same, other = (by_chance(seed) for seed in ("1", "1", "2"))
    drawn = [first() for _ in range(50)]
    assert [same() for _ in range(50)] == drawn != [other() for _ in range(50)]
    assert 0.0 in drawn
    assert max(drawn) > 0


async def test_each_commit_is_as_late_as_was_drawn(tmp_path: Path) -> None:
    drawn: list[float] = []

    def draw() -> float:
        drawn.append(0.0)
        return 0.0

    end = make_commits_late(draw)
    try:
        database = sqlite_writer(tmp_path / "x.db")
        await transact(database, lambda connection: connection.execute(text("CREATE TABLE a (b)")))
        await transact(database, lambda connection: connection.execute(text("DELETE FROM a")))
        await database.dispose()
    finally:
        end()
    assert len(drawn) == 2


async def test_people_do_what_they_do_later_and_nothing_else() -> None:
    class Hesitant(Workspace):
        """With people of its own."""

    drawn = iter([0.05])
    make_people_late(Hesitant, lambda: next(drawn))
    assert set(DEEDS) <= vars(Hesitant).keys()
    async with run_workspace() as workspace:
        hesitant = Hesitant()
        vars(hesitant).update(vars(workspace))
        writing = asyncio.create_task(hesitant.say("dana", "general", "Good morning."))
        await asyncio.sleep(0.01)
        assert not workspace.messages("general")
        assert (await writing)["text"] == "Good morning."
        assert [message["text"] for message in workspace.messages("general")] == ["Good morning."]
