"""What was judged again when an epoch was started or undone is kept beside each change of trust.

Revision ID: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("trust_events", sa.Column("detail", sa.JSON()))


def downgrade() -> None:
    raise NotImplementedError("driftgate upgrades databases only; restore a backup made before the upgrade")
