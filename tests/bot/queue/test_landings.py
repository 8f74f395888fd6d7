"""The lanes of receivers: dead letters, closed receivers, deleted debates, the version before."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from bot.queue.landings import Landings, new_landing
from bot.queue.rows import PostRow, Posts, PostState
from bot.store.leases import Leases
from bot.store.purging import purge_traces
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


async def test_a_deleted_debate_is_sent_nowhere(database: Database) -> None:
    await Posts(database).enqueue([new_landing("shop", "d1", 1), new_landing("shop", "d2", 1)])
    await database.write(lambda connection: purge_traces(connection, ["d1"]))
    assert (await end_next(database, PostState.SENT)).debate_id == "d2"


_BEFORE = """
DROP INDEX queue_landings;
CREATE TABLE landings (id INTEGER, receiver TEXT, debate_id TEXT, seq INTEGER, state TEXT,
    failures INTEGER, error TEXT, place TEXT);
CREATE TABLE closed_receivers (receiver TEXT, why TEXT);
UPDATE moot_bot_version SET version_num = '0017';
INSERT INTO closed_receivers VALUES ('closed', 'answered 410');
INSERT INTO landings VALUES
    (1, 'shop', 'd1', 1, 'landed', 0, NULL, 'docs/0001-a.md'),
    (2, 'shop', 'd2', 4, 'dead', 8, 'refused', NULL),
    (3, 'shop', 'd1', 5, 'sending', 1, 'away', NULL),
    (4, 'shop', 'd1', 6, 'waiting', 0, NULL, NULL),
    (5, 'closed', 'd1', 5, 'waiting', 0, NULL, NULL),
    (6, 'closed', 'd1', 6, 'waiting', 0, NULL, NULL)
"""


async def test_landings_of_the_version_before_stay_in_their_order(location: str) -> None:
    async with await Database.open(location) as database:
        await prepare(database)
        for statement in _BEFORE.split(";"):
            await database.write(lambda c, written=statement: c.execute(text(written)))
    async with await Database.open(location) as database:
        await prepare(database)
        landings = Landings(database)
        assert await landings.places(SHOP) == {"d1": "docs/0001-a.md"}
        unlanded = await landings.backlog_rows(9)
        assert (unlanded.closed, unlanded.counts) == ({"closed": "answered 410"}, (4, 1))
        first = await end_next(database, PostState.SENT)
        assert (first.wanted_seq, first.attempts) == (5, 2)
        assert (await end_next(database, PostState.SENT)).wanted_seq == 6
        assert await landings.next_for(SHOP) is None
        assert await landings.next_for("landing/closed") is None
        await landings.retry()
        reopened = await landings.next_for("landing/closed")
        assert reopened
        assert reopened.wanted_seq == 5
