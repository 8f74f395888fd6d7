"""Where people find a debate in Slack, and what is said where nobody can know."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.queue.post_addresses import PostAddresses
from bot.queue.rows import NewPost, Posts
from bot.slack.ids import board_key
from bot.store.tables import prepare
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.people import Place
from core.debate.state import Debate
from core.store.database import Database
from core.testing import ManualClock, a_setup, log_of


@pytest.fixture
async def posts(tmp_path: Path) -> AsyncIterator[Posts]:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/moot.db") as database:
        await prepare(database)
        yield Posts(database)


def debate() -> Debate:
    return fold(log_of([DebateStarted(setup=a_setup())]))


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


def addresses(posts: Posts, clock: ManualClock | None = None) -> PostAddresses:
    async def link_to(_place: Place, ts: str) -> str:
        return f"https://slack.example/p{ts}"

    return PostAddresses(posts=posts, clock=clock or ManualClock(), link_to=link_to)


async def test_a_debate_that_was_never_posted_has_no_address(posts: Posts) -> None:
    assert await addresses(posts).of_thread(debate()) == ""
    assert await addresses(posts).of_verdict(debate()) == ""


async def test_a_thread_that_does_not_come_is_done_without(posts: Posts) -> None:
    await post(posts, board_key(debate().id))
    assert await addresses(posts).of_thread(debate()) == ""
