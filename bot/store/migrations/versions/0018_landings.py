"""Make lanes of the one queue of the landings, which had a queue of their own.

What was being sent stays *sending* and is sent again, with the same id; what waited is sent at
once. The first unsent landing of
a receiver that wanted nothing more is *gone*: that closes its lane.
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_STATES = {"waiting": "waiting", "sending": "sending", "landed": "sent"}


def upgrade() -> None:
    """Take over what is known, and drop the earlier tables, which the oldest databases lack."""
    connection = op.get_bind()
    condition = sa.text("method = 'landing'")
    op.create_index(
        "queue_landings",
        "queue",
        ["lane", "id"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
    if not sa.inspect(connection).has_table("landings"):
        return
    queue, landings, closed = (
        sa.Table(name, sa.MetaData(), autoload_with=connection)
        for name in ("queue", "landings", "closed_receivers")
    )
    reasons = {row.receiver: row.why for row in connection.execute(sa.select(closed))}
    names = ("receiver", "debate_id", "seq", "state", "failures", "error", "place")
    rows = sa.select(*(landings.c[name] for name in names)).order_by(landings.c.id)
    for row in connection.execute(rows).mappings().all():
        state = _STATES.get(row["state"], "failed")
        why = reasons.pop(row["receiver"], None) if state in {"waiting", "sending"} else None
        connection.execute(
            queue.insert(),
            {
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
            },
        )
    for table in ("landings", "closed_receivers"):
        op.drop_table(table)
