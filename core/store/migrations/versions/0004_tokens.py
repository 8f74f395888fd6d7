"""Migrate the tables of all earlier versions to the same state.

This is the first migration and replaces the three before it. A later migration that changes one of
these tables must copy its old definition into this file.
"""

import sqlalchemy as sa
from alembic import op

from core.store.tables import METADATA

revision = "0004"
down_revision = None


def upgrade() -> None:
    """Create missing tables and columns. All existing debates were started by people."""
    connection = op.get_bind()
    METADATA.create_all(connection)
    for table in ("debates", "spending"):
        columns = sa.inspect(connection).get_columns(table)
        if "token_id" not in {column["name"] for column in columns}:
            op.add_column(table, sa.Column("token_id", sa.Text))
