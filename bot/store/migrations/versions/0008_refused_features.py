"""Note of each newer feature of Slack which workspaces refuse it, not only of blocks that open."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table and take over what is known of blocks that open."""
    op.create_table(
        "refused_features",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("feature", sa.Text, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.execute(
        "INSERT INTO refused_features (workspace, feature, at) "
        "SELECT workspace, 'container', at FROM refused_folds"
    )
    op.drop_table("refused_folds")
