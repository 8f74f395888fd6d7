"""Create the money reserved under caps that several processes share."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "reservations",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("cap", sa.Text, primary_key=True),
        sa.Column("debate_id", sa.Text, nullable=False),
        sa.Column("turn", sa.Text, nullable=False),
        sa.Column("nanodollars", sa.BigInteger, nullable=False),
        sa.Column("settled", sa.Boolean, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("reservations_cap", "reservations", ["cap"])
    op.create_index("reservations_turn", "reservations", ["debate_id", "turn"])
