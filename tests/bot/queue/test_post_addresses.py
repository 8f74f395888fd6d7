"""Where people find a debate in Slack, and what is said where nobody can know."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.queue.leases import Leases
from bot.queue.post_addresses import PostAddresses
from bot.queue.rows import NewPost, Posts, PostState
from bot.slack.ids import board_key, headline_key
from bot.store.tables import prepare
from core.events import DebateStarted, fold
from core.models import Debate, Place
from core.store.database import Database
from core.testing import ManualClock, a_setup, recorded

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


class SendsWhileWaiting(ManualClock):
    """A clock during whose third sleep Slack takes the post."""

    def __init__(self, posts: Posts) -> None:
        super().__init__()
        self._posts = posts
        self.sleeps = 0

    async def sleep(self, seconds: float) -> None:
        self.sleeps += 1
        if self.sleeps == 3:
            await send(self._posts, board_key(debate().id), "2.0")
        await super().sleep(seconds)


@pytest.fixture
async def posts(tmp_path: Path) -> AsyncIterator[Posts]:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/moot.db") as database:
        await prepare(database)
        yield Posts(database)


def debate() -> Debate:
    return fold(recorded([DebateStarted(setup=a_setup())]))


async def post(posts: Posts, key: str) -> None:
    await posts.enqueue(
        [
            NewPost(
                key=key,
                workspace="T1",
                channel="C1",
                method="post",
                payload={"text": "Here."},
                debate_id=debate().id,
            )
        ]
    )


async def send(posts: Posts, key: str, ts: str) -> None:
    leases = Leases(posts.database, "process-1")
    row = await posts.row_by_key(key)
    assert row
    await leases.acquire(row.lane)
    claimed = await posts.claim(row, leases.owner)
    assert claimed
    await posts.settle(claimed, PostState.SENT, ts=ts)


def addresses(posts: Posts, clock: ManualClock | None = None) -> PostAddresses:
    async def link_to(_place: Place, ts: str) -> str:
        return f"https://slack.example/p{ts}"

    return PostAddresses(posts=posts, clock=clock or ManualClock(), link_to=link_to)


async def test_a_debate_that_was_never_posted_has_no_address(posts: Posts) -> None:
    assert await addresses(posts).of_thread(debate()) == ""
    assert await addresses(posts).of_verdict(debate()) == ""


async def test_a_thread_that_is_on_its_way_is_waited_for(posts: Posts) -> None:
    await post(posts, board_key(debate().id))
    clock = SendsWhileWaiting(posts)

    found = await addresses(posts, clock).of_thread(debate())

    assert (found, clock.sleeps) == ("https://slack.example/p2.0", 3)


async def test_a_thread_that_does_not_come_is_done_without(posts: Posts) -> None:
    await post(posts, board_key(debate().id))
    assert await addresses(posts).of_thread(debate()) == ""


async def test_a_verdict_is_where_its_post_stands(posts: Posts) -> None:
    key = headline_key(debate().id, debate().edition)
    await post(posts, key)
    await send(posts, key, "3.0")
    assert await addresses(posts).of_verdict(debate()) == "https://slack.example/p3.0"
