"""Backup, restore and purge of the database."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, make_url

import bot.store.tables
import core.store.tables
from bot.building import database_url
from bot.log import logger
from bot.store.purging import merge_words, purge_answers, purge_traces, purge_workspace
from bot.store.records import BACKUP, RestoredIds
from core.clock import SystemClock
from core.errors import BadInput, StoreDown
from core.store.database import Database
from core.store.lock import FileLock, check_no_orphan_log
from core.store.upkeep import EVERYTHING, PurgeFilter, debates_citing, purge_debates

_log = logger(__name__)

#: Debates deleted in one transaction: 2 to 6 MB, which block other writers for some 10 ms.
_AT_ONCE = 10
#: Pages of the search index merged in one transaction.
_PAGES = 500


async def purge_for_good(
    database: Database,
    workspace: str | None,
    before: datetime | None,
    only: PurgeFilter = EVERYTHING,
) -> Sequence[str]:
    """Delete debates with their posts, reminders and search words, while others write.

    Their rows are removed; `Database.shrink` or `clean` frees the pages. An interrupted call is
    completed by the next one.

    Args:
        database: An open database.
        workspace: Slack's id of a workspace; None: all workspaces.
        before: Only debates that ended before this time; None: all, including running ones.
        only: Only debates of a person or channel, or one debate.

    Returns:
        The ids of the deleted debates.
    """

    def purge_batch(connection: Connection) -> Sequence[str]:
        debates = purge_debates(connection, workspace, before, only, most=_AT_ONCE)
        purge_traces(connection, debates)
        return debates

    deleted_ids: list[str] = []
    while ids := await database.write(purge_batch):
        deleted_ids += ids
    # Also if nothing was deleted now: an earlier call may have been interrupted before this.
    pages = -_PAGES
    while await database.write(lambda c, pages=pages: merge_words(c, pages)):
        pages = _PAGES
    return deleted_ids


class EndedDebates(bot.store.tables.TableUser):
    async def purge(self, before: datetime) -> None:
        """Delete debates that ended before a time: log, costs, posts, reminders and search words.

        On SQLite the freed pages are overwritten, then given back to the disk, and the write-ahead
        log is emptied. On PostgreSQL the server's own VACUUM frees them.

        Raises:
            StoreDown: The database does not answer; the next call deletes the rest.
        """
        if deleted_ids := await purge_for_good(self._database, None, before):
            _log.info("old debates deleted", debates=len(deleted_ids))
        await self._database.shrink()


_PRIVATE = 0o600


def back_up(location: str, target: Path) -> int:
    """Copy the database, even while the bot uses it; return the size of the copy in bytes.

    The copy is one consistent state (https://sqlite.org/backup.html) and is checked before it gets
    its name.

    Raises:
        BadInput: The target exists or its folder does not, or the database is on a server.
        StoreDown: The database or its copy cannot be read or written.
    """
    url = make_url(database_url(location))
    if not url.drivername.startswith("sqlite"):
        raise BadInput("Back up PostgreSQL with its own tool: pg_dump --format=custom.")
    if target.exists():
        raise BadInput(f"{target} exists already. Name a new file.")
    if not target.parent.is_dir():
        raise BadInput(f"There is no folder {target.parent}.")
    source = Path(url.database or "")
    check_no_orphan_log(source)  # SQLite would delete it, even when it only reads
    if not source.exists():
        raise BadInput(f"There is no database {source}.")
    draft = target.with_name(target.name + ".part")
    try:
        _copy(source, draft)
        draft.replace(target)
        return target.stat().st_size
    except (sqlite3.Error, OSError) as error:
        raise StoreDown(f"The backup failed: {error}. No file was left.") from error
    finally:
        draft.unlink(missing_ok=True)


def _copy(source: Path, draft: Path) -> None:
    draft.touch(_PRIVATE)
    address = f"{source.absolute().as_uri()}?mode=ro"
    with (
        closing(sqlite3.connect(address, uri=True)) as original,
        closing(sqlite3.connect(draft)) as copy,
    ):
        original.backup(copy)
        (result,) = copy.execute("PRAGMA integrity_check").fetchone()
        if result != "ok":
            raise sqlite3.DatabaseError(f"the copy is damaged ({result})")
        # Mark the copy as a backup: a bot started on it must expect newer posts in Slack.
        if copy.execute("SELECT 1 FROM sqlite_master WHERE name = 'installation'").fetchone():
            now = SystemClock().now().isoformat()
            copy.execute("INSERT OR REPLACE INTO installation VALUES (?, ?)", (BACKUP, now))
            copy.commit()
        copy.execute("PRAGMA journal_mode=DELETE")  # keeps it one file, even when it is opened


def restore(location: str, source: Path | None) -> Path | None:
    """Replace the database by a backup; the bot must be stopped.

    At the next start, running debates stay paused until a person resumes them, and their posts are
    looked for in Slack before they are sent.

    Args:
        location: A file path or a database URL.
        source: The backup; None: the database was restored already, for example by pg_restore.

    Returns:
        The new path of the replaced database; None: there was none.

    Raises:
        BadInput: There is no such backup, or the database is on a server.
        StoreDown: The database is in use, or the backup is damaged; nothing was changed.
    """
    url = make_url(database_url(location))
    aside = None
    if source is not None:
        if not url.drivername.startswith("sqlite"):
            raise BadInput("PostgreSQL is restored with pg_restore; then run moot restore alone.")
        if not source.is_file():
            raise BadInput(f"There is no backup {source}.")
        aside = _put_in_place(source, Path(url.database or "").absolute())

    async def mark_restored() -> None:
        async with await Database.open(database_url(location)) as database:
            await core.store.tables.prepare(database)
            await bot.store.tables.prepare(database)
            await RestoredIds(database).mark(SystemClock().now())

    asyncio.run(mark_restored())
    return aside


def _put_in_place(source: Path, target: Path) -> Path | None:
    draft = target.with_name(target.name + ".part")
    lock = FileLock(target)
    try:
        _copy(source, draft)
        stamp = SystemClock().now().strftime("%Y%m%dT%H%M%S")
        aside = target.with_name(f"{target.name}.before-{stamp}")
        for ending in ("-wal", "-shm", ""):
            part = target.with_name(target.name + ending)
            if part.exists():
                part.rename(aside.with_name(aside.name + ending))
        draft.replace(target)
    except (sqlite3.Error, OSError) as error:
        raise StoreDown(f"The backup was not restored: {error}.") from error
    finally:
        draft.unlink(missing_ok=True)
        lock.release()
    return aside


@dataclass(frozen=True)
class PurgeResult:
    debates: int
    #: Ids of later debates that have the decision of a deleted debate as a source.
    readers: Sequence[str]


async def purge(
    location: str, workspace: str, before: datetime | None, only: PurgeFilter = EVERYTHING
) -> PurgeResult:
    """Delete a workspace's debates for good.

    The file, its write-ahead log and later backups contain nothing of them.

    Args:
        location: A file path or a database URL. A file must not be in use: stop the bot first.
        workspace: Slack's id of the workspace.
        before: Only debates that ended before this time; None: all data of the workspace.
        only: Only debates of a person or channel, or one debate.

    Raises:
        StoreDown: The database is in use, or does not answer; nothing was deleted.
    """
    async with await Database.open(database_url(location)) as database:
        await core.store.tables.prepare(database)
        await bot.store.tables.prepare(database)
        deleted_ids = await purge_for_good(database, workspace, before, only)
        if before is None and only == EVERYTHING:
            await database.write(lambda connection: purge_workspace(connection, workspace))
        elif before is None and (only.person or only.channel):
            await database.write(lambda c: purge_answers(c, workspace, only.person, only.channel))
        await database.clean()
        return PurgeResult(len(deleted_ids), await debates_citing(database, deleted_ids))
