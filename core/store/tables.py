"""The tables of debates; column types and statements that work alike on both databases."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Date,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.types import TypeDecorator

from core.store.database import Database
from core.store.migrate import check_tables, migrate

#: Replaces an invalid time in a damaged database file, so that the other rows can still be read.
UNREADABLE = datetime(1970, 1, 1, tzinfo=UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time, stored and returned in UTC because SQLite drops the time zone.

    An invalid value, which SQLite cannot prevent, is returned as `UNREADABLE`.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base class has it
    ) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base class has it
    ) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # its type is private
        parse = super().result_processor(dialect, coltype)

        def moment(value: Any) -> datetime | None:
            try:
                return parse(value) if parse else None
            except (ValueError, TypeError):
                return UNREADABLE

        return moment if parse else None


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Insert the row unless it violates a unique constraint. Return whether it was inserted.

    Waits for another transaction that inserts the same unique value.
    """
    return (
        connection.execute(_insertion(table, connection.dialect.name), values).first() is not None
    )


@cache
def _insertion(table: Table, dialect: str) -> ReturningInsert[Any]:
    """The cached statement. It returns keys because psycopg has no `rowcount` for inserts."""
    maker = sqlite.insert
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - most installations use SQLite

        maker = postgresql.insert
    return maker(table).on_conflict_do_nothing().returning(*table.primary_key)


METADATA: Final = MetaData()

#: Facts about each debate that are needed without its log; updated in the same transactions.
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
    #: Id of the API token that started the debate; NULL if a person did.
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

#: The cost of each event, for caps over several debates; inserted with the event.
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

#: Money reserved under caps that several processes share: one row per attempt and cap.
RESERVATIONS: Final = Table(
    "reservations",
    METADATA,
    Column("id", Text, primary_key=True),
    #: The key of the cap.
    Column("cap", Text, primary_key=True),
    #: Not a foreign key: reservations expire by themselves and are looked up by their cap.
    Column("debate_id", Text, nullable=False),
    Column("turn", Text, nullable=False),
    Column("nanodollars", BigInteger, nullable=False),
    #: Whether the attempt has ended, so that the amount is its actual cost.
    Column("settled", Boolean, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Index("reservations_cap", "cap"),
    Index("reservations_turn", "debate_id", "turn"),
)

#: Values of the whole installation, such as its secret.
INSTALLATION: Final = Table(
    "installation",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("content", Text, nullable=False),
)

MIGRATIONS: Final = Path(__file__).parent / "migrations"
VERSION_TABLE: Final = "moot_core_version"


async def prepare(database: Database) -> None:
    """Create the tables, or migrate older ones."""
    await migrate(database, METADATA, MIGRATIONS, VERSION_TABLE)


async def check(database: Database) -> None:
    """Check that this version of Moot can read the tables. Changes nothing. See `check_tables`."""
    await check_tables(database, MIGRATIONS, VERSION_TABLE)
