"""The bot's tables."""

from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import (
    DDL,
    JSON,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    false,
    literal_column,
    text,
)

from core.store.database import Database
from core.store.migrate import migrate
from core.store.tables import UtcDateTime

METADATA: Final = MetaData()

#: Rows that the queue still has to send. Written with literals, not parameters, because only then
#: do databases use the partial index with this condition.
UNSENT: Final = literal_column("state").in_(
    [literal_column("'waiting'"), literal_column("'sending'")]
)
#: Living posts in Slack that do not show the newest state.
STALE: Final = text("post IS NOT NULL AND state = 'sent' AND wanted_seq > shown_seq")

#: Rows for receivers outside Slack.
IS_LANDING: Final = literal_column("method") == literal_column("'landing'")

#: All outgoing posts and landings, with their state. Times are seconds since 1970 by the
#: database's clock.
QUEUE: Final = Table(
    "queue",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False),
    Column("method", Text, nullable=False),
    #: The unit of Slack's rate limits, or a receiver. Rows of a lane are sent one after the other.
    Column("lane", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("debate_id", Text),
    Column("thread_key", Text),
    #: Empty after the row is sent or given up.
    Column("payload", JSON, nullable=False),
    Column("urgent", Boolean, nullable=False, server_default=false()),
    Column("state", Text, nullable=False),
    #: The process that began the last attempt, and the number of attempts.
    Column("owner", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("attempted_at", Double),
    #: The earliest time of the next attempt.
    Column("due", Double, nullable=False, server_default="0"),
    Column("ts", Text),
    Column("error", Text),
    #: The name of a living post; NULL: the content is fixed.
    Column("post", Text),
    Column("edit_lane", Text),
    #: For a living post, the number of the event that it has to show, and of the event that it
    #: shows; -1: unknown.
    Column("wanted_seq", Integer, nullable=False, server_default="0"),
    Column("shown_seq", Integer, nullable=False, server_default="0"),
    Column("shown_hash", Text),
    Column("shown_at", Double, nullable=False, server_default="0"),
    #: Whether a person waits for its edit.
    Column("hurry", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("key", name="queue_key"),
    Index("queue_unsent", "lane", "id", sqlite_where=UNSENT, postgresql_where=UNSENT),
    Index(
        "queue_unsent_debate",
        "debate_id",
        "lane",
        "id",
        sqlite_where=UNSENT,
        postgresql_where=UNSENT,
    ),
    Index(
        "queue_stale", "edit_lane", "hurry", "shown_at", sqlite_where=STALE, postgresql_where=STALE
    ),
    Index("queue_landings", "lane", "id", sqlite_where=IS_LANDING, postgresql_where=IS_LANDING),
    Index("queue_debate", "debate_id", "id"),
    Index("queue_thread", "workspace", "channel", "ts"),
    # Ids are the order, so they must never be used again.
    sqlite_autoincrement=True,
)

#: The process that serves a lane, and the end of its lease.
LANES: Final = Table(
    "lanes",
    METADATA,
    Column("lane", Text, primary_key=True),
    Column("owner", Text),
    Column("until", Double, nullable=False),
)

DELIVERIES: Final = Table(
    "deliveries",
    METADATA,
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Index("deliveries_at", "at"),
)

CHANNEL_SETTINGS: Final = Table(
    "channel_settings",
    METADATA,
    Column("workspace", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("settings", JSON, nullable=False),
)

#: Dates on which people want to revisit a decision. A row is deleted after the reminder.
REMINDERS: Final = Table(
    "reminders",
    METADATA,
    Column("debate_id", Text, primary_key=True),
    #: The decision's origin.
    Column("decision", Text, primary_key=True),
    Column("due_at", UtcDateTime, nullable=False),
    Index("reminders_due", "due_at"),
)

#: The organisation (Enterprise Grid) of a workspace; no row: it belongs to none.
ORGANISATIONS: Final = Table(
    "organisations",
    METADATA,
    Column("workspace", Text, primary_key=True),
    Column("enterprise", Text, nullable=False),
)

#: Debates with pages. A link works only while the grant that it names exists.
PAGE_GRANTS: Final = Table(
    "page_grants",
    METADATA,
    Column("debate_id", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    #: Random, so that a new grant does not bring back old links.
    Column("granted", Text, nullable=False),
)

#: Personal access tokens, as hashes.
PERSONAL_TOKENS: Final = Table(
    "personal_tokens",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("person", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("name", Text, nullable=False),
    #: SHA-256 of the secret, in hexadecimal digits.
    Column("hash", Text, nullable=False),
    #: Id of the request that made it.
    Column("origin", Text, nullable=False),
    Column("made_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("used_at", UtcDateTime),
    UniqueConstraint("origin", name="personal_tokens_origin"),
    UniqueConstraint("workspace", "person", "number", name="personal_tokens_number"),
)

#: Debates that were unfinished in a restored backup. Their posts may be in Slack already, so the
#: queue looks for each before it sends it.
RESTORED: Final = Table("restored", METADATA, Column("debate_id", Text, primary_key=True))

#: The search index of debates. On SQLite a full-text table, which has no primary key.
DEBATE_WORDS: Final = Table(
    "debate_words",
    MetaData(),
    Column("debate_id", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("words", Text, nullable=False),
)

#: On SQLite, the row number of each debate in the search index, as a search by any other column
#: reads the whole full-text table.
WORD_ROWS: Final = Table(
    "debate_words_rows",
    MetaData(),
    Column("debate_id", Text, primary_key=True),
    Column("row", Integer, nullable=False),
)


def _make_with_tables(dialect: str, statement: str) -> None:
    event.listen(METADATA, "after_create", DDL(statement).execute_if(dialect=dialect))


_make_with_tables(
    "sqlite",
    "CREATE VIRTUAL TABLE IF NOT EXISTS debate_words USING fts5("
    "debate_id UNINDEXED, workspace UNINDEXED, channel UNINDEXED, words, "
    "tokenize = 'unicode61 remove_diacritics 2')",
)
_make_with_tables(
    "sqlite",
    "CREATE TABLE IF NOT EXISTS debate_words_rows (debate_id TEXT NOT NULL, "
    "row INTEGER NOT NULL, PRIMARY KEY (debate_id))",
)
_make_with_tables(
    "postgresql",
    "CREATE TABLE IF NOT EXISTS debate_words (debate_id TEXT NOT NULL, workspace TEXT NOT NULL, "
    "channel TEXT NOT NULL, words TEXT NOT NULL, PRIMARY KEY (debate_id))",
)
_make_with_tables(
    "postgresql",
    "CREATE INDEX IF NOT EXISTS debate_words_search "
    "ON debate_words USING gin (to_tsvector('simple', words))",
)

MIGRATIONS: Final = Path(__file__).parent / "migrations"
VERSION_TABLE: Final = "moot_bot_version"


class TableUser:
    """Base of classes that use these tables. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        self._database = database


async def prepare(database: Database) -> None:
    await migrate(database, METADATA, MIGRATIONS, VERSION_TABLE)


class Channel(NamedTuple):
    workspace: str
    channel: str
