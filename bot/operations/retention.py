"""Deletes debates that ended long ago, by itself, while the bot runs."""

from datetime import datetime

from sqlalchemy import Connection

from bot.log import logger
from bot.store.purging import purge_traces
from core.store.database import Database
from core.store.purging import purge_debates

_log = logger(__name__)


class EndedDebates:
    """Debates of all workspaces that have ended; deleted as completely as by `moot purge`."""

    def __init__(self, database: Database) -> None:
        """Use tables that `bot.store.tables.prepare` has made."""
        self._database = database

    async def purge(self, before: datetime) -> None:
        """Delete what ended before: log, costs, posts, reminders and search words.

        On SQLite the freed pages are overwritten and the write-ahead log is emptied; the file keeps
        its size. On PostgreSQL the server's own VACUUM frees them.

        Raises:
            StoreDown: The database does not answer; nothing was deleted.
        """

        def work(connection: Connection) -> int:
            debates = purge_debates(connection, None, before)
            if debates:
                purge_traces(connection, debates)
            return len(debates)

        if deleted := await self._database.write(work):
            await self._database.empty_write_ahead_log()
            _log.info("old debates deleted", debates=deleted)
