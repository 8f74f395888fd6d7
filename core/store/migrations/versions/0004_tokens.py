"""Keep with which token a program asked for a debate, and what was spent with it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns; people asked for all that is there themselves."""
    op.add_column("debates", sa.Column("token_id", sa.Text))
    op.add_column("spending", sa.Column("token_id", sa.Text))
