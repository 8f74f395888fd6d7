"""Create debates and their events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "debates",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("asked_by", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("run_number", sa.Integer, nullable=False),
        sa.Column("published_seq", sa.Integer, nullable=False),
        sa.UniqueConstraint("origin", name="debates_origin"),
    )
    op.create_index("debates_place", "debates", ["workspace", "channel", "started_at"])
    op.create_index("debates_status", "debates", ["status"])
    op.create_table(
        "events",
        sa.Column(
            "debate_id",
            sa.Text,
            sa.ForeignKey("debates.id", name="events_debate"),
            primary_key=True,
        ),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.UniqueConstraint("debate_id", "key", name="events_key"),
    )
