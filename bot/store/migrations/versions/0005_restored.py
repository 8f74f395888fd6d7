"""Create the table of debates that a backup brought back in their midst."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table."""
    op.create_table("restored", sa.Column("debate_id", sa.Text, primary_key=True))
