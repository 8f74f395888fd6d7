"""The lanes of receivers: dead letters, closed receivers, deleted debates, the version before."""

from collections.abc import AsyncIterator

import pytest

from bot.queue.landings import Landings, new_landing
from bot.queue.rows import PostRow, Posts, PostState
from bot.store.leases import Leases
from bot.store.tables import prepare
from core.store.database import Database

ME, SHOP = "this process", "landing/shop"


@pytest.fixture
async def database(location: str) -> AsyncIterator[Database]:
    async with await Database.open(location) as opened:
        await prepare(opened)
        yield opened


async def end_next(database: Database, state: PostState, **values: str | float) -> PostRow:
    """Attempt the shop's next landing, and end that attempt."""
    await Leases(database, ME).acquire(SHOP)
    row = await Landings(database).next_for(SHOP)
    assert row
    claimed = await Posts(database).claim(row, ME)
    assert claimed
    assert await Posts(database).settle(claimed, state, **values)  # type: ignore[arg-type]
    return claimed


async def test_dead_letters_are_sent_again_behind_what_waits(database: Database) -> None:
    landings = Landings(database)
    rows = [new_landing("shop", "d1", 1), new_landing("shop", "d2", 2), new_landing("adr", "d1", 3)]
    await Posts(database).enqueue([*rows, rows[0]])
    await end_next(database, PostState.FAILED, error="refused")
    await end_next(database, PostState.WAITING, error="away", after=30_000.0)
    unlanded = await landings.backlog_rows(10)
    assert [(row.debate_id, row.state, row.error, row.due_in > 0) for row in unlanded.rows] == [
        ("d1", PostState.FAILED, "refused", False),
        ("d2", PostState.WAITING, "away", True),
    ]
    assert unlanded.counts == (2, 1)
    waits = await landings.next_for(SHOP)
    assert waits
    assert waits.due_in > 29_000, "strictly in order"
    assert await Posts(database).lanes_with_work() == [], "Slack has nothing to wait for"

    assert sorted(await landings.retry()) == ["landing/adr", SHOP, SHOP]
    assert (await end_next(database, PostState.SENT, ts="docs/0002-b.md")).attempts == 1
    assert (await end_next(database, PostState.SENT, ts="")).wanted_seq == 1
    assert await landings.places(SHOP) == {"d2": "docs/0002-b.md"}


async def test_a_closed_receiver_gets_nothing_until_it_is_opened_again(database: Database) -> None:
    landings = Landings(database)
    await Posts(database).enqueue([new_landing("shop", "d1", seq) for seq in (1, 2)])
    await end_next(database, PostState.GONE, error="gone")
    assert await landings.next_for(SHOP) is None
    unlanded = await landings.backlog_rows(5)
    assert (unlanded.closed, unlanded.counts) == ({"shop": "gone"}, (2, 0))
    await landings.retry()
    assert (await end_next(database, PostState.SENT)).wanted_seq == 1
