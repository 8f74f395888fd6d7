"""Let queues read an index of what is unsent alone, not of every post there ever was."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_UNSENT = sa.text("state IN ('waiting', 'sending')")


def upgrade() -> None:
    """Replace the index."""
    op.drop_index("posts_queue", "posts")
    op.create_index(
        "posts_unsent",
        "posts",
        ["workspace", "channel", "id"],
        sqlite_where=_UNSENT,
        postgresql_where=_UNSENT,
    )
