"""Note where the words of each debate stand: full-text tables of SQLite find rows by number."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Create the table, on SQLite, with what there is already."""
    if op.get_bind().dialect.name != "sqlite":
        return
    op.create_table(
        "debate_words_rows",
        sa.Column("debate_id", sa.Text, primary_key=True),
        sa.Column("row", sa.Integer, nullable=False),
    )
    op.execute(
        "INSERT INTO debate_words_rows "
        "SELECT debate_id, max(rowid) FROM debate_words GROUP BY debate_id"
    )
    # There should be none; what has no note could never be removed.
    op.execute("DELETE FROM debate_words WHERE rowid NOT IN (SELECT row FROM debate_words_rows)")
