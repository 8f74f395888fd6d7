"""Column types and statements that mean the same on both databases."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, DateTime, Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeDecorator


class Moment(TypeDecorator[datetime]):
    """A point in time. SQLite forgets the zone, so it is UTC on the way in and on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base class has it
    ) -> datetime | None:
        """To the database."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base class has it
    ) -> datetime | None:
        """From the database."""
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Insert the row unless a unique value of it is there already; whether it was inserted.

    Waits for another transaction that is inserting the same.
    """
    maker = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    statement = maker(table).values(**values).on_conflict_do_nothing()
    # Not `rowcount`: psycopg's is unknown for inserts.
    return connection.execute(statement.returning(*table.primary_key)).first() is not None
