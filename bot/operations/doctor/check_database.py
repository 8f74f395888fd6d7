"""Checks of the database: it opens, is whole and up to date; its disk has room."""

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import bot.store.tables
import core.store.tables
from bot.building import database_url
from bot.operations.doctor.findings import Finding, bad, good, skip
from bot.presenter.sink import words_of
from bot.settings import BotSettings
from bot.views.lists import DebateRow, row_text
from core.debate.log import RecordedEvent, fold
from core.errors import ConfigurationBroken, DebateUnknown, LogBroken, StoreError, reading
from core.figures import number
from core.ports import DebateFilter, DebateStore
from core.rules.formats.registry import format_of
from core.store.lock import is_in_use
from core.store.migrate import newest as newest_version
from core.store.upkeep import inspect_database

#: Less room than this, in bytes, is too little.
_LEAST_ROOM = 200_000_000
_MEGABYTE = 1_000_000
#: Debates that are read, newest first, and of those that cannot be, how many are named.
_MOST_READ, _MOST_NAMED = 300, 5


async def check_database(environment: BotSettings) -> Sequence[Finding]:
    location = environment.moot_database
    if "://" in location and not location.startswith("sqlite"):
        return await _contents("database on the server", location)
    file = Path(database_url(location).split(":///", 1)[-1])
    what, folder = f"database {file.name}", _folder(file.parent)
    if await asyncio.to_thread(file.exists):
        return [*folder, *await _contents(what, location)]
    if is_in_use(file):
        words = "was deleted while Moot was using it; nothing is written any more"
        remedy = "Put the file back, or stop Moot and restore a backup."
        return [*folder, bad(what, words, remedy)]
    return [*folder, skip(what, "is not there yet; it is made when it is needed")]


async def check_logs(store: DebateStore) -> Sequence[Finding]:
    what, broken = "debates", list[str]()
    entries = await store.find(DebateFilter(limit=_MOST_READ))
    for entry in entries:
        try:
            log = await store.events(entry.debate_id)
            await asyncio.to_thread(_try_to_show, entry.debate_id, log)
        except DebateUnknown:
            continue  # deleted meanwhile
        except LogBroken:
            broken.append(entry.debate_id)
    looked_at = f"the newest {number(len(entries))}" if entries else "none"
    if not broken:
        return [good(what, f"{looked_at} can be read" if entries else "there are none yet")]
    named = ", ".join(broken[:_MOST_NAMED]) + (" and others" if len(broken) > _MOST_NAMED else "")
    return [
        bad(
            what,
            f"{number(len(broken))} of {looked_at} cannot be read or shown: {named}",
            "Lists leave them out. `moot show ID` says what is wrong; `moot purge --debate ID` "
            "deletes one.",
        )
    ]


def _try_to_show(debate_id: str, log: Sequence[RecordedEvent]) -> None:
    debate = fold(log)
    with reading(debate_id):
        format_of(debate)
        words_of(debate)
        row_text(DebateRow(debate))


async def _contents(what: str, location: str) -> Sequence[Finding]:
    newest = {
        tables.VERSION_TABLE: newest_version(tables.MIGRATIONS)
        for tables in (core.store.tables, bot.store.tables)
    }
    try:
        state = await inspect_database(database_url(location), list(newest))
    except ConfigurationBroken as error:
        return [bad(what, str(error), "Correct MOOT_DATABASE.", is_configuration=True)]
    except StoreError as error:
        return [bad(what, str(error), "Name another database in MOOT_DATABASE, or restore it.")]
    if state.damage:
        return [bad(what, f"is damaged: {state.damage}", "Restore it from a backup.")]
    if state.is_locked:
        remedy = "Close that program. Until then Moot records nothing."
        return [bad(what, "is locked by another program", remedy)]
    name = f"tables of {what.removeprefix('database ')}"
    versions = state.versions
    newer = [version for table, version in versions.items() if version > newest.get(table, version)]
    if newer:
        tables = bad(name, f"were made by a newer Moot (at {newer[0]})", "Update Moot.")
    elif any(version != newest[table] for table, version in versions.items() if table in newest):
        tables = skip(
            name, "are older than this program; they are brought up to date at its next start"
        )
    elif newest.keys() - versions.keys():
        tables = skip(name, "are not all there yet; the bot makes its own when it starts")
    else:
        tables = good(name, "are up to date")
    return [good(what, "opens and is whole"), tables]


def _folder(folder: Path) -> Sequence[Finding]:
    what = "folder of the database"
    try:
        with tempfile.TemporaryFile(dir=folder):
            room = shutil.disk_usage(folder).free
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        return [
            bad(
                what,
                f"{folder} cannot be written: {why}",
                "Allow writing, or change MOOT_DATABASE.",
            )
        ]
    words = f"{number(room // _MEGABYTE)} MB are free"
    if room < _LEAST_ROOM:
        return [bad(what, f"only {words}", "Free some space.")]
    return [good(what, f"can be written; {words}")]
