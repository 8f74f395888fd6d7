"""The queue's table: order, attempts and what became of them, living posts, leases."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import update

from bot.queue.outbox import PostAddresses
from bot.queue.rows import UNKNOWN, DebateProgress, NewPost, PostRow, Posts, PostState
from bot.slack.ids import board_key
from bot.store.leases import LaneLost, Leases
from bot.store.tables import LANES, Channel, prepare
from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.people import Place
from core.store.database import Database
from core.testing import ManualClock, a_setup, log_of

GENERAL = Channel("T1", "C1")
RANDOM = Channel("T1", "C2")
LANE, EDITS, PINS = "post/T1/C1", "edit/T1", "pin/T1"
ME = "process-1"
BOARD, CARD, PIN = "d1/board", "d1/q1/card", "d1/board/pin"


@dataclass(frozen=True)
class Queue:
    """The table, and the leases of a process that holds the lanes of one channel."""

    posts: Posts
    leases: Leases

    async def next(self, lane: str = LANE) -> PostRow:
        row = await self.posts.next_for(lane)
        assert row is not None
        return row

    async def claim(self, lane: str = LANE) -> PostRow:
        row = await self.posts.claim(await self.next(lane), ME)
        assert row is not None
        return row

    async def row(self, key: str) -> PostRow:
        row = await self.posts.row_by_key(key)
        assert row is not None
        return row

    async def send(self, key: str, ts: str = "1.1", seq: int = 1) -> None:
        row = await self.claim()
        assert row.key == key
        version = (seq, "hash") if row.post else None
        assert await self.posts.settle(row, PostState.SENT, ts=ts, version=version)

    async def drain(self, lane: str = LANE) -> list[str]:
        """Keys in the order they are to be sent."""
        keys: list[str] = []
        while await self.posts.next_for(lane):
            row = await self.claim(lane)
            keys.append(row.key)
            await self.posts.settle(row, PostState.SENT, ts=f"1.{row.id}")
        return keys

    async def stale(self, lane: str = EDITS, rest: float = 0.0) -> list[str]:
        return [row.key for row in await self.posts.stale(lane, rest)]


@pytest.fixture
async def queue(location: str) -> AsyncIterator[Queue]:
    async with await Database.open(location) as database:
        await prepare(database)
        queue = Queue(Posts(database), Leases(database, ME))
        for lane in (LANE, EDITS, PINS, "react/T1", "whisper/T1"):
            await queue.leases.acquire(lane)
        yield queue


def post(key: str, channel: Channel = GENERAL, **payload: object) -> NewPost:
    return NewPost(
        key=key,
        workspace=channel.workspace,
        channel=channel.channel,
        method="post",
        payload=payload,
        debate_id=key.partition("/")[0],
    )


def living(key: str = BOARD, name: str = "board") -> NewPost:
    return replace(post(key), post=name)


def pin() -> NewPost:
    return replace(living(PIN, "pin"), method="pin", thread_key=BOARD)


def progress(seq: int, *hurried: str, debate: str = "d1") -> DebateProgress:
    return DebateProgress(debate_id=debate, seq=seq, hurried=hurried)


async def test_a_stored_post_is_read_unchanged(queue: Queue) -> None:
    new = replace(
        post("d1/e2/main", text="NUL \0, 🦆, 'quotes'", blocks=[{"type": "divider"}], n=None),
        thread_key=BOARD,
        urgent=True,
    )
    await queue.posts.enqueue([new])

    row = await queue.row("d1/e2/main")
    assert {name: getattr(row, name) for name in vars(new)} == vars(new)
    assert (row.state, row.attempts, row.owner, row.ts) == (PostState.WAITING, 0, None, None)


@pytest.mark.parametrize(
    ("method", "lane"),
    [
        ("post", "post/T1/C1"),
        ("upload", "post/T1/C1"),
        ("ephemeral", "whisper/T1"),
        ("react", "react/T1"),
        ("pin", "pin/T1"),
        ("session", "edit/T1"),
    ],
)
def test_a_lane_is_what_slack_counts_together(method: str, lane: str) -> None:
    assert replace(post("a"), method=method).lane == lane


async def test_posts_are_sent_in_the_order_given_channel_by_channel(queue: Queue) -> None:
    keys = [f"d1/e{number}/0" for number in range(5)]
    await queue.posts.enqueue([post(key) for key in keys])
    await queue.posts.enqueue([post("d1/other", RANDOM), replace(post("a"), workspace="T2")])
    assert await queue.drain() == keys
    assert (await queue.next("post/T1/C2")).key == "d1/other"
    assert (await queue.next("post/T2/C1")).key == "a"


async def test_an_urgent_row_overtakes_other_debates_but_not_its_own(queue: Queue) -> None:
    urgent = replace(post("d2/e2/0"), urgent=True)
    word = replace(post("word"), debate_id=None, urgent=True)
    await queue.posts.enqueue([post("d1/e1/0"), post("d2/e1/0"), urgent, word, post("d1/e2/0")])
    assert await queue.drain() == ["d2/e1/0", "d2/e2/0", "word", "d1/e1/0", "d1/e2/0"]


async def test_a_row_that_waits_holds_up_its_own_debate_only(queue: Queue) -> None:
    await queue.posts.enqueue([post("d1/e1/0"), post("d1/e2/0"), post("d2/e1/0"), post("d2/e2/0")])
    row = await queue.claim()
    await queue.posts.settle(row, PostState.SENDING, error="no answer", after=50)
    await queue.send("d2/e1/0")
    await queue.send("d2/e2/0")
    remaining = await queue.next()
    assert (remaining.key, remaining.state) == ("d1/e1/0", PostState.SENDING)
    assert 49 < remaining.due_in <= 50


async def test_an_attempt_is_noted_before_it_is_made_and_ended_once(queue: Queue) -> None:
    await queue.posts.enqueue([post("a", text="words")])
    row = await queue.claim()
    assert (row.state, row.owner, row.attempts) == (PostState.SENDING, ME, 1)
    assert (await queue.next()).attempt_age < 60
    assert await queue.posts.settle(row, PostState.SENT, ts="1700.0001")
    assert not await queue.posts.settle(row, PostState.FAILED, error="late")
    sent = await queue.row("a")
    assert (sent.state, sent.ts, sent.error, sent.payload) == (
        PostState.SENT,
        "1700.0001",
        None,
        {},
    )


async def test_what_is_put_back_keeps_its_payload_its_place_and_why(queue: Queue) -> None:
    await queue.posts.enqueue([post("a", text="words"), post("b")])
    await queue.posts.settle(await queue.claim(), PostState.WAITING, error="too fast")
    row = await queue.next()
    assert (row.key, row.state, row.error) == ("a", PostState.WAITING, "too fast")
    assert row.payload == {"text": "words"}


async def test_who_takes_over_looks_from_the_first_attempt_on(queue: Queue) -> None:
    await queue.posts.enqueue([post("a")])
    first = await queue.claim()
    other = Leases(queue.posts.database, "process-2")
    await queue.leases.close()
    assert await other.acquire(LANE) is True
    again = await queue.posts.claim(await queue.next(), "process-2")
    assert again
    assert (again.attempts, again.attempted_at) == (2, first.attempted_at)
    assert not await queue.posts.settle(first, PostState.SENT, ts="1.1")
    assert await queue.posts.settle(again, PostState.SENT, ts="1.2")


async def test_only_who_holds_a_lane_may_begin(queue: Queue) -> None:
    await queue.posts.enqueue([post("a")])
    assert await queue.posts.claim(await queue.next(), "another") is None
    old = update(LANES).values(until=1.0)
    await queue.posts.database.write(lambda c: c.execute(old))
    assert await queue.posts.claim(await queue.next(), ME) is None


async def test_only_refused_rows_can_be_sent_again(queue: Queue) -> None:
    await queue.posts.enqueue([post("a"), post("b")])
    await queue.posts.settle(await queue.claim(), PostState.FAILED, error="refused")
    await queue.posts.settle(await queue.claim(), PostState.SENT)
    await queue.posts.repost(post("a", text="again"))
    await queue.posts.repost(post("b", text="again"))
    assert await queue.drain() == ["a"]


async def test_a_thread_leads_to_its_debate_and_its_board(queue: Queue) -> None:
    await queue.posts.enqueue([living(), replace(post("d1/e1/0"), thread_key=BOARD)])
    row = await queue.claim()
    assert await queue.posts.is_board_under_way(GENERAL)
    assert not await queue.posts.is_board_under_way(RANDOM)
    await queue.posts.settle(row, PostState.SENT, ts="17.1", version=(1, "hash"))
    assert not await queue.posts.is_board_under_way(GENERAL)
    assert await queue.posts.debate_of_post(GENERAL, "17.1") == "d1"
    assert await queue.posts.debate_of_post(RANDOM, "17.1") is None
    reply = await queue.next()
    assert (reply.root_ts, reply.root_state) == ("17.1", PostState.SENT)
    assert [row.key for row in await queue.posts.rows_of_debate("d1")] == [BOARD, "d1/e1/0"]


# --- living posts ---------------------------------------------------------------------------------


async def board_and_card(queue: Queue) -> None:
    await queue.posts.enqueue([living(), pin(), living(CARD, "card")], progress(1))
    await queue.send(BOARD)
    await queue.send(CARD)


async def test_a_living_post_is_stale_once_its_debate_has_come_further(queue: Queue) -> None:
    await board_and_card(queue)
    assert await queue.stale() == []
    lanes = await queue.posts.enqueue([], progress(2))
    assert lanes == {EDITS, PINS}
    assert await queue.stale() == [BOARD, CARD]
    await queue.posts.enqueue([], progress(1))  # told again
    board, card = await queue.posts.stale(EDITS, 0.0)
    assert (board.wanted_seq, board.shown_seq, board.shown_hash) == (2, 1, "hash")
    assert await queue.posts.record_version(board, ME, seq=2, hash_="new")
    assert await queue.posts.note_unchanged([card], ME, 2)
    assert await queue.stale() == []
    assert (await queue.row(CARD)).shown_hash == "hash"
    assert set(await queue.posts.lanes_with_work()) == {PINS}


async def test_what_people_wait_for_is_edited_first_and_what_nobody_does_rests(
    queue: Queue,
) -> None:
    await board_and_card(queue)
    await queue.posts.enqueue([], progress(2, "card"))
    assert await queue.stale() == [CARD, BOARD]
    assert await queue.stale(rest=500) == [CARD]
    (card,) = await queue.posts.stale(EDITS, 500)
    await queue.posts.record_version(card, ME, seq=2, hash_="new")
    due = await queue.posts.edit_due_in(EDITS, 500)
    assert due
    assert 490 < due <= 500
    await queue.posts.enqueue([], progress(3))
    assert await queue.stale(rest=500) == []  # the hurry was over


async def test_edits_of_one_debate_come_together_and_a_put_off_one_later(queue: Queue) -> None:
    await board_and_card(queue)
    await queue.posts.enqueue([replace(living("d2/board"), debate_id="d2")], progress(1))
    await queue.send("d2/board")
    await queue.posts.enqueue([], progress(5, "board", debate="d2"))
    await queue.posts.enqueue([], progress(2))
    assert await queue.stale() == ["d2/board"]
    (row,) = await queue.posts.stale(EDITS, 0.0)
    await queue.posts.put_off(row, 50)
    # A wait is no refusal: the board tells what Slack refused.
    assert [row.error for row in await queue.posts.rows_of_debate("d2")] == [None]
    assert await queue.stale() == [BOARD, CARD]


async def test_a_pin_waits_for_its_board_and_has_no_first_call(queue: Queue) -> None:
    await queue.posts.enqueue([living(), pin()], progress(1))
    assert await queue.stale(PINS) == []
    assert set(await queue.posts.lanes_with_work()) == {LANE}
    await queue.send(BOARD, "17.1")
    (row,) = await queue.posts.stale(PINS, 0.0)
    assert (row.key, row.root_ts, row.shown_seq) == (PIN, "17.1", UNKNOWN)


async def test_what_is_distrusted_during_a_call_stays_so_whatever_the_call_notes(
    queue: Queue,
) -> None:
    await board_and_card(queue)
    await queue.posts.enqueue([], progress(2))
    board, _ = await queue.posts.stale(EDITS, 0.0)
    await queue.posts.distrust(BOARD)
    assert not await queue.posts.record_version(board, ME, seq=2, hash_="old")
    assert not await queue.posts.note_unchanged([board], ME, 2)
    row = await queue.row(BOARD)
    assert (row.shown_seq, row.shown_hash) == (UNKNOWN, None)


async def test_a_process_that_lost_the_lane_writes_nothing_and_gets_an_error(queue: Queue) -> None:
    await board_and_card(queue)
    await queue.posts.enqueue([], progress(2))
    rows = await queue.posts.stale(EDITS, 0.0)
    await queue.leases.close()
    await Leases(queue.posts.database, "process-2").acquire(EDITS)
    assert not await queue.posts.record_version(rows[0], ME, seq=2, hash_="new")
    assert not await queue.posts.note_unchanged(rows, ME, 2)
    with pytest.raises(LaneLost):
        await queue.leases.confirm(EDITS)


async def test_a_place_that_is_gone_and_back_has_its_living_posts_brought_to_the_truth(
    queue: Queue,
) -> None:
    await board_and_card(queue)
    elsewhere = replace(post("d1/direct"), channel="D1")
    await queue.posts.enqueue([post("d1/e1/0"), living("d1/vote", "vote"), elsewhere])
    refused = await queue.row(BOARD)
    await queue.posts.lose_place(refused, "not_in_channel")
    states = {row.key: row.state for row in await queue.posts.rows_of_debate("d1")}
    assert states == {
        BOARD: PostState.GONE,
        PIN: PostState.GONE,
        CARD: PostState.GONE,
        "d1/e1/0": PostState.FAILED,
        "d1/vote": PostState.FAILED,
        "d1/direct": PostState.WAITING,
    }
    await queue.posts.enqueue([], progress(9))
    assert await queue.posts.lanes_with_work() == ["post/T1/D1"]
    assert await queue.posts.find_place(RANDOM) == []
    assert await queue.posts.find_place(GENERAL) == [EDITS, PINS]
    assert await queue.stale() == [BOARD, CARD]
    # A refusal from before the channel came back, whose row is written late, changes nothing.
    await queue.posts.lose_place(refused, "not_in_channel")
    await queue.posts.fail(refused, "not_in_channel")
    assert await queue.stale() == [BOARD, CARD]


# --- leases ---------------------------------------------------------------------------------------


async def lanes_for(leases: Leases, posts: Posts) -> Sequence[str]:
    return await posts.lanes_with_work(leases.owner)


async def test_a_lane_is_held_by_one_process_until_it_leaves_it_or_its_lease_ends(
    on_postgres: str,
) -> None:
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        posts = Posts(database)
        await posts.enqueue([post("a")])
        first, two = Leases(database, "one", holds=2.0), Leases(database, "two", holds=2.0)
        assert await first.acquire(LANE) is True
        assert await two.acquire(LANE) is None
        assert (await lanes_for(first, posts), await lanes_for(two, posts)) == ([LANE], [])
        first.check(LANE)
        await first.close()
        assert await two.acquire(LANE) is True
        await database.write(lambda c: c.execute(update(LANES).values(until=1.0)))
        # Who died did not leave it: a call may be on its way.
        assert await lanes_for(first, posts) == [LANE]
        assert await first.acquire(LANE) is False
        with pytest.raises(LaneLost):
            await two.confirm(LANE)


async def test_a_lease_that_is_renewed_holds_on_and_one_without_work_is_left(
    on_postgres: str,
) -> None:
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        leases = Leases(database, "one", holds=6.0)
        await leases.start()
        for lane in (LANE, EDITS):
            await leases.acquire(lane)
        leases.rest(EDITS)
        other = Leases(database, "two", holds=6.0)
        while await other.acquire(EDITS) is None:
            leases.check(LANE)
        leases.check(LANE)
        with pytest.raises(LaneLost):
            leases.check(EDITS)
        await leases.close()


async def test_queues_read_no_row_that_is_done(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        await prepare(database)
    with closing(sqlite3.connect(path)) as connection:
        stale = "post IS NOT NULL AND state = 'sent' AND wanted_seq > shown_seq"
        for condition, index in (
            ("lane = 'a' AND state IN ('waiting', 'sending') ORDER BY id", "queue_unsent"),
            (f"edit_lane = 'a' AND {stale}", "queue_stale"),
        ):
            plan = connection.execute(
                f"EXPLAIN QUERY PLAN SELECT * FROM queue WHERE {condition}"  # noqa: S608 - our own
            ).fetchall()
            assert index in str(plan)


async def test_a_thread_has_no_address_until_its_board_is_posted(queue: Queue) -> None:
    async def link_to(_place: Place, ts: str) -> str:
        return f"https://slack.example/p{ts}"

    addresses = PostAddresses(posts=queue.posts, clock=ManualClock(), link_to=link_to)
    debate = fold(log_of([DebateStarted(setup=a_setup())]))
    assert await addresses.of_thread(debate) == ""
    await queue.posts.enqueue([living(board_key(debate.id))])
    assert await addresses.of_thread(debate) == ""
    await queue.send(board_key(debate.id), "17.1")
    assert await addresses.of_thread(debate) == "https://slack.example/p17.1"
