"""Note which posts overtake others: boards of new debates, cards, words to a person."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; what waits already keeps its place."""
    op.add_column(
        "posts", sa.Column("urgent", sa.Boolean, nullable=False, server_default=sa.false())
    )
