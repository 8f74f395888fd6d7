"""Create posts, deliveries and channel settings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    _create_posts()
    op.create_table(
        "deliveries",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("deliveries_at", "deliveries", ["at"])
    op.create_table(
        "channel_settings",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("settings", sa.JSON, nullable=False),
    )


def _create_posts() -> None:
    """Create the outbox's table."""
    op.create_table(
        "posts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("debate_id", sa.Text),
        sa.Column("thread_key", sa.Text),
        sa.Column("method", sa.Text, nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("sending_version", sa.Integer),
        sa.Column("life", sa.Text),
        sa.Column("attempted_at", sa.DateTime(timezone=True)),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True)),
        sa.Column("ts", sa.Text),
        sa.Column("error", sa.Text),
        sa.UniqueConstraint("key", name="posts_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("posts_queue", "posts", ["workspace", "channel", "state", "id"])
    op.create_index("posts_thread", "posts", ["workspace", "channel", "ts"])
    op.create_index("posts_debate", "posts", ["debate_id", "id"])
