"""The tables of the Slack side."""

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

#: What the queues read: a state that is neither sent nor failed. In plain words, not as parameters:
#: only then do databases see that the index of it holds all that is asked for.
UNSENT: Final = literal_column("state").in_(
    [literal_column("'waiting'"), literal_column("'sending'")]
)
#: A living post in Slack that does not show the newest state.
STALE: Final = text("post IS NOT NULL AND state = 'sent' AND wanted_seq > shown_seq")

#: What goes to a receiver outside Slack.
IS_LANDING: Final = literal_column("method") == literal_column("'landing'")

#: What is on its way out of Moot, and what became of it. Times are seconds since 1970 by the
#: database's clock.
QUEUE: Final = Table(
    "queue",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False),
    Column("method", Text, nullable=False),
    #: What Slack counts together, or a receiver: rows of a lane are sent one after the other.
    Column("lane", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("debate_id", Text),
    Column("thread_key", Text),
    #: Empty once nothing more is to be sent.
    Column("payload", JSON, nullable=False),
    Column("urgent", Boolean, nullable=False, server_default=false()),
    Column("state", Text, nullable=False),
    #: Which process began the last attempt, and how many there were.
    Column("owner", Text),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("attempted_at", Double),
    #: Not to be tried before.
    Column("due", Double, nullable=False, server_default="0"),
    Column("ts", Text),
    Column("error", Text),
    #: Which living post it is; NULL: what it shows is fixed.
    Column("post", Text),
    Column("edit_lane", Text),
    #: The number of the event that a living post is to show at least, and of the one it shows;
    #: -1: nobody knows what it shows.
    Column("wanted_seq", Integer, nullable=False, server_default="0"),
    Column("shown_seq", Integer, nullable=False, server_default="0"),
    Column("shown_hash", Text),
    Column("shown_at", Double, nullable=False, server_default="0"),
    #: A person waits for its edit.
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
    # Ids are never used again: they are the order.
    sqlite_autoincrement=True,
)

#: Which process serves a lane, and until when unless it renews that.
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

#: When people want to look at a decision again; a row goes when they were reminded.
REMINDERS: Final = Table(
    "reminders",
    METADATA,
    Column("debate_id", Text, primary_key=True),
    #: The decision's origin.
    Column("decision", Text, primary_key=True),
    Column("due_at", UtcDateTime, nullable=False),
    Index("reminders_due", "due_at"),
)

#: The organisation (Enterprise Grid) a workspace belongs to; no row: it stands alone.
ORGANISATIONS: Final = Table(
    "organisations",
    METADATA,
    Column("workspace", Text, primary_key=True),
    Column("enterprise", Text, nullable=False),
)

#: Debates that have pages; a link holds only with the grant that it names.
PAGE_GRANTS: Final = Table(
    "page_grants",
    METADATA,
    Column("debate_id", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    #: Random: taken back and granted again it is another one.
    Column("granted", Text, nullable=False),
)

#: What people's programs call with: hashes of it.
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
    #: The request that made it.
    Column("origin", Text, nullable=False),
    Column("made_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
    Column("used_at", UtcDateTime),
    UniqueConstraint("origin", name="personal_tokens_origin"),
    UniqueConstraint("workspace", "person", "number", name="personal_tokens_number"),
)

#: Debates that a backup brought back in their midst: what they post is looked for first.
RESTORED: Final = Table("restored", METADATA, Column("debate_id", Text, primary_key=True))

#: What debates are found by. On SQLite a full-text table, which has no key of its own.
DEBATE_WORDS: Final = Table(
    "debate_words",
    MetaData(),
    Column("debate_id", Text, primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("words", Text, nullable=False),
)

#: Where each debate's words stand, on SQLite: by any other column than the row's number its
#: full-text table looks through all words there are.
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
    """Reads and writes some of the tables. Every method may raise `StoreDown`."""

    def __init__(self, database: Database) -> None:
        self._database = database


async def prepare(database: Database) -> None:
    await migrate(database, METADATA, MIGRATIONS, VERSION_TABLE)


class Channel(NamedTuple):
    workspace: str
    channel: str
