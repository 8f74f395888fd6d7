"""Create what debates have cost, and what belongs to the installation."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "spending",
        sa.Column(
            "debate_id",
            sa.Text,
            sa.ForeignKey("debates.id", name="spending_debate"),
            primary_key=True,
        ),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("nanodollars", sa.BigInteger, nullable=False),
    )
    op.create_index("spending_day", "spending", ["workspace", "day", "person"])
    op.create_table(
        "installation",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
    )
