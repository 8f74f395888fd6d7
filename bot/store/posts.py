"""Posts on their way to Slack: what is to be sent, in which order, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    RowMapping,
    Text,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from bot.store import holders
from bot.store.tables import CHANNEL_HOLDERS, POSTS, UNSENT
from core.errors import StoreError
from core.store.columns import insert_new
from core.store.database import Database

#: Methods that show a newer state of what is there already.
EDITS = ("update", "session")
#: Ends the key of an edit that waits while an older one of the same message is being sent.
_NEWER = "/newer"


class PostState(StrEnum):
    """How far a post has come."""

    WAITING = "waiting"
    #: Somebody began to send it; after a crash it may or may not be in Slack.
    SENDING = "sending"
    SENT = "sent"
    #: It will not be tried again. So is a state that nobody knows: the file is damaged.
    FAILED = "failed"

    @classmethod
    def _missing_(cls, value: object) -> "PostState":  # noqa: ARG003 - the base class has it
        return cls.FAILED


class Channel(NamedTuple):
    """A channel of a workspace; its posts are sent one after the other."""

    workspace: str
    channel: str


@dataclass(frozen=True, kw_only=True)
class NewPost:
    """Something to be sent."""

    #: Says what it is, unique among all posts: `<debate>/e<seq>/<part>`.
    key: str
    workspace: str
    channel: str
    #: "post", "update", "pin", "unpin", "react", "ephemeral", "upload", …
    method: str
    #: What the method is called with; JSON.
    payload: Mapping[str, Any]
    debate_id: str | None = None
    #: Key of the post whose thread it goes to; None in the channel itself.
    thread_key: str | None = None
    #: Somebody waits for it: it overtakes what other debates post in the channel.
    urgent: bool = False
    #: Not to be sent before.
    not_before: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class PostRow(NewPost):
    """A post in the outbox and what became of it."""

    #: The order in its channel.
    id: int
    state: PostState
    #: Token of the process that last began to send it.
    process_token: str | None
    attempted_at: datetime | None
    #: Times somebody began to send it.
    attempts: int
    #: What Slack calls the message, once it is there.
    ts: str | None
    #: Why the last attempt failed, in words.
    error: str | None


class Posts:
    """The outbox's table. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def enqueue(self, posts: Sequence[NewPost]) -> None:
        """Add the posts in this order, all or none. Keys that are there already are left alone."""

        def insert_all(connection: Connection) -> None:
            for post in posts:
                insert_new(connection, POSTS, _fresh(post))

        await self._database.write(insert_all)

    async def replace_or_enqueue(self, post: NewPost) -> None:
        """Add an edit of which only the newest state matters.

        If one with its key waits, that one gets the payload and keeps its place. While one is being
        sent, the newer one waits behind it as a row of its own, with another key.
        """
        keys = (post.key, f"{post.key}{_NEWER}")

        def replace_row(connection: Connection) -> bool:
            heads = connection.execute(_LOCKED_HEADS, {"with_keys": keys}).all()
            if heads and heads[-1].state == PostState.WAITING:
                change = {"with_key": heads[-1].key, "payload": dict(post.payload)}
                connection.execute(_CHANGE, change)
                return True
            sending = {head.key for head in heads if head.state == PostState.SENDING}
            key = next((key for key in keys if key not in sending), keys[-1])
            settled = next((head for head in heads if head.key == key), None)
            if settled is not None:
                # It goes to the end of the queue: a new id is a new place.
                connection.execute(_DELETE, {"with_key": key})
            again = {**_fresh(post), "key": key, "ts": settled.ts if settled else None}
            return insert_new(connection, POSTS, again)

        def replace_in_turn(connection: Connection) -> None:
            # Somebody else may insert it at the same time; then it is there to be replaced.
            if not (replace_row(connection) or replace_row(connection)):
                raise _in_other_hands(post.key)

        await self._database.write(replace_in_turn)

    async def hold(self, channel: Channel, process_token: str) -> PostRow | None:
        """Take the sending of a channel's posts over from every older process.

        Returns what `next_for` does.
        """

        def claim(connection: Connection) -> PostRow | None:
            holders.claim(connection, *channel, process_token)
            return _next_for(connection, channel)

        return await self._database.write(claim)

    async def next_for(self, channel: Channel) -> PostRow | None:
        """The first post of the channel that is neither sent nor failed.

        What is *sending* comes first, then what is urgent, then posts, edits, and reactions. An
        urgent reply waits for what its own debate posts before it: a thread keeps its order.

        It may be one that has to wait (`not_before`): what comes after it waits as well.
        """
        return await self._database.read(lambda c: _next_for(c, channel))

    async def channels_with_work(self) -> Sequence[Channel]:
        """Channels with posts that are neither sent nor failed."""
        rows = await self._database.read(lambda c: c.execute(_BUSY_CHANNELS).all())
        return [Channel(row.workspace, row.channel) for row in rows]

    async def backlog(self) -> int:
        """How many posts are neither sent nor failed."""
        return await self._database.read(lambda c: c.execute(_BACKLOG).scalar_one())

    async def mark_sending(self, key: str, process_token: str, at: datetime) -> PostRow:
        """Note, before the call, that this process begins to send it.

        Send the payload of the row this returns: it may be newer than the one read before.

        Raises:
            ChannelLost: Another process holds the channel.
            StoreError: There is no such post, it was sent or failed already, or others changed it
                at this moment: do not send it.
        """

        def hand_out(connection: Connection) -> PostRow:
            wanted = {"with_key": key, "token": process_token, "at": at}
            row = connection.execute(_HAND_OUT, wanted).mappings().first()
            if row is None:
                head = _head_for(connection, key, process_token)
                if head.state in {PostState.WAITING, PostState.SENDING}:
                    raise _in_other_hands(key)
                raise StoreError(f"The post {key!r} is not to be sent: it is {head.state} already.")
            return _row(row)

        return await self._database.write(hand_out)

    async def mark_sent(self, row: PostRow, ts: str | None = None) -> PostRow | None:
        """Note that Slack has it; `ts` names the message, if the method gives one.

        Returns what `next_for` does: who sent a post goes on with the next one.

        The row then is *sent*, and its payload is empty: Slack has it, and the log can make it
        again.

        Args:
            row: What `mark_sending` returned, or as it was read if it was not handed out here. Only
                the attempt it tells of is ended: where that has ended already, nothing is written.
                With its `process_token` only who holds the channel may write.
            ts: What Slack calls the message.

        Raises:
            ChannelLost: Another process holds the channel.
            StoreError: There is no such post, or others changed it at this moment.
        """
        return await self._database.write(lambda c: _mark(c, _MARK_SENT, row, ts=ts))

    async def mark_failed(self, row: PostRow, error: str) -> PostRow | None:
        """Note that Slack will never take it. Takes, returns and raises what `mark_sent` does.

        The row then is *failed*, and its payload is empty.
        """
        return await self._database.write(lambda c: _mark(c, _MARK_FAILED, row, error=error))

    async def postpone(self, row: PostRow, not_before: datetime, error: str | None = None) -> None:
        """Put it back to waiting: it was surely not sent, and may be tried from then on.

        Takes the row and raises as `mark_sent` does.
        """
        values = {"due": not_before, "why": error}
        await self._database.write(lambda c: _end_attempt(c, _PUT_BACK, row, values))

    async def row_by_key(self, key: str) -> PostRow | None:
        """The post with this key."""
        return await self._database.read(lambda connection: _find(connection, key))

    async def rows_with_keys(self, keys: Sequence[str]) -> Mapping[str, PostRow]:
        """The posts with these keys, as far as there are any, by key."""
        if not keys:
            return {}
        wanted = {"with_keys": keys}
        rows = await self._database.read(lambda c: c.execute(_BY_KEYS, wanted).mappings().all())
        return {row["key"]: _row(row) for row in rows}

    async def debate_of_thread(self, channel: Channel, thread_ts: str) -> str | None:
        """Id of the debate whose first post began this thread."""
        wanted = {**channel._asdict(), "thread_ts": thread_ts}
        return await self._database.read(lambda c: c.execute(_ROOT, wanted).scalar())

    async def rows_of_debate(self, debate_id: str) -> Sequence[PostRow]:
        """All posts of a debate, in order."""
        wanted = {"debate_id": debate_id}
        rows = await self._database.read(lambda c: c.execute(_OF_DEBATE, wanted).mappings().all())
        return [_row(row) for row in rows]


