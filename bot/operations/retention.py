"""Keeps the database small while the bot runs: deletes a few debates at a time, empties posts."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Text, bindparam, cast, func, select, update

from bot.log import logger
from bot.store.posts import EMPTY
from bot.store.purging import merge_words, purge_traces
from bot.store.tables import POSTS, UNSENT
from core.store.columns import insert_new
from core.store.database import Database
from core.store.purging import EVERYTHING, Only, purge_debates
from core.store.tables import INSTALLATION

_log = logger(__name__)

#: Debates deleted in one transaction: 2 to 6 MB, for which others wait some tens of milliseconds.
_AT_ONCE = 10
#: Pages of the index of words merged in one transaction.
_PAGES = 500


async def purge_for_good(
    database: Database, workspace: str | None, before: datetime | None, only: Only = EVERYTHING
) -> Sequence[str]:
    """Delete debates with their posts, reminders and search words, while others write.

    No word of them is left in the tables; `Database.shrink` or `clean` does the rest. If it is
    ended in its midst, what is left is deleted by the next call.

    Args:
        database: Open.
        workspace: Whose; None: of all.
        before: Only those that ended before; None: all, running ones included.
        only: Of one person, channel or debate only.

    Returns:
        Ids of the debates that were deleted.

    Raises:
        StoreDown: The database does not answer.
    """

    def some(connection: Connection) -> Sequence[str]:
        debates = purge_debates(connection, workspace, before, only, most=_AT_ONCE)
        purge_traces(connection, debates)
        return debates

    deleted: list[str] = []
    while found := await database.write(some):
        deleted += found
    # Also if nothing was deleted now: an earlier call may have come to its end before this.
    pages = -_PAGES
    while await database.write(lambda c, pages=pages: merge_words(c, pages)):
        pages = _PAGES
    return deleted


class EndedDebates:
    """Debates of all workspaces that have ended; deleted as completely as by `moot purge`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def purge(self, before: datetime) -> None:
        """Delete what ended before: log, costs, posts, reminders and search words.

        On SQLite the freed pages are overwritten, then given back to the disk, and the write-ahead
        log is emptied. On PostgreSQL the server's own VACUUM frees them.

        Raises:
            StoreDown: The database does not answer; the rest is deleted the next time.
        """
        if deleted := await purge_for_good(self._database, None, before):
            _log.info("old debates deleted", debates=len(deleted))
        await self._database.shrink()


class SentPayloads:
    """What posts of earlier versions still hold of messages and files that Slack has."""

    def __init__(self, database: Database) -> None:
        """Use tables that both packages' `prepare` have made."""
        self._database = database

    async def purge(self, before: datetime) -> None:  # noqa: ARG002 - whatever their age
        """Empty them, and give the room back.

        A few hundred rows a transaction, so that others can write between; where it stopped is
        remembered, so that the next time only what is newer is looked through.

        Raises:
            StoreDown: The database does not answer; the rest is emptied the next time.
        """
        emptied, more = 0, True
        while more:
            found, more = await self._database.write(_empty_some)
            emptied += found
        if emptied:
            _log.info("sent posts emptied", posts=emptied)
        await self._database.shrink()


#: The row of `installation` that says up to which id sent posts were emptied.
_EMPTIED = "posts_emptied_up_to"
_ROWS_AT_ONCE = 200
_EMPTIED_UP_TO = select(INSTALLATION.c.content).where(INSTALLATION.c.name == _EMPTIED)
_MARK_EMPTIED = update(INSTALLATION).where(INSTALLATION.c.name == _EMPTIED)
_EMPTY_OLD = (
    update(POSTS)
    .where(POSTS.c.id > bindparam("first"), POSTS.c.id <= bindparam("upto"), ~UNSENT)
    # PostgreSQL does not compare JSON.
    .where(cast(POSTS.c.payload, Text) != "{}")
    .values(EMPTY)
)


def _empty_some(connection: Connection) -> tuple[int, bool]:
    """Empty the next posts that were sent or failed; how many, and whether there may be more."""
    known = connection.execute(_EMPTIED_UP_TO).scalar()
    first, last = int(known or 0), connection.execute(select(func.max(POSTS.c.id))).scalar() or 0
    upto = min(last, first + _ROWS_AT_ONCE)
    if upto <= first:
        return 0, False
    found = connection.execute(_EMPTY_OLD, {"first": first, "upto": upto}).rowcount
    if known is None:
        insert_new(connection, INSTALLATION, {"name": _EMPTIED, "content": str(upto)})
    else:
        connection.execute(_MARK_EMPTIED, {"content": str(upto)})
    return found, upto < last
