"""The queue's table: rows to send, their order, and the versions of living posts.

All SQL of the queue is here and in `bot.store.leases`. A row is *waiting*, then *sending* (after a
crash it may or may not have arrived), then *sent* or *failed*. A living post stays *sent* and may
be stale. Its content is rendered from the log, so edits have no rows.

Reason: the table's operations and their statements are read together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    Double,
    RowMapping,
    Select,
    Text,
    Update,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    text,
    true,
    union,
    update,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.dml import ReturningUpdate

from bot.store.leases import NOW
from bot.store.tables import LANES, QUEUE, UNSENT, Channel
from core.redaction import without_secrets
from core.store.database import Database
from core.store.tables import insert_new

#: Of a living post: the number of the newest event that it shows, and the hash of its content.
Version = tuple[int, str | None]
#: `shown_seq` of a living post whose version in Slack is unknown.
UNKNOWN = -1
#: Methods of living posts that are not messages: they have no first call, and each call sets a
#: state.
STATES = frozenset({"pin", "session"})
#: The method of landings, and the first part of their lanes' names.
LANDING = "landing"
#: Most stale posts read together, which is more than one debate has.
_MOST_STALE = 30


class PostState(StrEnum):
    WAITING = "waiting"
    #: A process began to send it; after a crash it may or may not have arrived.
    SENDING = "sending"
    SENT = "sent"
    #: It will not be tried again. Also for unknown states in a damaged file.
    FAILED = "failed"
    #: Its channel cannot be reached. Living posts are updated when it can be reached again.
    GONE = "gone"

    @classmethod
    def _missing_(cls, value: object) -> "PostState":  # noqa: ARG003 - the base class has it
        return cls.FAILED


@dataclass(frozen=True, kw_only=True)
class NewPost:
    #: Unique among all rows: `<debate>/e<seq>/<part>`.
    key: str
    workspace: str
    #: Of a landing: its receiver's name.
    channel: str
    #: "post", "pin", "react", "ephemeral", "upload", "landing", …
    method: str
    #: Arguments of the method as JSON. For a living post, only those that rendering does not make.
    payload: Mapping[str, Any]
    debate_id: str | None = None
    #: Key of the post whose thread it goes to, or that it pins; None in the channel itself.
    thread_key: str | None = None
    #: Whether it is sent before posts of other debates in the channel: somebody waits for it.
    urgent: bool = False
    #: The name of a living post; empty: the content is fixed.
    post: str = ""
    #: The number of the event that a living post has to show, or that a landing reports.
    wanted_seq: int = 0

    @property
    def lane(self) -> str:
        """The unit of Slack's rate limits that it belongs to; for a landing, its receiver."""
        if self.method == LANDING:
            return f"{LANDING}/{self.channel}"
        lanes = {"ephemeral": "whisper", "react": "react", "pin": "pin", "session": "edit"}
        if kind := lanes.get(self.method):
            return f"{kind}/{self.workspace}"
        return f"post/{self.workspace}/{self.channel}"

    @property
    def edit_lane(self) -> str | None:
        """The unit of Slack's rate limits for its edits; None: it has none."""
        if not self.post:
            return None
        return f"{'pin' if self.method == 'pin' else 'edit'}/{self.workspace}"


@dataclass(frozen=True, kw_only=True)
class PostRow(NewPost):
    """A row of the queue with its state. Times are seconds by the database's clock."""

    #: The order in its lane.
    id: int
    state: PostState
    #: The process that began the last attempt.
    owner: str | None
    attempted_at: float | None
    #: The number of attempts to send it.
    attempts: int
    #: Slack's timestamp of the sent message; for a landing, the path of its record.
    ts: str | None
    #: Why the last attempt failed, in words.
    error: str | None
    shown_seq: int = 0
    #: The time of the last edit, or since when its channel can be reached again.
    shown_at: float = 0.0
    shown_hash: str | None = None
    #: Timestamp and state of the post that begins its thread, if they were read.
    root_ts: str | None = None
    root_state: PostState | None = None
    #: Seconds until the next attempt, and since the last one; negative: unknown.
    due_in: float = 0.0
    attempt_age: float = 0.0