_HERE: ColumnElement[bool] = (POSTS.c.workspace == bindparam("workspace")) & (
    POSTS.c.channel == bindparam("channel")
)
_WITH_KEY: ColumnElement[bool] = POSTS.c.key == bindparam("with_key")

# Statements are made once: making them anew costs more than running them.
_BY_KEYS = select(POSTS).where(POSTS.c.key.in_(bindparam("with_keys", expanding=True)))
_BACKLOG = select(func.count()).select_from(POSTS).where(UNSENT)
#: Reactions come last: each takes more than a second of Slack's pace, and sixty notes would hold a
#: verdict up for more than a minute. No post needs one to be there.
_NEXT = (
    select(POSTS)
    .where(_HERE, UNSENT)
    .order_by(
        POSTS.c.state != PostState.SENDING,
        ~POSTS.c.urgent,
        case((POSTS.c.method.in_(EDITS), 1), (POSTS.c.method == "react", 2), else_=0),
        POSTS.c.id,
    )
    .limit(1)
)
#: What a debate posts in its thread before a reply of its own.
_BEFORE_REPLY = (
    select(POSTS)
    .where(_HERE, UNSENT, POSTS.c.debate_id == bindparam("debate_id"))
    .where(POSTS.c.method.in_(["post", "upload"]), POSTS.c.id < bindparam("before"))
    .order_by(POSTS.c.id)
    .limit(1)
)
_BUSY_CHANNELS = select(POSTS.c.workspace, POSTS.c.channel).where(UNSENT).distinct()
_BY_KEY = select(POSTS).where(_WITH_KEY)
#: What has to be known of a row to change it: without its payload.
_HEAD = select(*(column for column in POSTS.c if column is not POSTS.c.payload)).where(_WITH_KEY)
_LOCKED_HEADS = (
    select(POSTS.c.key, POSTS.c.state, POSTS.c.ts)
    .where(POSTS.c.key.in_(bindparam("with_keys", expanding=True)))
    .order_by(POSTS.c.id)
    .with_for_update()
)
_CHANGE = update(POSTS).where(_WITH_KEY)
_DELETE = delete(POSTS).where(_WITH_KEY)
#: What a row is left with when nothing more is to be sent.
EMPTY: Mapping[str, Any] = {"payload": {}}
#: Who holds a post's channel, locked until the end of the transaction. A process that is taking the
#: channel over is waited for, and then is who holds it. All lock the holder before the post: two
#: that locked them in different orders would wait for each other.
_HOLDER = (
    select(CHANNEL_HOLDERS.c.life)
    .join(
        POSTS,
        (POSTS.c.workspace == CHANNEL_HOLDERS.c.workspace)
        & (POSTS.c.channel == CHANNEL_HOLDERS.c.channel),
    )
    .where(_WITH_KEY)
    .with_for_update(of=CHANNEL_HOLDERS)
    .cte("holder")
)
#: The post with this key, if no other process holds its channel; no process (NULL) may write all.
_OURS: ColumnElement[bool] = _WITH_KEY & ~exists(
    select(_HOLDER.c.life).where(_HOLDER.c.life != bindparam("token", type_=Text))
)
_HAND_OUT = (
    update(POSTS)
    .where(_OURS, UNSENT)
    .values(
        state=PostState.SENDING,
        life=bindparam("token", type_=Text),
        attempted_at=bindparam("at"),
        attempts=POSTS.c.attempts + 1,
        not_before=None,
    )
    .returning(*POSTS.c)
)
#: The attempt that somebody ends. A commit whose answer was lost is done again (`Repeating`), when
#: the row may wait again with a newer edit: that is none of it.
_ATTEMPT: ColumnElement[bool] = (
    _OURS
    & (POSTS.c.id == bindparam("place"))
    & (POSTS.c.state == bindparam("was"))
    & (POSTS.c.attempts == bindparam("tried"))
)
#: What is put back keeps its payload: it is sent again, or looked for by its files' names.
_PUT_BACK = (
    update(POSTS)
    .where(_ATTEMPT)
    .values(
        state=PostState.WAITING,
        life=None,
        not_before=bindparam("due"),
        error=bindparam("why", type_=Text),
    )
    .returning(POSTS.c.id)
)


