"""Deletes rows of debates, people, channels and workspaces from the bot's tables."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select

from bot.store.search import remove_words
from bot.store.tables import (
    CHANNEL_SETTINGS,
    ORGANISATIONS,
    PAGE_GRANTS,
    PERSONAL_TOKENS,
    QUEUE,
    REMINDERS,
    RESTORED,
)


def purge_traces(connection: Connection, debates: Sequence[str]) -> None:
    """Delete posts, landings, reminders, pages and search words of debates.

    Call `merge_words` afterwards.
    """
    for debate_id in debates:
        for table in (QUEUE, REMINDERS, RESTORED, PAGE_GRANTS):
            connection.execute(delete(table).where(table.c.debate_id == debate_id))
        remove_words(connection, debate_id)


def merge_words(connection: Connection, pages: int) -> bool:
    """Merge some segments of the search index; returns whether there may be more to merge.

    FTS5 keeps deleted words until its segments are merged into one; VACUUM does not remove them
    (https://sqlite.org/fts5.html#the_merge_command). The first call passes `pages` as a negative
    number, which includes all segments whatever their sizes.
    """
    if connection.dialect.name != "sqlite":
        return False
    changes = "SELECT total_changes()"
    before = connection.exec_driver_sql(changes).scalar_one()
    merge = "INSERT INTO debate_words(debate_words, rank) VALUES ('merge', ?)"
    connection.exec_driver_sql(merge, (pages,))
    # The command itself counts as one change.
    return connection.exec_driver_sql(changes).scalar_one() - before > 1


def purge_answers(connection: Connection, workspace: str, person: str, channel: str) -> None:
    """Delete posts outside of debates to a person or in a channel, as they may quote people.

    For a person, also delete their tokens.
    """
    if person and not channel:
        tokens = PERSONAL_TOKENS.c
        mine = (tokens.workspace == workspace) & (tokens.person == person)
        connection.execute(delete(PERSONAL_TOKENS).where(mine))
    query = select(QUEUE.c.id, QUEUE.c.payload).where(
        QUEUE.c.workspace == workspace, QUEUE.c.debate_id.is_(None)
    )
    if channel:
        query = query.where(QUEUE.c.channel == channel)
    for post, payload in connection.execute(query).all():
        if not person or payload.get("user") == person:
            connection.execute(delete(QUEUE).where(QUEUE.c.id == post))


def purge_workspace(connection: Connection, workspace: str) -> None:
    for table in (QUEUE, CHANNEL_SETTINGS, ORGANISATIONS, PAGE_GRANTS, PERSONAL_TOKENS):
        connection.execute(delete(table).where(table.c.workspace == workspace))
