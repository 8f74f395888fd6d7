"""The outbox's table: order, edits that replace one another, attempts and what became of them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, event, update
from sqlalchemy.engine import Engine

import core.store.tables
from bot.operations.retention import SentPayloads
from bot.store.holders import ChannelLost
from bot.store.posts import Channel, NewPost, PostRow, Posts, PostState
from bot.store.tables import POSTS, prepare
from core.errors import StoreError
from core.store.database import Database

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
GENERAL = Channel("T1", "C1")
RANDOM = Channel("T1", "C2")


@pytest.fixture
async def posts(location: str) -> AsyncIterator[Posts]:
    async with await Database.open(location) as database:
        await prepare(database)
        yield Posts(database)


def post(key: str, channel: Channel = GENERAL, **payload: object) -> NewPost:
    return NewPost(
        key=key,
        workspace=channel.workspace,
        channel=channel.channel,
        method="post",
        payload=payload,
        debate_id="d1",
    )


def edit(text: str) -> NewPost:
    return replace(post("d1/board", text=text), method="update")


async def next_of(posts: Posts, channel: Channel = GENERAL) -> PostRow:
    row = await posts.next_for(channel)
    assert row is not None
    return row


async def row_of(posts: Posts, key: str) -> PostRow:
    row = await posts.row_by_key(key)
    assert row is not None
    return row


async def send(posts: Posts, key: str, ts: str | None = None) -> PostRow | None:
    return await posts.mark_sent(await posts.mark_sending(key, "process-1", NOON), ts)


async def drained(posts: Posts, channel: Channel = GENERAL) -> list[str]:
    """Keys in the order they are to be sent."""
    keys: list[str] = []
    while row := await posts.next_for(channel):
        keys.append(row.key)
        await send(posts, row.key)
    return keys


async def test_many_posts_are_found_at_once_by_their_keys(posts: Posts) -> None:
    await posts.enqueue([post("d1/board"), post("d2/board", RANDOM), post("d3/board")])
    await send(posts, "d2/board", "17.1")

    found = await posts.rows_with_keys(["d2/board", "d1/board", "d4/board"])

    assert found == {key: await row_of(posts, key) for key in ("d1/board", "d2/board")}
    assert await posts.rows_with_keys([]) == {}


async def test_a_post_comes_back_as_it_went_in(posts: Posts) -> None:
    new = replace(
        post("d1/e2/main", text="NUL \0, 🦆, 'quotes'", blocks=[{"type": "divider"}], n=None),
        thread_key="d1/board",
        not_before=NOON,
    )
    await posts.enqueue([new])

    row = await posts.row_by_key("d1/e2/main")

    assert row == PostRow(
        key=new.key,
        workspace="T1",
        channel="C1",
        method="post",
        payload=new.payload,
        debate_id="d1",
        thread_key="d1/board",
        not_before=NOON,
        id=1,
        state=PostState.WAITING,
        process_token=None,
        attempted_at=None,
        attempts=0,
        ts=None,
        error=None,
    )


async def test_reactions_hold_up_no_post(posts: Posts) -> None:
    seen = [replace(post(f"d1/e{number}/seen"), method="react") for number in (2, 3)]
    await posts.enqueue([*seen, post("d1/verdict"), edit("decided")])

    assert await drained(posts) == ["d1/verdict", "d1/board", "d1/e2/seen", "d1/e3/seen"]


async def test_posts_are_sent_in_the_order_given_channel_by_channel(posts: Posts) -> None:
    await posts.enqueue([post("b"), post("x", RANDOM), post("a")])
    await posts.enqueue([post("c"), post("y", RANDOM)])

    assert set(await posts.channels_with_work()) == {GENERAL, RANDOM}
    assert await drained(posts) == ["b", "a", "c"]
    assert await drained(posts, RANDOM) == ["x", "y"]
    assert await posts.channels_with_work() == []


async def test_the_same_channel_name_in_two_workspaces_is_two_channels(posts: Posts) -> None:
    shared = Channel("T2", "C1")
    await posts.enqueue([post("ours"), post("theirs", shared)])

    assert await drained(posts, shared) == ["theirs"]
    assert await drained(posts) == ["ours"]


async def test_a_key_is_enqueued_once(posts: Posts) -> None:
    await posts.enqueue([post("a", text="first")])
    await posts.enqueue([post("a", text="second"), post("b")])

    assert (await next_of(posts)).payload == {"text": "first"}
    assert await drained(posts) == ["a", "b"]
    await posts.enqueue([post("a", text="third")])
    assert await posts.next_for(GENERAL) is None


async def test_posts_enqueued_at_the_same_time_are_there_once(posts: Posts) -> None:
    await asyncio.gather(*(posts.enqueue([post("a"), post("b")]) for _ in range(20)))

    assert await drained(posts) == ["a", "b"]


async def test_posts_are_enqueued_all_or_none(posts: Posts) -> None:
    with pytest.raises(StoreError):
        await posts.enqueue([post("a"), replace(post("b"), method=None)])

    assert await posts.row_by_key("a") is None


async def test_an_attempt_is_noted_before_it_is_made(posts: Posts) -> None:
    await posts.enqueue([post("a")])

    row = await posts.mark_sending("a", "process-1", NOON)

    assert row == await next_of(posts)
    assert (row.state, row.process_token, row.attempted_at) == (
        PostState.SENDING,
        "process-1",
        NOON,
    )
    assert row.attempts == 1


async def test_another_life_can_try_again_what_was_being_sent(posts: Posts) -> None:
    await posts.enqueue([post("a"), post("b")])
    await posts.mark_sending("a", "process-1", NOON)

    row = await posts.mark_sending("a", "process-2", NOON + timedelta(minutes=1))

    assert (row.process_token, row.attempts) == ("process-2", 2)
    assert (await next_of(posts)).key == "a"


async def test_a_post_that_is_sent_has_its_ts_and_makes_room(posts: Posts) -> None:
    await posts.enqueue([post("a"), post("b")])

    row = await send(posts, "a", "1700.0001")

    sent = await row_of(posts, "a")
    assert (sent.state, sent.ts, sent.error) == (PostState.SENT, "1700.0001", None)
    following = await next_of(posts)
    assert row == following
    assert following.key == "b"
    assert await send(posts, "b") is None


async def test_a_post_that_was_sent_is_not_sent_again(posts: Posts) -> None:
    await posts.enqueue([post("a")])
    await send(posts, "a", "1700.0001")

    with pytest.raises(StoreError, match="sent already"):
        await posts.mark_sending("a", "process-2", NOON)
    assert await posts.next_for(GENERAL) is None


async def test_a_post_that_failed_makes_room_and_says_why(posts: Posts) -> None:
    await posts.enqueue([post("a"), post("b")])
    sending = await posts.mark_sending("a", "process-1", NOON)

    row = await posts.mark_failed(sending, "channel_not_found")

    assert row == await next_of(posts)
    failed = await row_of(posts, "a")
    assert (failed.state, failed.error) == (PostState.FAILED, "channel_not_found")
    assert await drained(posts) == ["b"]


async def test_a_postponed_post_keeps_its_place(posts: Posts) -> None:
    await posts.enqueue([post("a"), post("b")])
    sending = await posts.mark_sending("a", "process-1", NOON)

    await posts.postpone(sending, NOON + timedelta(seconds=30), "ratelimited")

    row = await next_of(posts)
    assert (row.key, row.state, row.process_token) == ("a", PostState.WAITING, None)
    assert (row.not_before, row.error) == (NOON + timedelta(seconds=30), "ratelimited")
    assert (await posts.mark_sending("a", "process-1", NOON)).not_before is None


async def test_marking_a_post_nobody_enqueued_is_an_error(posts: Posts) -> None:
    await posts.enqueue([post("b")])
    nobodys = replace(await next_of(posts), key="a")
    for marking in (
        posts.mark_sending("a", "process-1", NOON),
        posts.mark_sent(nobodys),
        posts.mark_failed(nobodys, "x"),
        posts.postpone(nobodys, NOON),
    ):
        with pytest.raises(StoreError, match="no post 'a'"):
            await marking


async def test_an_edit_that_waits_gets_the_newest_state_and_keeps_its_place(posts: Posts) -> None:
    await posts.replace_or_enqueue(edit("round 1"))
    await posts.replace_or_enqueue(replace(edit("round 1"), key="d2/board"))
    await posts.replace_or_enqueue(edit("round 2"))

    row = await next_of(posts)
    assert (row.key, row.payload) == ("d1/board", {"text": "round 2"})
    assert await drained(posts) == ["d1/board", "d2/board"]


async def test_posts_go_before_edits(posts: Posts) -> None:
    await posts.replace_or_enqueue(edit("round 1"))
    await posts.enqueue([post("a"), replace(post("d1/e1/seen"), method="react"), post("b")])
    assert await drained(posts) == ["a", "b", "d1/board", "d1/e1/seen"]


async def test_while_an_edit_is_being_sent_the_newest_state_waits_behind_it(posts: Posts) -> None:
    await posts.replace_or_enqueue(edit("round 1"))
    sending = await posts.mark_sending("d1/board", "process-1", NOON)
    await posts.replace_or_enqueue(edit("round 2"))
    await posts.replace_or_enqueue(edit("round 3"))

    row = await next_of(posts)
    assert (row.key, row.state) == ("d1/board", PostState.SENDING)
    newer = await posts.mark_sent(sending)
    assert newer is not None
    assert (newer.state, newer.payload) == (PostState.WAITING, {"text": "round 3"})
    again = await posts.mark_sending(newer.key, "process-1", NOON)
    await posts.replace_or_enqueue(edit("round 4"))
    last = await posts.mark_sent(again)
    assert last is not None
    assert (last.key, last.payload) == ("d1/board", {"text": "round 4"})
    assert await drained(posts) == ["d1/board"]


async def test_an_edit_that_fails_leaves_the_newest_state_waiting(posts: Posts) -> None:
    await posts.replace_or_enqueue(edit("too long"))
    sending = await posts.mark_sending("d1/board", "process-1", NOON)
    await posts.replace_or_enqueue(edit("shorter"))

    await posts.mark_failed(sending, "msg_too_long")
    assert (await row_of(posts, "d1/board")).state is PostState.FAILED
    assert (await next_of(posts)).payload == {"text": "shorter"}


async def test_an_edit_refused_before_it_is_tried_again_is_refused_in_its_newest_version(
    posts: Posts,
) -> None:
    await posts.replace_or_enqueue(edit("one"))
    sending = await posts.mark_sending("d1/board", "process-1", NOON)
    await posts.postpone(sending, NOON, "Slack asks for a slower pace")
    waiting = await next_of(posts)
    await posts.replace_or_enqueue(edit("two"))
    await posts.mark_failed(waiting, "Moot is not installed there")
    assert (await row_of(posts, "d1/board")).state is PostState.FAILED
    assert await posts.next_for(GENERAL) is None


async def test_an_edit_after_the_last_one_was_sent_goes_to_the_end(posts: Posts) -> None:
    await posts.replace_or_enqueue(edit("round 1"))
    await send(posts, "d1/board", "1700.0001")
    await posts.enqueue([post("a")])
    await posts.replace_or_enqueue(edit("round 2"))

    row = await row_of(posts, "d1/board")
    assert (row.state, row.attempts) == (PostState.WAITING, 0)
    assert row.ts == "1700.0001"
    assert await drained(posts) == ["a", "d1/board"]


async def test_many_edits_at_once_leave_one_row_with_one_of_them(posts: Posts) -> None:
    edits = [edit(f"s{number}") for number in range(30)]
    await asyncio.gather(*(posts.replace_or_enqueue(one) for one in edits))

    newest = await next_of(posts)
    assert newest.payload in [one.payload for one in edits]
    assert await drained(posts) == ["d1/board"]


async def test_a_thread_leads_to_its_debate(posts: Posts) -> None:
    answer = replace(post("d1/e2/main"), thread_key="d1/board", debate_id="d1")
    await posts.enqueue([post("d1/board"), answer, replace(post("d2/board"), debate_id="d2")])
    for number, key in enumerate(("d1/board", "d1/e2/main", "d2/board")):
        await send(posts, key, f"1700.000{number}")

    assert await posts.debate_of_thread(GENERAL, "1700.0000") == "d1"
    assert await posts.debate_of_thread(GENERAL, "1700.0002") == "d2"
    assert await posts.debate_of_thread(GENERAL, "1700.0001") is None
    assert await posts.debate_of_thread(RANDOM, "1700.0000") is None
    assert await posts.debate_of_thread(GENERAL, "1800.0000") is None


async def test_posts_of_a_debate_come_in_order(posts: Posts) -> None:
    other = replace(post("d2/board"), debate_id="d2")
    await posts.enqueue([post("d1/board"), other, post("d1/e2/main")])
    await send(posts, "d1/board", "1700.0001")

    rows = await posts.rows_of_debate("d1")

    assert [row.key for row in rows] == ["d1/board", "d1/e2/main"]
    assert [row.state for row in rows] == [PostState.SENT, PostState.WAITING]
    assert await posts.rows_of_debate("d3") == []


async def test_who_lost_the_channel_can_neither_send_nor_say_what_came_of_it(posts: Posts) -> None:
    await posts.enqueue([post("d1/e1/0"), post("d1/e2/0")])
    await posts.hold(GENERAL, "frozen")
    sending = await posts.mark_sending("d1/e1/0", "frozen", NOON)
    await posts.hold(GENERAL, "awake")
    with pytest.raises(ChannelLost):
        await posts.mark_sending("d1/e2/0", "frozen", NOON)
    with pytest.raises(ChannelLost):
        await posts.mark_sent(sending, "1.1")
    with pytest.raises(ChannelLost):
        await posts.postpone(sending, NOON, "too fast")
    with pytest.raises(ChannelLost):
        await posts.mark_failed(sending, "refused")

    row = await next_of(posts)
    assert (row.key, row.state, row.process_token) == ("d1/e1/0", PostState.SENDING, "frozen")
    await posts.mark_sent(await posts.mark_sending("d1/e1/0", "awake", NOON), "1.2")
    assert (await row_of(posts, "d1/e1/0")).ts == "1.2"


@pytest.mark.parametrize("step", ["begin", "sent", "failed", "postpone"])
async def test_who_is_taking_a_channel_over_is_waited_for(on_postgres: str, step: str) -> None:
    """Else both would send a post: the one that takes over has not seen it begun."""
    connect = partial(psycopg.AsyncConnection[Any].connect, on_postgres.replace("+psycopg", ""))
    async with (
        await Database.open(on_postgres) as database,
        await connect() as taking_over,
        await connect(autocommit=True) as looking,
    ):
        await prepare(database)
        posts = Posts(database)
        await posts.enqueue([post("a")])
        await posts.hold(GENERAL, "slow")
        before = await next_of(posts)
        if step != "begin":
            before = await posts.mark_sending("a", "slow", NOON)
        await taking_over.execute("UPDATE channel_holders SET life = 'quick'")
        steps = {
            "begin": lambda: posts.mark_sending("a", "slow", NOON),
            "sent": lambda: posts.mark_sent(before, "1.1"),
            "failed": lambda: posts.mark_failed(before, "refused"),
            "postpone": lambda: posts.postpone(before, NOON, "later"),
        }
        under_way = asyncio.create_task(steps[step]())
        while not await (await looking.execute(_WAITS)).fetchone():
            assert not under_way.done()
            await asyncio.sleep(0.05)
        # Who waits for the holder has not locked the post: the two would wait for each other.
        await looking.execute("SELECT 1 FROM posts WHERE key = 'a' FOR UPDATE NOWAIT")
        await taking_over.commit()
        with pytest.raises(ChannelLost):
            await under_way
        assert await row_of(posts, "a") == before


@pytest.mark.parametrize("step", ["begin", "sent"])
async def test_a_post_that_others_change_at_this_moment_is_said_to_be_in_other_hands(
    on_postgres: str, step: str
) -> None:
    """What was in the way of the statement is gone when the next one asks what it was."""
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        posts = Posts(database)
        await posts.enqueue([post("a")])
        sending = await posts.mark_sending("a", "process-1", NOON)
        await posts.mark_sent(sending)
        changes = [f"UPDATE posts SET state = '{PostState.SENDING}'"]  # noqa: S608 - our own word

        steps = {
            "begin": lambda: posts.mark_sending("a", "process-1", NOON),
            "sent": lambda: posts.mark_sent(sending),
        }

        def change(*told: str) -> None:
            if changes and "UPDATE posts" in told[2]:
                with psycopg.connect(on_postgres.replace("+psycopg", "")) as others:
                    others.execute(changes.pop().encode())

        event.listen(Engine, "after_cursor_execute", change)
        try:
            with pytest.raises(StoreError, match="'a' was in other hands"):
                await steps[step]()
        finally:
            event.remove(Engine, "after_cursor_execute", change)
        assert not changes
        assert await row_of(posts, "a") == replace(sending, payload={})


#: Whether a statement waits for another transaction's lock.
_WAITS = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


async def test_who_takes_a_channel_learns_what_is_first_in_line(posts: Posts) -> None:
    assert await posts.hold(GENERAL, "one") is None
    await posts.enqueue([post("d1/e1/0"), post("d1/e2/0")])
    for process in ("one", "other", "one"):  # the first has it again once the other had it
        row = await posts.hold(GENERAL, process)
        assert row is not None
        assert (row.key, row.state) == ("d1/e1/0", PostState.WAITING)
    with pytest.raises(ChannelLost):
        await posts.mark_sending("d1/e1/0", "other", NOON)
    await posts.mark_sending("d1/e1/0", "one", NOON)


async def test_a_channel_is_held_apart_from_the_others(posts: Posts) -> None:
    await posts.enqueue([post("d1/e1/0"), post("d2/e1/0", RANDOM)])
    await posts.hold(GENERAL, "one")
    await posts.hold(RANDOM, "other")
    await posts.mark_sending("d1/e1/0", "one", NOON)
    await posts.mark_sending("d2/e1/0", "other", NOON)


async def test_what_is_urgent_overtakes_other_debates_and_reactions_come_last(posts: Posts) -> None:
    react = replace(post("d1/e2/eyes"), method="react")
    word = replace(post("word", user="U1"), method="ephemeral", debate_id=None, urgent=True)
    board = replace(post("d2/board"), debate_id="d2", urgent=True)
    await posts.enqueue([react, post("d1/e3/0"), post("d1/e4/0"), board, word])

    assert await drained(posts) == ["d2/board", "word", "d1/e3/0", "d1/e4/0", "d1/e2/eyes"]


async def test_an_urgent_reply_waits_for_what_its_own_debate_posts_before_it(posts: Posts) -> None:
    other = replace(post("d2/e2/0"), debate_id="d2")
    board_edit = replace(post("d1/board/edit"), method="update")
    card = replace(post("d1/card"), urgent=True)
    queued = [other, post("d1/e3/0"), board_edit, post("d1/e4/0"), card, post("d1/e5/0")]
    await posts.enqueue(queued)

    assert await drained(posts) == [
        "d1/e3/0",
        "d1/e4/0",
        "d1/card",
        "d2/e2/0",
        "d1/e5/0",
        "d1/board/edit",
    ]


async def test_what_is_being_sent_is_finished_before_something_urgent(posts: Posts) -> None:
    await posts.enqueue([post("d1/e3/0")])
    await posts.mark_sending("d1/e3/0", "process-1", NOON)
    await posts.enqueue([replace(post("d2/board"), debate_id="d2", urgent=True)])

    assert (await next_of(posts)).key == "d1/e3/0"


async def test_what_slack_has_is_not_kept(posts: Posts) -> None:
    """Messages and files would be two thirds of the database."""
    said = {"sent": "a", "refused": "b", "doubt": "c"}
    await posts.enqueue([post(key, text=text) for key, text in said.items()])
    sending = await posts.mark_sending("sent", "process-1", NOON)
    assert sending.payload == {"text": "a"}

    await posts.mark_sent(sending, "1.1")
    await posts.mark_failed(await row_of(posts, "refused"), "Slack refuses it")
    doubt = await posts.mark_sending("doubt", "process-1", NOON)

    sent, refused = await row_of(posts, "sent"), await row_of(posts, "refused")
    assert (sent.payload, sent.ts, refused.payload) == ({}, "1.1", {})
    assert doubt.payload == {"text": "c"}  # it may have to be sent again
    await posts.postpone(doubt, NOON, "it had not arrived")
    assert (await row_of(posts, "doubt")).payload == {"text": "c"}


@pytest.mark.parametrize("comes", ["while it is sent", "between the two"])
@pytest.mark.parametrize("end", ["sent", "failed", "postponed"])
async def test_what_is_noted_twice_loses_no_newer_edit(posts: Posts, end: str, comes: str) -> None:
    """A commit whose answer is lost is done again; meanwhile the row may be another's matter."""
    await posts.replace_or_enqueue(edit("round 1"))
    await posts.enqueue([post("a")])
    sending = await posts.mark_sending("d1/board", "process-1", NOON)
    steps = {
        "sent": lambda: posts.mark_sent(sending, "1.1"),
        "failed": lambda: posts.mark_failed(sending, "refused"),
        "postponed": lambda: posts.postpone(sending, NOON, "later"),
    }

    if comes == "while it is sent":
        await posts.replace_or_enqueue(edit("round 2"))
    await steps[end]()
    if comes == "between the two":
        await posts.replace_or_enqueue(edit("round 2"))
    following = await posts.next_for(GENERAL)
    again = await steps[end]()

    assert again == (None if end == "postponed" else following)
    assert await posts.next_for(GENERAL) == following
    await send(posts, "a")
    if end == "postponed" and comes == "while it is sent":
        await send(posts, "d1/board")
    newer = await next_of(posts)
    assert (newer.state, newer.payload) == (PostState.WAITING, {"text": "round 2"})