def _marking(state: PostState) -> ReturningUpdate[int]:
    """Return the statement that ends an attempt."""
    return (
        update(POSTS)
        .where(_ATTEMPT)
        .values(
            state=state.value,
            payload=literal(EMPTY["payload"], POSTS.c.payload.type),
            ts=func.coalesce(bindparam("new_ts", type_=Text), POSTS.c.ts),
            error=bindparam("why", type_=Text),
            not_before=None,
        )
        .returning(POSTS.c.id)
    )


_MARK_SENT = _marking(PostState.SENT)
_MARK_FAILED = _marking(PostState.FAILED)
_OF_DEBATE = select(POSTS).where(POSTS.c.debate_id == bindparam("debate_id")).order_by(POSTS.c.id)
_ROOT = (
    select(POSTS.c.debate_id)
    .where(_HERE, POSTS.c.method == "post", POSTS.c.thread_key.is_(None))
    .where(POSTS.c.ts == bindparam("thread_ts"))
    .order_by(POSTS.c.id)
    .limit(1)
)


def _fresh(post: NewPost) -> dict[str, Any]:
    """The values of a row that was never sent."""
    return {**vars(post), "state": PostState.WAITING, "attempts": 0}


def _next_for(connection: Connection, channel: Channel) -> PostRow | None:
    """The channel's post that is next in line; see `Posts.next_for`."""
    found = connection.execute(_NEXT, channel._asdict()).mappings().first()
    if found is None:
        return None
    row = _row(found)
    if not row.urgent or row.method != "post" or row.state is PostState.SENDING:
        return row
    wanted = {**channel._asdict(), "debate_id": row.debate_id, "before": row.id}
    earlier = connection.execute(_BEFORE_REPLY, wanted).mappings().first()
    return row if earlier is None else _row(earlier)


