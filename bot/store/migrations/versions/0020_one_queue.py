"""Migrate databases of all earlier versions: posts and landings become one queue.

This first step replaces nineteen earlier ones, and accepts a database after any of them. A later
step that changes one of these tables has to copy the old definition into this file.

Keys stay. A post that was being sent stays *sending*, so the queue searches for it. Edits have no
rows any more: their messages are living posts, which are rendered again in running debates, and if
an edit was still to be sent. Other messages of ended debates count as up to date, so that not every
old debate is edited once. A landing that was being sent is sent again with the same id; a waiting
one is sent at once.
"""

import re
from collections.abc import Mapping
from datetime import UTC
from typing import Any

import sqlalchemy as sa
from alembic import op

from bot.store.tables import METADATA, QUEUE, WORD_ROWS

revision = "0020"
down_revision = None

#: Keys of living posts.
_LIVING = {
    "board": r"[^/]+/board",
    "card": r".*/card",
    "vote": r"[^/]+/vote(/\d+)?",
    "headline": r"[^/]+/headline(/\d+)?",
    "outcome": r"[^/]+/outcome/.*(?<!/refused)",
}
_LANES = {"ephemeral": "whisper", "react": "react", "pin": "pin", "unpin": "pin", "session": "edit"}
#: Methods of living posts that are not messages.
_STATES = frozenset({"pin", "unpin", "session"})
_UNKNOWN = -1

#: Earlier states of landings, which had their own table, and the new ones.
_LANDED = {"waiting": "waiting", "sending": "sending", "landed": "sent"}
#: Tables to drop: migrated, or unused (refused blocks and canvases).
_DROPPED = frozenset(
    {
        *("posts", "channel_holders", "landings", "closed_receivers"),
        *("newer_blocks_refused", "refused_folds", "refused_features", "registers"),
    }
)


def upgrade() -> None:
    """Create the missing tables, migrate the rows, and drop the earlier tables."""
    connection = op.get_bind()
    tables = set(sa.inspect(connection).get_table_names())
    METADATA.create_all(connection)
    for index in sorted(QUEUE.indexes, key=lambda index: str(index.name)):
        index.create(connection, checkfirst=True)
    if connection.dialect.name == "sqlite" and WORD_ROWS.name not in tables:
        op.execute(
            "INSERT INTO debate_words_rows "
            "SELECT debate_id, max(rowid) FROM debate_words GROUP BY debate_id"
        )
        # There should be none; what has no note could never be removed.
        op.execute(
            "DELETE FROM debate_words WHERE rowid NOT IN (SELECT row FROM debate_words_rows)"
        )
    if "posts" in tables:
        _take_posts(connection)
    if "landings" in tables:
        _take_landings(connection)
    for earlier in sorted(tables & _DROPPED):
        op.drop_table(earlier)


def _take_posts(connection: sa.Connection) -> None:
    posts = sa.Table("posts", sa.MetaData(), autoload_with=connection)
    rows = [
        {"urgent": False, **row}
        for row in connection.execute(sa.select(posts).order_by(posts.c.id)).mappings()
    ]
    heads, running = _debates(connection)
    keys = {row["key"] for row in rows if row["method"] == "post"}
    for row in _moved(rows, heads, running):
        # Skip pins and sessions whose board was never posted.
        if row["method"] not in {"pin", "session"} or row["thread_key"] in keys:
            connection.execute(QUEUE.insert(), row)


def _take_landings(connection: sa.Connection) -> None:
    """Migrate landings. The first unsent one of a closed receiver closes its lane."""
    landings, closed = (
        sa.Table(name, sa.MetaData(), autoload_with=connection)
        for name in ("landings", "closed_receivers")
    )
    reasons = {row.receiver: row.why for row in connection.execute(sa.select(closed))}
    names = ("receiver", "debate_id", "seq", "state", "failures", "error", "place")
    rows = sa.select(*(landings.c[name] for name in names)).order_by(landings.c.id)
    for row in connection.execute(rows).mappings().all():
        state = _LANDED.get(row["state"], "failed")
        why = reasons.pop(row["receiver"], None) if state in {"waiting", "sending"} else None
        values: dict[str, Any] = {
            "key": f"{row['debate_id']}/e{row['seq']}/landing/{row['receiver']}",
            "method": "landing",
            "lane": f"landing/{row['receiver']}",
            "workspace": "",
            "channel": row["receiver"],
            "debate_id": row["debate_id"],
            "payload": {},
            "state": "gone" if why else state,
            "attempts": row["failures"],
            "ts": row["place"],
            "error": why or row["error"],
            "wanted_seq": row["seq"],
        }
        connection.execute(QUEUE.insert(), values)


def _debates(connection: sa.Connection) -> tuple[Mapping[str, int], frozenset[str]]:
    """The number of each debate's newest event, and the ids of running debates."""
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
    """The new rows of the queue, in order."""
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
    """The row of a message, with its payload if it is still to be sent."""
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
    """The living row of a pin or session; up to date if everything was sent."""
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
    """The unchanged columns, which every row has."""
    names = ("key", "method", "workspace", "channel", "debate_id", "thread_key", "urgent")
    at, workspace = row["attempted_at"], row["workspace"]
    kind = _LANES.get(row["method"])
    return {
        **{name: row[name] for name in (*names, "state", "attempts", "ts", "error")},
        "lane": f"{kind}/{workspace}" if kind else f"post/{workspace}/{row['channel']}",
        "owner": row["life"],
        # SQLite forgets the zone, which is UTC.
        "attempted_at": (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() if at else None,
        "due": 0.0,
        "post": None,
        "edit_lane": None,
        "shown_seq": 0,
    }


def _living(row: Mapping[str, Any]) -> str | None:
    """The name of the living post, if the row is one."""
    if row["method"] != "post" or not row["debate_id"]:
        return None
    names = (name for name, pattern in _LIVING.items() if re.fullmatch(pattern, row["key"]))
    return next(names, None)


def _is_unsent(row: Mapping[str, Any]) -> bool:
    return row["state"] in {"waiting", "sending"}