async def test_what_is_refused_twice_before_it_is_tried_loses_no_newer_edit(posts: Posts) -> None:
    await posts.replace_or_enqueue(edit("round 1"))
    await posts.enqueue([post("a")])
    waiting = await next_of(posts)
    await posts.mark_failed(waiting, "Moot is not installed there")
    await posts.replace_or_enqueue(edit("round 2"))

    await posts.mark_failed(waiting, "Moot is not installed there")  # the answer was lost
    again = await row_of(posts, "d1/board")
    assert (again.state, again.payload) == (PostState.WAITING, {"text": "round 2"})


async def test_posts_that_an_earlier_version_sent_are_emptied_once(location: str) -> None:
    async with await Database.open(location) as database:
        await core.store.tables.prepare(database)
        await prepare(database)
        posts = Posts(database)
        await posts.enqueue([post(f"p{number}", text="long") for number in range(450)])

        def sent_by_an_earlier_version(connection: Connection) -> None:
            old = update(POSTS).where(POSTS.c.key != "p7").values(state=PostState.SENT)
            connection.execute(old)

        await database.write(sent_by_an_earlier_version)

        for _ in range(2):
            await SentPayloads(database).purge(NOON)

            rows = await posts.rows_of_debate("d1")
            assert [row.key for row in rows if row.payload] == ["p7"]
            assert (await next_of(posts)).payload == {"text": "long"}


