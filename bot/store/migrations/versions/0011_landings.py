"""Create the queues of what is sent to places outside Slack, and which of these want no more."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_UNSENT = sa.text("state IN ('waiting', 'sending')")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "landings",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("receiver", sa.Text, nullable=False),
        sa.Column("debate_id", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True)),
        sa.Column("error", sa.Text),
        sa.Column("place", sa.Text),
        sa.UniqueConstraint("debate_id", "seq", "receiver", name="landings_key"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "landings_unsent",
        "landings",
        ["receiver", "id"],
        sqlite_where=_UNSENT,
        postgresql_where=_UNSENT,
    )
    op.create_table(
        "closed_receivers",
        sa.Column("receiver", sa.Text, primary_key=True),
        sa.Column("why", sa.Text, nullable=False),
    )
