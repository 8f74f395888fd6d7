"""Keeps the database small while the bot runs: deletes a few debates at a time."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from bot.log import logger
from bot.store.purging import merge_words, purge_traces
from core.store.database import Database
from core.store.purging import EVERYTHING, Only, purge_debates

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