@dataclass(frozen=True, kw_only=True)
class DebateProgress:
    debate_id: str
    #: The number of its newest event.
    seq: int
    #: Names of living posts whose edits people wait for now.
    hurried: Sequence[str] = ()


class Posts:
    """The queue's table. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def enqueue(
        self, posts: Sequence[NewPost], progress: DebateProgress | None = None
    ) -> frozenset[str]:
        """Add posts in this order and record their debate's progress, in one transaction.

        Existing keys are left alone. Returns the lanes with new work.
        """

        def insert_all(connection: Connection) -> frozenset[str]:
            for post in posts:
                insert_new(connection, QUEUE, fresh(post, progress))
            lanes = {post.lane for post in posts}
            if progress:
                names = list(progress.hurried)
                values = {"of_debate": progress.debate_id, "seq": progress.seq, "hurried": names}
                lanes.update(connection.execute(_WANT, values).scalars())
            return frozenset(lanes)

        return await self.database.write(insert_all)

    async def repost(self, post: NewPost) -> None:
        """Send a post again if it has failed."""

        def replace(connection: Connection) -> None:
            deletion = delete(QUEUE).where(
                QUEUE.c.key == post.key, QUEUE.c.state == PostState.FAILED
            )
            connection.execute(deletion)
            insert_new(connection, QUEUE, fresh(post, None))

        await self.database.write(replace)

    async def next_for(self, lane: str) -> PostRow | None:
        """The next row of a lane. If it has to wait (`due_in`), so have all others.

        Only the first unsent row of each debate may be sent, so that a waiting row delays its own
        debate only. Rows that are due and *sending* come first, then debates with urgent rows.
        """
        return next(iter(await self._rows(_NEXT, in_lane=lane)), None)

    async def claim(self, row: PostRow, owner: str) -> PostRow | None:
        """Record, before the call, that this process sends the row.

        None: another process holds the lane, or others changed the row.
        """
        return await self._change(_CLAIM, of_id=row.id, was=row.state, tried=row.attempts, me=owner)

    async def settle(
        self,
        row: PostRow,
        state: PostState,
        *,
        ts: str | None = None,
        error: str | None = None,
        after: float = 0.0,
        version: Version | None = None,
    ) -> bool:
        """Record the result of the attempt that `claim` began, without checking the lease.

        False: another process has taken over the row meanwhile, and nothing was written.

        Args:
            row: As `claim` returned it.
            state: The result; *sending*: it is still unknown.
            ts: Slack's timestamp of the message.
            error: Why it failed, in words.
            after: Seconds until it may be tried again.
            version: The version that a living post shows.
        """
        is_over = state not in {PostState.WAITING, PostState.SENDING}
        seq, hash_ = version or (row.shown_seq, row.shown_hash)
        changed_row = await self._change(
            _SETTLE,
            of_id=row.id,
            tried=row.attempts,
            me=row.owner,
            to=state,
            new_ts=ts,
            why=error,
            wait=after,
            seq=seq,
            hash=hash_,
            left={} if is_over else dict(row.payload),
        )
        return changed_row is not None

    async def stale(self, lane: str, rest: float) -> Sequence[PostRow]:
        """The stale living posts of one debate: of one that a person waits for, else the oldest.

        Posts that nobody waits for are returned only `rest` seconds after their last edit.
        """
        rows = await self._rows(_STALE_ROWS, in_lane=lane, rest=rest)
        return [row for row in rows if row.debate_id == rows[0].debate_id]

    async def edit_due_in(self, lane: str, rest: float) -> float | None:
        """Seconds until the next stale post of the lane may be edited; None: there is none."""
        return await self._scalar(_EDIT_DUE, in_lane=lane, rest=rest)

    async def record_version(
        self, row: PostRow, owner: str, *, seq: int, hash_: str, error: str | None = None
    ) -> bool:
        """Record the version that a living post shows after an edit.

        False: it is unknown, because another process holds the lane, or `distrust` was called.
        """
        values = {"of_id": row.id, "was_seq": row.shown_seq, "me": owner}
        changed_row = await self._change(_NOTE_SHOWN, **values, seq=seq, hash=hash_, why=error)
        return changed_row is not None

    async def note_unchanged(self, rows: Sequence[PostRow], owner: str, seq: int) -> bool:
        """Record that these rows are up to date; False: another process holds the lane."""
        values = [{"of_id": row.id, "me": owner, "seq": seq} for row in rows]

        def note(connection: Connection) -> bool:
            # One at a time, against deadlocks with other processes.
            results = [connection.execute(_NOTE_SAME, value).first() for value in values]
            return any(results)

        return await self.database.write(note)

    async def distrust(self, key: str) -> None:
        """Mark the version of a living post as unknown, which causes one more edit."""
        await self._set(_DISTRUST, with_key=key)

    async def put_off(self, row: PostRow, after: float) -> None:
        """Let a row wait `after` seconds. Its last error stays."""
        await self._set(_PUT_OFF, of_id=row.id, wait=after)

    async def fail(self, row: PostRow, error: str) -> None:
        """Give up a row, unless its channel can be reached again since the row was read."""
        await self._set(_FAIL, of_id=row.id, was_shown_at=row.shown_at, why=error)

    async def lose_place(self, row: PostRow, error: str) -> None:
        """Stop posts of the row's debate in its channel, which cannot be reached.

        Changes nothing if the channel can be reached again since the row was read.
        """
        version = {"of_id": row.id, "was_shown_at": row.shown_at}
        place = {"of_debate": row.debate_id, "in_channel": row.channel}
        await self._set(_LOSE_PLACE, **version, **place, why=error)

    async def find_place(self, channel: Channel) -> Sequence[str]:
        """Mark living posts of a channel that can be reached again as stale; return their lanes."""
        here = {"in_workspace": channel.workspace, "in_channel": channel.channel}

        def mark(connection: Connection) -> Sequence[str]:
            lanes = connection.execute(_FIND_PLACE, here).scalars().all()
            connection.execute(_OUTDATE_REFUSALS, here)
            return lanes

        return sorted(set(await self.database.write(mark)))

    async def lanes_with_work(self, owner: str | None = None) -> Sequence[str]:
        """Lanes with rows to send or to edit, now or later.

        With an `owner`, only those that it may serve now; None: all lanes of Slack.
        """
        busy = _BUSY if owner is None else _BUSY_FOR
        values = {} if owner is None else {"me": owner}
        return await self.database.read(lambda c: c.execute(busy, values).scalars().all())

    async def backlog(self) -> int:
        return await self._scalar(_BACKLOG)

    async def row_by_key(self, key: str) -> PostRow | None:
        return (await self.rows_with_keys([key])).get(key)

    async def rows_with_keys(self, keys: Sequence[str]) -> Mapping[str, PostRow]:
        rows = await self._rows(_BY_KEYS, with_keys=keys) if keys else ()
        return {row.key: row for row in rows}

    async def debate_of_post(self, channel: Channel, ts: str) -> str | None:
        """Id of the debate of one of the bot's messages."""
        return await self._scalar(_POSTED, **channel._asdict(), ts=ts)

    async def is_board_under_way(self, channel: Channel) -> bool:
        """Whether a board is being sent to the channel, so that its timestamp is unknown."""
        return await self._scalar(_UNDER_WAY, **channel._asdict()) is not None

    async def rows_of_debate(self, debate_id: str) -> Sequence[PostRow]:
        return await self._rows(_OF_DEBATE, debate_id=debate_id)

    async def _rows(self, query: Select[Any], **values: Any) -> Sequence[PostRow]:
        rows = await self.database.read(lambda c: c.execute(query, values).mappings().all())
        return [read_row(row) for row in rows]

    async def _scalar(self, query: Select[Any], **values: Any) -> Any:
        return await self.database.read(lambda c: c.execute(query, values).scalar())

    async def _change(self, change: ReturningUpdate[Any], **values: Any) -> PostRow | None:
        """Change one row, and return it."""
        row = await self.database.write(lambda c: c.execute(change, values).mappings().first())
        return None if row is None else read_row(row)

    async def _set(self, change: Update, **values: Any) -> None:
        await self.database.write(lambda c: c.execute(change, values))


