"""The tables debates are kept in."""

from pathlib import Path
from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from core.store.columns import UtcDateTime
from core.store.database import Database
from core.store.migrate import check_tables, migrate

METADATA: Final = MetaData()

#: What can be asked about a debate without reading its log; kept up in the same transactions.
DEBATES: Final = Table(
    "debates",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("origin", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("asked_by", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("ended_at", UtcDateTime),
    Column("status", Text, nullable=False),
    Column("run_number", Integer, nullable=False),
    Column("published_seq", Integer, nullable=False),
    #: Id of the token it was asked for with; none: people asked themselves.
    Column("token_id", Text),
    UniqueConstraint("origin", name="debates_origin"),
    Index("debates_place", "workspace", "channel", "started_at"),
    Index("debates_status", "status"),
)

EVENTS: Final = Table(
    "events",
    METADATA,
    Column("debate_id", Text, ForeignKey("debates.id", name="events_debate"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    #: JSON as `core.debate.log.event_to_json` writes it.
    Column("body", Text, nullable=False),
    UniqueConstraint("debate_id", "key", name="events_key"),
)

#: What each event has cost, for caps over several debates; written with the event.
SPENDING: Final = Table(
    "spending",
    METADATA,
    Column("debate_id", Text, ForeignKey("debates.id", name="spending_debate"), primary_key=True),
    Column("key", Text, primary_key=True),
    #: The day in UTC.
    Column("day", Date, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("person", Text, nullable=False),
    #: Whole billionths of a US dollar, so that sums are exact on every database.
    Column("nanodollars", BigInteger, nullable=False),
    Column("token_id", Text),
    Index("spending_day", "workspace", "day", "person"),
)

#: Money reserved under caps that several processes share: a row per attempt and cap.
RESERVATIONS: Final = Table(
    "reservations",
    METADATA,
    Column("id", Text, primary_key=True),
    #: The key of the cap.
    Column("cap", Text, primary_key=True),
    #: Not a foreign key: a reservation outlives nobody and is looked up by its cap.
    Column("debate_id", Text, nullable=False),
    Column("turn", Text, nullable=False),
    Column("nanodollars", BigInteger, nullable=False),
    #: Whether the attempt has ended, so that the amount is what it did cost.
    Column("settled", Boolean, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Index("reservations_cap", "cap"),
    Index("reservations_turn", "debate_id", "turn"),
)

#: What belongs to this installation as a whole.
INSTALLATION: Final = Table(
    "installation",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("content", Text, nullable=False),
)

MIGRATIONS: Final = Path(__file__).parent / "migrations"
VERSION_TABLE: Final = "moot_core_version"


async def prepare(database: Database) -> None:
    """Create the tables, or bring older ones up to date."""
    await migrate(database, METADATA, MIGRATIONS, VERSION_TABLE)


async def check(database: Database) -> None:
    """Make sure that the tables can be read as they are; change nothing. See `check_tables`."""
    await check_tables(database, MIGRATIONS, VERSION_TABLE)
