"""Drop the table of workspaces that refused newer blocks: each process finds it out once."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Drop it where it is: later databases never had it."""
    if sa.inspect(op.get_bind()).has_table("newer_blocks_refused"):
        op.drop_table("newer_blocks_refused")
