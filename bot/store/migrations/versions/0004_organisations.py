"""Create the table of workspaces that belong to an organisation (Enterprise Grid)."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "organisations",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("enterprise", sa.Text, nullable=False),
    )
