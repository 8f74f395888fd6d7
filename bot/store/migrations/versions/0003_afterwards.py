"""Create the dates to look at decisions again, and the words debates are found by.

The words are a full-text table on SQLite (FTS5) and a table with a text-search index on PostgreSQL.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "reminders",
        sa.Column("debate_id", sa.Text, primary_key=True),
        sa.Column("decision", sa.Text, primary_key=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("reminders_due", "reminders", ["due_at"])
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE debate_words USING fts5("
            "debate_id UNINDEXED, workspace UNINDEXED, channel UNINDEXED, words, "
            "tokenize = 'unicode61 remove_diacritics 2')"
        )
        return
    op.create_table(
        "debate_words",
        sa.Column("debate_id", sa.Text, primary_key=True),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
    )
    op.execute(
        "CREATE INDEX debate_words_search ON debate_words USING gin (to_tsvector('simple', words))"
    )
