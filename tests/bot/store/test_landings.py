"""The table of landings: order, attempts that nobody else may end, dead letters."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.store.landings import LandingLost, LandingRow, Landings, LandingState, NewLanding
from bot.store.purging import purge_traces
from bot.store.tables import prepare
from core.store.database import Database

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture
async def database(location: str) -> AsyncIterator[Database]:
    async with await Database.open(location) as opened:
        await prepare(opened)
        yield opened


@pytest.fixture
def landings(database: Database) -> Landings:
    return Landings(database)


def new(seq: int, receiver: str = "shop", debate: str = "d1") -> NewLanding:
    return NewLanding(receiver=receiver, debate_id=debate, seq=seq, queued_at=NOON)


async def next_of(landings: Landings, receiver: str = "shop") -> LandingRow:
    row = await landings.next_for(receiver)
    assert row is not None
    return row


async def test_each_receiver_has_its_own_order_and_an_event_is_queued_once(
    landings: Landings,
) -> None:
    await landings.enqueue([new(1), new(1, "adr")])
    await landings.enqueue([new(2), new(1), new(2)])
    seen = list[int]()
    while row := await landings.next_for("shop"):
        seen.append(row.seq)
        await landings.land(await landings.begin(row), "")

    assert seen == [1, 2]
    assert await landings.receivers_with_work() == ["adr"]
    await landings.enqueue([new(1)])
    assert await landings.next_for("shop") is None


async def test_who_lost_an_attempt_to_another_process_can_write_nothing(
    landings: Landings,
) -> None:
    await landings.enqueue([new(1)])
    read = await next_of(landings)
    mine = await landings.begin(read)
    with pytest.raises(LandingLost):
        await landings.begin(read)
    theirs = await landings.begin(mine)
    for write in (landings.land(mine, ""), landings.bury(mine, "x")):
        with pytest.raises(LandingLost):
            await write
    with pytest.raises(LandingLost):
        await landings.postpone(mine, NOON, "x")

    await landings.land(theirs, "docs/0001-a.md")
    assert await landings.places("shop") == {"d1": "docs/0001-a.md"}


async def test_dead_letters_are_sent_again_behind_what_waits(landings: Landings) -> None:
    await landings.enqueue([new(1), new(2), new(3, "adr")])
    await landings.bury(await landings.begin(await next_of(landings)), "refused")
    second = await landings.begin(await next_of(landings))
    await landings.postpone(second, NOON + timedelta(hours=9), "away")
    found = await landings.unlanded(10)
    assert [(row.seq, row.state, row.error) for row in found.rows] == [
        (1, LandingState.DEAD, "refused"),
        (2, LandingState.WAITING, "away"),
    ]
    assert found.counts == (2, 1)

    assert await landings.retry("shop") == 2
    row = await next_of(landings)
    assert (row.seq, row.not_before, row.failures) == (2, None, 0)
    await landings.land(await landings.begin(row), "")
    assert (await next_of(landings)).seq == 1
    assert await landings.retry(999) == 0


async def test_a_closed_receiver_gets_nothing_until_it_is_opened_again(landings: Landings) -> None:
    await landings.enqueue([new(1)])
    await landings.close_receiver("shop", "gone")
    await landings.close_receiver("shop", "gone again")
    assert await landings.next_for("shop") is None
    assert (await landings.unlanded(5)).closed == {"shop": "gone"}
    await landings.retry("adr")
    assert await landings.next_for("shop") is None
    await landings.retry(None)
    assert (await next_of(landings)).seq == 1


async def test_a_deleted_debate_is_sent_nowhere(database: Database, landings: Landings) -> None:
    await landings.enqueue([new(1), new(1, debate="d2")])
    begun = await landings.begin(await next_of(landings))
    await database.write(lambda connection: purge_traces(connection, ["d1"]))
    with pytest.raises(LandingLost):
        await landings.land(begun, "")
    assert (await next_of(landings)).debate_id == "d2"