async def test_an_edit_that_an_earlier_version_was_sending_with_a_newer_payload_is_sent(
    location: str,
) -> None:
    async with await Database.open(location) as database:
        await core.store.tables.prepare(database)
        await prepare(database)
        posts = Posts(database)
        await posts.replace_or_enqueue(edit("the newest"))
        await posts.mark_sending("d1/board", "process-1", NOON)

        def of_an_earlier_version(connection: Connection) -> None:
            connection.execute(update(POSTS).values(version=3, sending_version=2))

        await database.write(of_an_earlier_version)

        row = await next_of(posts)
        assert (row.state, row.payload) == (PostState.SENDING, {"text": "the newest"})
        assert await drained(posts) == ["d1/board"]


async def test_queues_read_no_post_that_was_sent(tmp_path: Path) -> None:
    """Of a hundred thousand debates millions of posts stay; a handful waits."""
    statements: list[str] = []
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/moot.db") as database:
        await prepare(database)
        posts = Posts(database)
        await posts.enqueue([post("a")])

        def note(*told: str) -> None:
            statements.append(told[2])

        event.listen(Engine, "before_cursor_execute", note)
        try:
            await posts.next_for(GENERAL)
            await posts.channels_with_work()
            await posts.backlog()
        finally:
            event.remove(Engine, "before_cursor_execute", note)

    asked = [statement for statement in statements if "posts" in statement]
    with closing(sqlite3.connect(tmp_path / "moot.db")) as connection:
        for statement in asked:
            nothing = [None] * statement.count("?")
            plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}", nothing).fetchall()
            read = [row[-1] for row in plan if "posts" in row[-1]]
            assert ["posts_unsent" in words for words in read] == [True], plan
    assert len(asked) == 3
