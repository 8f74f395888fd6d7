"""Bring the tables of every version before to one state.

This is the first step, and takes the place of the three before it. A later step that changes one of
these tables writes here what it was.
"""

import sqlalchemy as sa
from alembic import op

from core.store.tables import METADATA

revision = "0004"
down_revision = None


def upgrade() -> None:
    """Make what is not there; of the debates that are, people asked for all themselves."""
    connection = op.get_bind()
    METADATA.create_all(connection)
    for table in ("debates", "spending"):
        columns = sa.inspect(connection).get_columns(table)
        if "token_id" not in {column["name"] for column in columns}:
            op.add_column(table, sa.Column("token_id", sa.Text))
