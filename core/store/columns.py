"""Column types and statements that mean the same on both databases."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, DateTime, Dialect, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.dml import ReturningInsert
from sqlalchemy.types import TypeDecorator

#: Read where a database file is damaged: one row must not keep all others from being listed.
UNREADABLE = datetime(1970, 1, 1, tzinfo=UTC)


class UtcDateTime(TypeDecorator[datetime]):
    """A point in time. SQLite forgets the zone, so it is UTC on the way in and on the way out.

    What is none, which SQLite cannot prevent, is read as `UNREADABLE`.
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
        read = super().result_processor(dialect, coltype)

        def moment(value: Any) -> datetime | None:
            try:
                return read(value) if read else None
            except (ValueError, TypeError):
                return UNREADABLE

        return moment if read else None


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> bool:
    """Insert the row unless a unique value of it is there already; whether it was inserted.

    Waits for another transaction that is inserting the same.
    """
    return (
        connection.execute(_insertion(table, connection.dialect.name), values).first() is not None
    )


@cache
def _insertion(table: Table, dialect: str) -> ReturningInsert[Any]:
    """The statement, made once; it returns keys, as psycopg knows no `rowcount` of inserts."""
    maker = sqlite.insert
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - most have SQLite

        maker = postgresql.insert
    return maker(table).on_conflict_do_nothing().returning(*table.primary_key)
