"""The tables of the Slack side."""

from pathlib import Path
from typing import Final

from sqlalchemy import (
    DDL,
    JSON,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
    false,
    literal_column,
)

from core.store.columns import Moment
from core.store.database import Database
from core.store.migrate import migrate

METADATA: Final = MetaData()

#: What the queues read: a state that is neither sent nor failed. In plain words, not as parameters:
#: only then do databases see that the index of it holds all that is asked for.
UNSENT: Final = literal_column("state").in_(
    [literal_column("'waiting'"), literal_column("'sending'")]
)

POSTS: Final = Table(
    "posts",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("key", Text, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("debate_id", Text),
    Column("thread_key", Text),
    Column("method", Text, nullable=False),
    Column("payload", JSON, nullable=False),
    Column("state", Text, nullable=False),
    #: These two were read by earlier versions.
    Column("version", Integer, nullable=False, default=1),
    Column("sending_version", Integer),
    Column("life", Text),
    Column("attempted_at", Moment),
    Column("attempts", Integer, nullable=False),
    Column("not_before", Moment),
    Column("ts", Text),
    Column("error", Text),
    Column("urgent", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("key", name="posts_key"),
    Index(
        "posts_unsent", "workspace", "channel", "id", sqlite_where=UNSENT, postgresql_where=UNSENT
    ),
    Index("posts_thread", "workspace", "channel", "ts"),
    Index("posts_debate", "debate_id", "id"),
    # Ids are never used again: they are the order.
    sqlite_autoincrement=True,
)

#: Events that receivers outside Slack are to get; no word of a debate.
LANDINGS: Final = Table(
    "landings",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("receiver", Text, nullable=False),
    Column("debate_id", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("queued_at", Moment, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("not_before", Moment),
    Column("error", Text),
    Column("place", Text),
    UniqueConstraint("debate_id", "seq", "receiver", name="landings_key"),
    Index("landings_unsent", "receiver", "id", sqlite_where=UNSENT, postgresql_where=UNSENT),
    sqlite_autoincrement=True,
)

#: Receivers that said they want nothing more, and why nothing is sent to them.
CLOSED_RECEIVERS: Final = Table(
    "closed_receivers",
    METADATA,
    Column("receiver", Text, primary_key=True),
    Column("why", Text, nullable=False),
)

DELIVERIES: Final = Table(
    "deliveries",
    METADATA,
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("at", Moment, nullable=False),
    Index("deliveries_at", "at"),
)

CHANNEL_SETTINGS: Final = Table(
    "channel_settings",
    METADATA,
    Column("workspace", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("settings", JSON, nullable=False),
)

#: Which process of the bot sends a channel's posts: the fence against one that comes back.
CHANNEL_HOLDERS: Final = Table(
    "channel_holders",
    METADATA,
    Column("workspace", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("life", Text, nullable=False),
)

#: When people want to look at a decision again; a row goes when they were reminded.
REMINDERS: Final = Table(
    "reminders",
    METADATA,
    Column("debate_id", Text, primary_key=True),
    #: The decision's origin.
    Column("decision", Text, primary_key=True),
    Column("due_at", Moment, nullable=False),
    Index("reminders_due", "due_at"),
)

#: The organisation (Enterprise Grid) a workspace belongs to; no row: it stands alone.
ORGANISATIONS: Final = Table(
    "organisations",
    METADATA,
    Column("workspace", Text, primary_key=True),
    Column("enterprise", Text, nullable=False),
)

#: Workspaces that refused newer blocks of Slack, and when.
NEWER_BLOCKS_REFUSED: Final = Table(
    "newer_blocks_refused",
    METADATA,
    Column("workspace", Text, primary_key=True),
    Column("at", Moment, nullable=False),
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
    Column("made_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("used_at", Moment),
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

_WORDS_ON_SQLITE = (
    "CREATE VIRTUAL TABLE debate_words USING fts5("
    "debate_id UNINDEXED, workspace UNINDEXED, channel UNINDEXED, words, "
    "tokenize = 'unicode61 remove_diacritics 2')"
)
_WORDS_ON_POSTGRESQL = (
    "CREATE TABLE debate_words (debate_id TEXT NOT NULL, workspace TEXT NOT NULL, "
    "channel TEXT NOT NULL, words TEXT NOT NULL, PRIMARY KEY (debate_id))"
)
_ROWS_ON_SQLITE = (
    "CREATE TABLE debate_words_rows (debate_id TEXT NOT NULL, row INTEGER NOT NULL, "
    "PRIMARY KEY (debate_id))"
)
_SEARCH_ON_POSTGRESQL = (
    "CREATE INDEX debate_words_search ON debate_words USING gin (to_tsvector('simple', words))"
)
for dialect, made in (
    ("sqlite", _WORDS_ON_SQLITE),
    ("sqlite", _ROWS_ON_SQLITE),
    ("postgresql", _WORDS_ON_POSTGRESQL),
    ("postgresql", _SEARCH_ON_POSTGRESQL),
):
    event.listen(METADATA, "after_create", DDL(made).execute_if(dialect=dialect))

MIGRATIONS: Final = Path(__file__).parent / "migrations"
VERSION_TABLE: Final = "moot_bot_version"


async def prepare(database: Database) -> None:
    """Create the tables, or bring older ones up to date.

    Raises:
        StoreError: A newer version of the program made them.
        StoreDown: The database does not answer.
    """
    await migrate(database, METADATA, MIGRATIONS, VERSION_TABLE)
