"""Run by Alembic for each migration of these tables."""

from bot.store.tables import METADATA
from core.store.migrate import run_environment

run_environment(METADATA)