def _mark(
    connection: Connection,
    marking: ReturningUpdate[int],
    row: PostRow,
    *,
    ts: str | None = None,
    error: str | None = None,
) -> PostRow | None:
    """End an attempt; returns the channel's post that is next in line."""
    _end_attempt(connection, marking, row, {"new_ts": ts, "why": error})
    return _next_for(connection, Channel(row.workspace, row.channel))


def _end_attempt(
    connection: Connection,
    ending: ReturningUpdate[int],
    row: PostRow,
    values: Mapping[str, object],
) -> None:
    """End an attempt, unless it has ended already."""
    wanted = {"place": row.id, "was": row.state, "tried": row.attempts, **values}
    whose = {"with_key": row.key, "token": row.process_token}
    if connection.execute(ending, {**wanted, **whose}).first() is None:
        head = _head_for(connection, row.key, row.process_token)
        if (head.id, head.state, head.attempts) == (row.id, row.state, row.attempts):
            raise _in_other_hands(row.key)


def _head_for(connection: Connection, key: str, process_token: str | None) -> Row[Any]:
    """The row with this key, without its payload, if this process may write it.

    None may write all.
    """
    head = connection.execute(_HEAD, {"with_key": key}).first()
    if head is None:
        raise _missing(key)
    if process_token is not None:
        holders.check(connection, head.workspace, head.channel, process_token)
    return head


def _missing(key: str) -> StoreError:
    return StoreError(f"There is no post {key!r}.")


def _in_other_hands(key: str) -> StoreError:
    """Nothing was written, and what was in the way is gone: only whoever looks again can go on."""
    return StoreError(f"The post {key!r} was in other hands meanwhile.")


def _find(connection: Connection, key: str) -> PostRow | None:
    """The row with this key, if there is one."""
    row = connection.execute(_BY_KEY, {"with_key": key}).mappings().first()
    return None if row is None else _row(row)


def _row(row: RowMapping) -> PostRow:
    """The value of a row."""
    fields: dict[str, Any] = {**row, "state": PostState(row["state"])}
    del fields["version"], fields["sending_version"]
    fields["process_token"] = fields.pop("life")  # the column keeps the name it had first
    return PostRow(**fields)
