"""Create the table that says which process sends a channel's posts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "channel_holders",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("life", sa.Text, nullable=False),
    )
