"""Drop the table of canvases that listed channels' decisions."""

from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Drop the table."""
    op.drop_table("registers")