# Statements are built once, because building them costs more than running them. Conditions of
# partial indexes are literal text, because only then do databases use the index.
_Q, _R = QUEUE.alias("q"), QUEUE.alias("r")
_Q_UNSENT = text("q.state IN ('waiting', 'sending')")
_Q_STALE = text("q.post IS NOT NULL AND q.state = 'sent' AND q.wanted_seq > q.shown_seq")
#: The message of a pin or a session has been sent.
_Q_ROOTED = text(
    "(q.method NOT IN ('pin', 'session') OR "
    "EXISTS (SELECT 1 FROM queue t WHERE t.key = q.thread_key AND t.ts IS NOT NULL))"
)
#: The time of the next edit. If nobody waits for it, it comes `rest` seconds after the last one.
_RESTED = _Q.c.shown_at + bindparam("rest", type_=Double)
_READY_AT = case((_Q.c.hurry, _Q.c.due), (_Q.c.due < _RESTED, _RESTED), else_=_Q.c.due)


def _is_unchanged(columns: ReadOnlyColumnCollection[str, Column[Any]]) -> ColumnElement[bool]:
    """Whether the row's channel has not come back since the row was read."""
    return (columns.id == bindparam("of_id")) & (columns.shown_at == bindparam("was_shown_at"))


def _lane_held(column: str) -> ColumnElement[bool]:
    return (
        select(LANES.c.lane)
        .where(LANES.c.lane == QUEUE.c[column], LANES.c.owner == bindparam("me", type_=Text))
        .where(LANES.c.until > NOW)
        .exists()
    )


