"""Debates that ended long ago are deleted while the bot runs, and no word of them is left."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine import Engine

from bot.operations.backup import EndedDebates, purge
from bot.store.channel import Channel
from bot.store.search import DebateWords
from core.debate.contributions import Note
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.message_events import NoteAdded
from core.debate.people import Person
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.testing import a_setup
from tests.bot.operations.test_backup import NOW, bytes_of, fill


async def test_old_debates_of_all_workspaces_go_and_the_others_stay(location: str) -> None:
    async with await Database.open(location) as database:
        await fill(database)
        ended = EndedDebates(database)
        await ended.purge(NOW - timedelta(days=30))
        await ended.purge(NOW - timedelta(days=30))

        entries = await SqlDebateStore(database).find(DebateFilter())
    assert {entry.debate_id for entry in entries} == {"new", "run"}


async def test_what_ended_in_years_is_deleted_a_few_at_a_time(location: str) -> None:
    """Others write between: one transaction for all would hold every debate up for minutes."""
    async with await Database.open(location) as database:
        await fill(database)
        store = SqlDebateStore(database)
        long_ago = NOW - timedelta(days=90)
        for number in range(35):
            started = DebateStarted(setup=a_setup())
            await store.create(f"o{number}", started, origin=f"o{number}", at=long_ago)
            await store.append(f"o{number}", DebateConcluded(), at=long_ago)
        deletions = list[str]()

        def note(*statement: str) -> None:
            if statement[2].startswith("DELETE FROM debates"):
                deletions.append("debate")

        def end(_: object) -> None:
            deletions.append("commit")

        event.listen(Engine, "before_cursor_execute", note)
        event.listen(Engine, "commit", end)
        try:
            await EndedDebates(database).purge(NOW - timedelta(days=30))
        finally:
            event.remove(Engine, "before_cursor_execute", note)
            event.remove(Engine, "commit", end)

        assert {entry.debate_id for entry in await store.find(DebateFilter())} == {"new", "run"}
    parts = [len(part.split()) for part in " ".join(deletions).split("commit")]
    assert [size for size in parts if size] == [10, 10, 10, 7]


async def test_the_file_shrinks_while_the_bot_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        await fill(database)
        store = SqlDebateStore(database)
        long_ago = NOW - timedelta(days=90)
        await store.create("big", DebateStarted(setup=a_setup()), origin="b", at=long_ago)
        for number in range(60):
            note = Note(id=str(number), author=Person(id="U1"), text="word " * 9_000)
            await store.append("big", NoteAdded(note=note), at=long_ago)
        await store.append("big", DebateConcluded(), at=long_ago)
        await database.empty_write_ahead_log()
        full = path.stat().st_size

        await EndedDebates(database).purge(NOW - timedelta(days=30))

        assert path.stat().st_size < full / 4
        assert (tmp_path / "moot.db-wal").stat().st_size == 0
        await store.append("run", DebateConcluded(), at=NOW)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_purging_brings_the_file_of_an_earlier_version_into_todays_form(
    tmp_path: Path,
) -> None:
    path = tmp_path / "moot.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE from_before (word TEXT)")
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        await fill(database)
        await EndedDebates(database).purge(NOW - timedelta(days=30))  # it cannot shrink: no harm
    assert form_of(path) == (4096, 0)

    await purge(str(path), "T9", None)

    assert form_of(path) == (8192, 2)
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        entries = await SqlDebateStore(database).find(DebateFilter())
    assert {entry.debate_id for entry in entries} == {"new", "run"}


def form_of(path: Path) -> tuple[int, int]:
    """Bytes of a page, and whether free pages can be given back (2: a few at a time)."""
    with closing(sqlite3.connect(path)) as connection:
        pragmas = ("PRAGMA page_size", "PRAGMA auto_vacuum")
        size, vacuum = (connection.execute(text).fetchone()[0] for text in pragmas)
        return size, vacuum


async def test_no_word_is_left_in_any_byte_though_the_bot_goes_on(tmp_path: Path) -> None:
    canary = "xylophonecanary"
    location = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    async with await Database.open(location) as database:
        await fill(database)
        words = DebateWords(database)
        for number in range(40):
            await words.put("old", Channel("T1", "C1"), f"{canary} {number} words")
        assert canary in bytes_of(tmp_path)

        await EndedDebates(database).purge(NOW - timedelta(days=30))

        assert canary not in bytes_of(tmp_path)
        assert await words.find("T1", ["C1"], canary, 5) == []
