"""Run by Alembic for each migration of these tables."""

from core.store.migrate import run_environment
from core.store.tables import METADATA

run_environment(METADATA)
