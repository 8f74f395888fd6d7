"""Bring the tables of every version before to one state: what is not there is made.

This is the first step, and takes the place of the fifteen before it: of any database that took
some of them. A later step that changes one of these tables writes here what it was.
"""

import sqlalchemy as sa
from alembic import op

from bot.store.tables import (
    CHANNEL_SETTINGS,
    DELIVERIES,
    ORGANISATIONS,
    PAGE_GRANTS,
    PERSONAL_TOKENS,
    REMINDERS,
    RESTORED,
    ROWS_ON_SQLITE,
    SEARCH_ON_POSTGRESQL,
    WORDS_ON_POSTGRESQL,
    WORDS_ON_SQLITE,
)

revision = "0016"
down_revision = None

_UNCHANGED = (
    *(DELIVERIES, CHANNEL_SETTINGS, REMINDERS, ORGANISATIONS, RESTORED, PAGE_GRANTS),
    PERSONAL_TOKENS,
)
#: Which workspaces refused blocks, and canvases: nobody keeps that any more.
_DROPPED = {"refused_folds", "refused_features", "registers"}
_POSTS = (
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("key", "workspace", "channel")),
    *(sa.Column(name, sa.Text) for name in ("debate_id", "thread_key")),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("payload", sa.JSON, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("life", sa.Text),
    sa.Column("attempted_at", sa.DateTime(timezone=True)),
    sa.Column("attempts", sa.Integer, nullable=False),
    *(sa.Column(name, sa.Text) for name in ("ts", "error")),
)


def upgrade() -> None:
    """Make what is not there, take over what is known, and drop what is not used any more."""
    connection = op.get_bind()
    is_sqlite = connection.dialect.name == "sqlite"
    tables = set(sa.inspect(connection).get_table_names())
    for table in _UNCHANGED:
        table.create(connection, checkfirst=True)
    if "posts" not in tables:
        op.create_table("posts", *_POSTS)
    if "urgent" not in {column["name"] for column in sa.inspect(connection).get_columns("posts")}:
        op.add_column("posts", sa.Column("urgent", sa.Boolean, server_default=sa.false()))
    if "debate_words" not in tables:
        for statement in (
            (WORDS_ON_SQLITE,) if is_sqlite else (WORDS_ON_POSTGRESQL, SEARCH_ON_POSTGRESQL)
        ):
            op.execute(statement)
    if is_sqlite and "debate_words_rows" not in tables:
        op.execute(ROWS_ON_SQLITE)
        op.execute(
            "INSERT INTO debate_words_rows "
            "SELECT debate_id, max(rowid) FROM debate_words GROUP BY debate_id"
        )
        # There should be none; what has no note could never be removed.
        op.execute(
            "DELETE FROM debate_words WHERE rowid NOT IN (SELECT row FROM debate_words_rows)"
        )
    for earlier in tables.intersection(_DROPPED):
        op.drop_table(earlier)
