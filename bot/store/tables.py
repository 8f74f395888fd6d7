"""The tables of the Slack side."""

from pathlib import Path
from typing import Final

from sqlalchemy import JSON, Column, Index, Integer, MetaData, String, Table, Text, UniqueConstraint

from core.store.columns import Moment
from core.store.database import Database
from core.store.migrate import migrate

METADATA: Final = MetaData()

POSTS: Final = Table(
    "posts",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", String(200), nullable=False),
    Column("workspace", String(40), nullable=False),
    Column("channel", String(40), nullable=False),
    Column("debate_id", String(40)),
    Column("thread_key", String(200)),
    Column("method", String(40), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("state", String(10), nullable=False),
    #: Counts the payloads this row has had; `sending_version` is the one being sent.
    Column("version", Integer, nullable=False),
    Column("sending_version", Integer),
    Column("life", String(40)),
    Column("attempted_at", Moment),
    Column("attempts", Integer, nullable=False),
    Column("not_before", Moment),
    Column("ts", String(40)),
    Column("error", Text),
    UniqueConstraint("key", name="posts_key"),
    Index("posts_queue", "workspace", "channel", "state", "id"),
    Index("posts_thread", "workspace", "channel", "ts"),
    Index("posts_debate", "debate_id", "id"),
    # Ids are never used again: they are the order.
    sqlite_autoincrement=True,
)

DELIVERIES: Final = Table(
    "deliveries",
    METADATA,
    Column("kind", String(20), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("at", Moment, nullable=False),
    Index("deliveries_at", "at"),
)

CHANNEL_SETTINGS: Final = Table(
    "channel_settings",
    METADATA,
    Column("workspace", String(40), primary_key=True),
    Column("channel", String(40), primary_key=True),
    Column("settings", JSON, nullable=False),
)

MIGRATIONS: Final = Path(__file__).parent / "migrations"
VERSION_TABLE: Final = "moot_bot_version"


async def prepare(database: Database) -> None:
    """Create the tables, or bring older ones up to date.

    Raises:
        StoreError: A newer version of the program made them.
        StoreDown: The database does not answer.
    """
    await migrate(database, MIGRATIONS, VERSION_TABLE)
