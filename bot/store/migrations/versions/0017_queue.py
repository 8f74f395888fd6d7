"""Make one queue with lanes of the posts, in which living posts hold no payload.

Keys stay. A post that was being sent stays *sending*: it is looked for. No edit has a row any more:
its message is living, and is rendered anew. That is so for debates that run, and for messages with
an edit that was still to be sent; messages of ended debates are taken for what they should be, or
every debate ever held would be edited once.
"""

import re
from collections.abc import Mapping
from datetime import UTC
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_UNSENT = "state IN ('waiting', 'sending')"
_STALE = "post IS NOT NULL AND state = 'sent' AND wanted_seq > shown_seq"
#: Keys of living posts.
_LIVING = {
    "board": r"[^/]+/board",
    "card": r".*/card",
    "vote": r"[^/]+/vote(/\d+)?",
    "headline": r"[^/]+/headline(/\d+)?",
    "outcome": r"[^/]+/outcome/.*(?<!/refused)",
}
_LANES = {"ephemeral": "whisper", "react": "react", "pin": "pin", "session": "edit"}
#: Methods that set a state.
_STATES = frozenset({"pin", "unpin", "session"})
_UNKNOWN = -1

_QUEUE = (
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("lane", sa.Text, nullable=False),
    sa.Column("workspace", sa.Text, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("debate_id", sa.Text),
    sa.Column("thread_key", sa.Text),
    sa.Column("payload", sa.JSON, nullable=False),
    sa.Column("urgent", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("owner", sa.Text),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("attempted_at", sa.Double),
    sa.Column("due", sa.Double, nullable=False, server_default="0"),
    sa.Column("ts", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("post", sa.Text),
    sa.Column("edit_lane", sa.Text),
    sa.Column("wanted_seq", sa.Integer, nullable=False, server_default="0"),
    sa.Column("shown_seq", sa.Integer, nullable=False, server_default="0"),
    sa.Column("shown_hash", sa.Text),
    sa.Column("shown_at", sa.Double, nullable=False, server_default="0"),
    sa.Column("hurry", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("key", name="queue_key"),
)


def upgrade() -> None:
    """Create the tables, take over what is known, and drop the earlier tables."""
    queue = op.create_table("queue", *_QUEUE, sqlite_autoincrement=True)
    op.create_table(
        "lanes",
        sa.Column("lane", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text),
        sa.Column("until", sa.Double, nullable=False),
    )
    for name, columns, where in (
        ("queue_unsent", ["lane", "id"], _UNSENT),
        ("queue_unsent_debate", ["debate_id", "lane", "id"], _UNSENT),
        ("queue_stale", ["edit_lane", "hurry", "shown_at"], _STALE),
    ):
        condition = sa.text(where)
        op.create_index(name, "queue", columns, sqlite_where=condition, postgresql_where=condition)
    op.create_index("queue_debate", "queue", ["debate_id", "id"])
    op.create_index("queue_thread", "queue", ["workspace", "channel", "ts"])
    connection = op.get_bind()
    posts = sa.Table("posts", sa.MetaData(), autoload_with=connection)
    rows = [
        dict(row) for row in connection.execute(sa.select(posts).order_by(posts.c.id)).mappings()
    ]
    heads, running = _debates(connection)
    keys = {row["key"] for row in rows if row["method"] == "post"}
    for row in _moved(rows, heads, running):
        # A pin or a session whose board was never posted is none.
        if row["method"] not in {"pin", "session"} or row["thread_key"] in keys:
            connection.execute(queue.insert(), row)
    op.drop_table("posts")
    op.drop_table("channel_holders", if_exists=True)


def _debates(connection: sa.Connection) -> tuple[Mapping[str, int], frozenset[str]]:
    """The number of each debate's newest event, and which debates run."""
    if not sa.inspect(connection).has_table("events"):
        return {}, frozenset()
    heads = connection.execute(
        sa.text("SELECT debate_id, max(seq) AS head FROM events GROUP BY debate_id")
    )
    # Also of those that ended, some posts may not show the end: nobody was told of it yet.
    running = connection.execute(
        sa.text(
            "SELECT id FROM debates WHERE status = 'running' OR published_seq < "
            "(SELECT max(seq) FROM events WHERE events.debate_id = debates.id)"
        )
    )
    return {row.debate_id: row.head for row in heads}, frozenset(running.scalars())


def _moved(
    rows: list[dict[str, Any]], heads: Mapping[str, int], running: frozenset[str]
) -> list[dict[str, Any]]:
    """The rows of the queue, in order."""
    edits = [row for row in rows if row["method"] == "update"]
    unsure = {row["payload"].get("target_key") for row in edits if _is_unsent(row)}
    messages = list[dict[str, Any]]()
    states = dict[str, dict[str, Any]]()
    for row in rows:
        head, runs = heads.get(row["debate_id"] or "", 0), row["debate_id"] in running
        if row["method"] in _STATES and row["debate_id"]:
            state = _state(row, head, runs=runs)
            if states.get(state["key"], {}).get("shown_seq") == _UNKNOWN:
                state["shown_seq"] = _UNKNOWN
            states[state["key"]] = state
        elif row["method"] not in _STATES | {"update"}:
            is_sure = not runs and row["key"] not in unsure
            messages.append(_message(row, head, is_sure=is_sure))
    return [*messages, *states.values()]


def _message(row: Mapping[str, Any], head: int, *, is_sure: bool) -> dict[str, Any]:
    """A row that keeps its key, with its payload where it has still to be sent."""
    values = {**_kept(row), "wanted_seq": head, "payload": row["payload"]}
    if not _is_unsent(row):
        values["payload"] = {}
    if name := _living(row):
        is_broadcast = _is_unsent(row) and row["payload"].get("reply_broadcast")
        seq = head if is_sure else _UNKNOWN
        values |= {
            "post": name,
            "edit_lane": f"edit/{row['workspace']}",
            "payload": {"reply_broadcast": True} if is_broadcast else {},
            "shown_seq": seq if row["state"] == "sent" else 0,
        }
    return values


def _state(row: Mapping[str, Any], head: int, *, runs: bool) -> dict[str, Any]:
    """The living row of a debate's pin or session; trusted where everything was sent."""
    name = "session" if row["method"] == "session" else "pin"
    values = _kept(row)
    return values | {
        "key": f"{row['debate_id']}/{'board/pin' if name == 'pin' else name}",
        "method": name,
        "post": name,
        "edit_lane": values["lane"],
        "thread_key": f"{row['debate_id']}/board",
        "state": "sent",
        "payload": {},
        "wanted_seq": head,
        "shown_seq": _UNKNOWN if runs or _is_unsent(row) else head,
    }


def _kept(row: Mapping[str, Any]) -> dict[str, Any]:
    """What stays as it is; every row has the same columns."""
    names = ("key", "method", "workspace", "channel", "debate_id", "thread_key", "urgent")
    at = row["attempted_at"]
    return {
        **{name: row[name] for name in (*names, "state", "attempts", "ts", "error")},
        "lane": _lane(row),
        "owner": row["life"],
        # SQLite forgets the zone, which is UTC.
        "attempted_at": (at.timestamp() if at.tzinfo else _utc(at)) if at else None,
        "due": 0.0,
        "post": None,
        "edit_lane": None,
        "shown_seq": 0,
    }


def _utc(at: Any) -> float:
    return at.replace(tzinfo=UTC).timestamp()


def _lane(row: Mapping[str, Any]) -> str:
    kind = _LANES.get("pin" if row["method"] == "unpin" else row["method"])
    workspace = row["workspace"]
    return f"{kind}/{workspace}" if kind else f"post/{workspace}/{row['channel']}"


def _living(row: Mapping[str, Any]) -> str | None:
    """Which living post it is."""
    if row["method"] != "post" or not row["debate_id"]:
        return None
    names = (name for name, pattern in _LIVING.items() if re.fullmatch(pattern, row["key"]))
    return next(names, None)


def _is_unsent(row: Mapping[str, Any]) -> bool:
    return row["state"] in {"waiting", "sending"}