_WITH_ROOT = select(
    *_Q.c,
    _R.c.ts.label("root_ts"),
    _R.c.state.label("root_state"),
    (_Q.c.due - NOW).label("due_in"),
    func.coalesce(NOW - _Q.c.attempted_at, -1.0).label("attempt_age"),
).select_from(_Q.outerjoin(_R, _R.c.key == _Q.c.thread_key))
_NEXT = (
    _WITH_ROOT.where(_Q.c.lane == bindparam("in_lane"), _Q_UNSENT)
    .where(
        text(
            "NOT EXISTS (SELECT 1 FROM queue e WHERE e.debate_id = q.debate_id AND "
            "e.lane = q.lane AND e.state IN ('waiting', 'sending') AND e.id < q.id)"
        )
    )
    .order_by(
        _Q.c.due > NOW,
        text("q.state <> 'sending'"),
        text(
            "NOT (q.urgent OR EXISTS (SELECT 1 FROM queue u WHERE u.debate_id = q.debate_id AND "
            "u.lane = q.lane AND u.state IN ('waiting', 'sending') AND u.urgent))"
        ),
        _Q.c.due,
        _Q.c.id,
    )
    .limit(1)
)
_SAME_ATTEMPT = (QUEUE.c.id == bindparam("of_id")) & (QUEUE.c.attempts == bindparam("tried"))
_CLAIM = (
    update(QUEUE)
    .where(_SAME_ATTEMPT, QUEUE.c.state == bindparam("was"), UNSENT, _lane_held("lane"))
    .values(
        state=PostState.SENDING,
        owner=bindparam("me", type_=Text),
        attempts=QUEUE.c.attempts + 1,
        # A search for a row in doubt begins at its first attempt.
        attempted_at=case((text("state = 'sending'"), QUEUE.c.attempted_at), else_=NOW),
        due=0.0,
    )
    .returning(*QUEUE.c)
)
_WAIT = bindparam("wait", type_=Double)
_SETTLE = (
    update(QUEUE)
    .where(_SAME_ATTEMPT, text("state = 'sending'"), QUEUE.c.owner == bindparam("me", type_=Text))
    .values(
        state=bindparam("to"),
        ts=func.coalesce(bindparam("new_ts", type_=Text), QUEUE.c.ts),
        error=bindparam("why", type_=Text),
        due=case((_WAIT > 0, NOW + _WAIT), else_=0.0),
        shown_seq=bindparam("seq"),
        shown_hash=bindparam("hash", type_=Text),
        shown_at=NOW,
        payload=bindparam("left", type_=JSON),
    )
    .returning(*QUEUE.c)
)
_STALE_ROWS = (
    _WITH_ROOT.where(_Q.c.edit_lane == bindparam("in_lane"), _Q_STALE, _Q_ROOTED, _READY_AT <= NOW)
    .order_by(_Q.c.hurry.desc(), _Q.c.shown_at, _Q.c.id)
    .limit(_MOST_STALE)
)
_EDIT_DUE = select(func.min(_READY_AT) - NOW).where(
    _Q.c.edit_lane == bindparam("in_lane"), _Q_STALE, _Q_ROOTED
)
_NOTE_SHOWN = (
    update(QUEUE)
    .where(QUEUE.c.id == bindparam("of_id"), QUEUE.c.shown_seq == bindparam("was_seq"))
    .where(text("state = 'sent'"), _lane_held("edit_lane"))
    .values(
        shown_seq=bindparam("seq"),
        shown_hash=bindparam("hash", type_=Text),
        shown_at=NOW,
        hurry=QUEUE.c.hurry & (QUEUE.c.wanted_seq > bindparam("seq")),
        error=bindparam("why", type_=Text),
        due=0.0,
    )
    .returning(*QUEUE.c)
)
_NOTE_SAME = (
    update(QUEUE)
    .where(QUEUE.c.id == bindparam("of_id"), QUEUE.c.shown_hash.is_not(None))
    .where(_lane_held("edit_lane"))
    .values(
        shown_seq=bindparam("seq"), hurry=QUEUE.c.hurry & (QUEUE.c.wanted_seq > bindparam("seq"))
    )
    .returning(QUEUE.c.id)
)
_WITH_KEY = QUEUE.c.key == bindparam("with_key")
_DISTRUST = update(QUEUE).where(_WITH_KEY).values(shown_seq=UNKNOWN, shown_hash=None)
_PUT_OFF = update(QUEUE).where(QUEUE.c.id == bindparam("of_id")).values(due=NOW + _WAIT)
_FAIL = (
    update(QUEUE)
    .where(_is_unchanged(QUEUE.c), text("state <> 'gone'"))
    .values(state=PostState.FAILED, error=bindparam("why", type_=Text), payload={})
)
_IS_LIVE = "(state IN ('waiting', 'sending') OR (state = 'sent' AND post IS NOT NULL))"
_LOSE_PLACE = (
    update(QUEUE)
    .where(QUEUE.c.debate_id == bindparam("of_debate"), QUEUE.c.channel == bindparam("in_channel"))
    .where(text(_IS_LIVE), select(_Q.c.id).where(_is_unchanged(_Q.c)).exists())
    .values(
        # Unsent posts fail, as they cannot be edited when the channel comes back.
        state=case(
            ((QUEUE.c.ts.is_(None)) & QUEUE.c.method.not_in(STATES), PostState.FAILED.value),
            else_=PostState.GONE.value,
        ),
        error=bindparam("why", type_=Text),
        payload={},
    )
)
_FIND_PLACE = (
    update(QUEUE)
    .where(QUEUE.c.workspace == bindparam("in_workspace"))
    .where(QUEUE.c.channel == bindparam("in_channel"), text("state = 'gone'"))
    .values(
        state=PostState.SENT,
        shown_seq=UNKNOWN,
        shown_hash=None,
        shown_at=NOW,
        hurry=true(),
        due=0.0,
        error=None,
    )
    .returning(QUEUE.c.edit_lane)
)
_OUTDATE_REFUSALS = (
    update(QUEUE)
    .where(QUEUE.c.workspace == bindparam("in_workspace"))
    .where(QUEUE.c.channel == bindparam("in_channel"), text(_IS_LIVE))
    .values(shown_at=NOW)
)
_WANT = (
    update(QUEUE)
    .where(QUEUE.c.debate_id == bindparam("of_debate"), QUEUE.c.post.is_not(None))
    .where(QUEUE.c.wanted_seq < bindparam("seq"))
    .values(
        wanted_seq=bindparam("seq"),
        hurry=or_(QUEUE.c.hurry, QUEUE.c.post.in_(bindparam("hurried", expanding=True))),
    )
    .returning(QUEUE.c.edit_lane)
)
#: Without pins and sessions, which have no first call even if a damaged file says otherwise.
_UNSENT_LANES = select(_Q.c.lane).where(_Q_UNSENT, _Q.c.method.not_in(STATES))
_STALE_LANES = select(_Q.c.edit_lane).where(_Q_STALE, _Q_ROOTED)
_BUSY = union(_UNSENT_LANES.where(_Q.c.method != LANDING), _STALE_LANES)
_BUSY_LANES = union(_UNSENT_LANES, _STALE_LANES).subquery("busy")
_BUSY_FOR = (
    select(_BUSY_LANES.c.lane)
    .outerjoin(LANES, LANES.c.lane == _BUSY_LANES.c.lane)
    .where(
        or_(
            LANES.c.owner.is_(None),
            LANES.c.owner == bindparam("me", type_=Text),
            LANES.c.until < NOW,
        )
    )
)
_BACKLOG = select(func.count()).select_from(QUEUE).where(UNSENT, QUEUE.c.method != LANDING)
_BY_KEYS = select(QUEUE).where(QUEUE.c.key.in_(bindparam("with_keys", expanding=True)))
_OF_DEBATE = select(QUEUE).where(QUEUE.c.debate_id == bindparam("debate_id")).order_by(QUEUE.c.id)
_HERE = (QUEUE.c.workspace == bindparam("workspace")) & (QUEUE.c.channel == bindparam("channel"))
_POSTED = select(QUEUE.c.debate_id).where(_HERE, QUEUE.c.ts == bindparam("ts")).limit(1)
_UNDER_WAY = (
    select(QUEUE.c.id).where(_HERE, text("state = 'sending'"), QUEUE.c.post == "board").limit(1)
)


def fresh(post: NewPost, progress: DebateProgress | None) -> dict[str, Any]:
    is_state = post.method in STATES
    values = {field.name: getattr(post, field.name) for field in fields(NewPost)}
    return {
        **values,
        "payload": without_secrets(post.payload),
        "post": post.post or None,
        "lane": post.lane,
        "edit_lane": post.edit_lane,
        "state": PostState.SENT if is_state else PostState.WAITING,
        "wanted_seq": progress.seq if progress else post.wanted_seq,
        "shown_seq": UNKNOWN if is_state else 0,
    }


_KNOWN = {field.name for field in fields(PostRow)}


def read_row(row: RowMapping) -> PostRow:
    values: dict[str, Any] = {name: row[name] for name in row if name in _KNOWN}
    values["state"] = PostState(row["state"])
    if root := values.get("root_state"):
        values["root_state"] = PostState(root)
    values["post"] = row["post"] or ""
    return PostRow(**values)
