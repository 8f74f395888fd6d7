"""Note of each workspace whether it refused newer blocks, and no more which of them."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Create the table, take over what is known, and drop the earlier table."""
    op.create_table(
        "newer_blocks_refused",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.execute(
        "INSERT INTO newer_blocks_refused (workspace, at) "
        "SELECT workspace, MAX(at) FROM refused_features "
        "WHERE feature IN ('container', 'plan', 'data_visualization') GROUP BY workspace"
    )
    op.drop_table("refused_features")
