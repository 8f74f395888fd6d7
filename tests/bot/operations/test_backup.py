"""Backups while the bot runs, and debates deleted for good, also while it runs."""

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import event, func, inspect, select
from sqlalchemy.engine import Engine
from typer.testing import CliRunner

import bot.store.tables
import core.store.tables
from bot.cli import app
from bot.operations.backup import EndedDebates, back_up, purge
from bot.queue.landings import new_landing
from bot.queue.rows import NewPost, Posts
from bot.store.leases import Leases
from bot.store.personal_tokens import PersonalToken, PersonalTokens
from bot.store.records import (
    ChannelSettings,
    DebatePageGrants,
    Organisations,
    Reminders,
    RestoredIds,
)
from bot.store.search import DebateWords
from bot.store.tables import Channel
from core.clock import SystemClock
from core.debate.contributions import Note
from core.debate.debate_events import CallsDropped, DebateConcluded, DebateStarted
from core.debate.log import fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Place
from core.errors import BadInput, StoreDown
from core.ports import DebateFilter, Reservation
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.upkeep import PurgeFilter
from core.testing import a_setup
from core.usage import Cap, SpendingScope, Usage
from core.use_cases.choices import ChannelChoices
from core.use_cases.remind import Reminder

NOW = SystemClock().now()
HERE = Place(surface="slack", workspace="T1", channel="C1")
COSTLY = Usage(attempts=1, cost=Decimal("0.10"))
#: Not among the others: on SQLite no migration tool knows a full-text table.
WORDS = {
    "debate_words": bot.store.tables.DEBATE_WORDS,
    "debate_words_rows": bot.store.tables.WORD_ROWS,
}


async def fill(database: Database) -> None:
    """Two workspaces: one with an old, a fresh and a running debate, one with an old one."""
    await core.store.tables.prepare(database)
    await bot.store.tables.prepare(database)
    store, posts = SqlDebateStore(database), Posts(database)
    for name, team, days in (
        ("old", "T1", 90),
        ("new", "T1", 1),
        ("run", "T1", 0),
        ("far", "T2", 90),
    ):
        at = NOW - timedelta(days=days)
        setup = a_setup().model_copy(
            update={"place": Place(surface="slack", workspace=team, channel="C1")}
        )
        await store.create(name, DebateStarted(setup=setup), origin=name, at=at)
        if days:
            await store.append(name, DebateConcluded(), at=at)
        post = NewPost(
            key=f"{name}/board",
            workspace=team,
            channel="C1",
            method="post",
            payload={},
            debate_id=name,
        )
        await posts.enqueue([post])
    await ChannelSettings(database).put(HERE, ChannelChoices(keep_pinned=True))


async def fill_the_rest(database: Database) -> None:
    """What only some leave behind: costs, dates, senders, organisations, refusals, backups."""
    await SqlDebateStore(database).append("run", CallsDropped(usage=COSTLY, origin="1"), at=NOW)
    reservation = Reservation(
        id="a1", debate_id="run", turn="r1/proposal/ann", amount=Decimal("0.01"), expires_at=NOW
    )
    day = SpendingScope(day=NOW.date(), workspace="T1")
    cap = Cap("day/T1", "all debates today", Decimal(1), scope=day)
    await SqlDebateStore(database).reserve(reservation, [cap], at=NOW - timedelta(days=1))
    await Reminders(database).put(Reminder("old", "V1", NOW))
    await Leases(database, "a process").acquire("post/T1/C1")
    await Organisations(database).note("T1", "E1")
    await DebateWords(database).put("old", Channel("T1", "C1"), "kafka")
    await Posts(database).enqueue([new_landing("shop", "old", 1)])
    old = fold(await SqlDebateStore(database).events("old"))
    await DebatePageGrants(database).grant(old)
    token = PersonalToken(
        id="t1",
        workspace="T1",
        person="U1",
        number=1,
        name="editor",
        made_at=NOW,
        expires_at=NOW + timedelta(days=1),
        used_at=None,
    )
    await PersonalTokens(database).make(token, origin="1", most=1)
    await RestoredIds(database).mark(NOW)
    await RestoredIds(database).find_running()


async def rows_naming(database: Database, names: Collection[str]) -> Mapping[str, int]:
    """Rows of each table that keeps something of a workspace or of a debate."""
    counted: dict[str, int] = {}
    groups = (core.store.tables.METADATA.tables, bot.store.tables.METADATA.tables, WORDS)
    there = await database.read(lambda c: set(inspect(c).get_table_names()))
    columns = [
        column
        for tables in groups
        for name, table in tables.items()
        if name in there
        for column in table.columns
    ]
    for column in columns:
        if column.name in {"workspace", "debate_id"}:
            query = select(func.count()).select_from(column.table).where(column.in_(names))
            number = await database.read(lambda c, query=query: c.scalar(query))
            counted[str(column)] = number or 0
    return counted


async def left(location: str) -> set[str]:
    """Ids of debates that are there, each with its post."""
    async with await Database.open(location) as database:
        ids = {entry.debate_id for entry in await SqlDebateStore(database).find(DebateFilter())}
        posts = Posts(database)
        assert [len(await posts.rows_of_debate(name)) for name in ids] == [1] * len(ids)
        return ids


#: Posts that are of no debate: key, workspace, channel and whom they are shown to.
OUTSIDE = (
    ("mine", "T1", "C1", "U1"),
    ("theirs", "T1", "C1", "U2"),
    ("elsewhere", "T1", "C2", "U1"),
    ("far", "T2", "C1", "U1"),
)
ALL_POSTS = {key for key, *_ in OUTSIDE}


@pytest.mark.parametrize(
    ("only", "days", "debates", "posts"),
    [
        (PurgeFilter(), None, {"far"}, {"far"}),
        (PurgeFilter(), 30, {"new", "run", "far"}, ALL_POSTS),
        (PurgeFilter(debate="run"), None, {"old", "new", "far"}, ALL_POSTS),
        (PurgeFilter(person="U1"), None, {"far"}, {"theirs", "far"}),
        (PurgeFilter(person="U2"), None, {"old", "new", "run", "far"}, ALL_POSTS - {"theirs"}),
        (PurgeFilter(channel="C1"), None, {"far"}, {"elsewhere", "far"}),
        (
            PurgeFilter(channel="C2"),
            None,
            {"old", "new", "run", "far"},
            ALL_POSTS - {"elsewhere"},
        ),
        (PurgeFilter(person="U1", channel="C1"), None, {"far"}, ALL_POSTS - {"mine"}),
    ],
)
async def test_what_is_asked_for_is_deleted_with_its_posts_and_nothing_else(
    location: str, only: PurgeFilter, days: int | None, *, debates: set[str], posts: set[str]
) -> None:
    async with await Database.open(location) as database:
        await fill(database)
        outside = [
            NewPost(
                key=key,
                workspace=workspace,
                channel=channel,
                method="ephemeral",
                payload={"user": person, "text": "You wrote: wombat"},
            )
            for key, workspace, channel, person in OUTSIDE
        ]
        await Posts(database).enqueue(outside)
    before = None if days is None else NOW - timedelta(days=days)
    result = await purge(location, "T1", before, only)

    assert await left(location) == debates
    assert result.debates == 4 - len(debates)
    async with await Database.open(location) as database:
        rows = Posts(database)
        assert {key for key, *_ in OUTSIDE if await rows.row_by_key(key)} == posts
        assert await rows.rows_of_debate("old") == [] or "old" in debates
        choices, whole = await ChannelSettings(database).get(HERE), only == PurgeFilter()
        assert choices.keep_pinned is not (whole and days is None)


async def test_after_a_purge_no_table_names_the_workspace_or_its_debates(location: str) -> None:
    """Whatever table is added later: what it keeps of a workspace goes with the workspace."""
    ours = {"T1", "old", "new", "run"}
    async with await Database.open(location) as database:
        await fill(database)
        await fill_the_rest(database)
        before = await rows_naming(database, ours)
    await purge(location, "T1", None)
    async with await Database.open(location) as database:
        after = await rows_naming(database, ours)

    assert [name for name, count in before.items() if not count] == []
    assert max(after.values()) == 0, after


async def test_a_backup_is_whole_while_the_database_is_in_use(tmp_path: Path) -> None:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/moot.db") as database:
        await fill(database)
        with pytest.raises(StoreDown, match="Stop it first"):
            await purge(f"{tmp_path}/moot.db", "T1", None)
        size = back_up(f"{tmp_path}/moot.db", tmp_path / "copy.db")
    assert size == (tmp_path / "copy.db").stat().st_size > 0
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0
    assert await left(f"sqlite+aiosqlite:///{tmp_path}/copy.db") == {"old", "new", "run", "far"}


def test_a_backup_overwrites_nothing_and_a_failed_one_leaves_nothing_behind(tmp_path: Path) -> None:
    source, copy = tmp_path / "moot.db", tmp_path / "copy.db"
    source.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreDown, match="No file was left"):
        back_up(str(source), copy)
    assert [path.name for path in tmp_path.iterdir()] == ["moot.db"]
    source.unlink()
    with closing(sqlite3.connect(source)) as connection, connection:
        connection.execute("CREATE TABLE words (word TEXT)")
        connection.executemany("INSERT INTO words VALUES (?)", [("word " * 100,)] * 100)
    content, page = source.read_bytes(), 4096
    source.write_bytes(content[: 2 * page] + b"\xff" * page + content[3 * page :])
    with pytest.raises(StoreDown, match="malformed"):
        back_up(str(source), copy)
    copy.write_text("mine")
    with pytest.raises(BadInput, match="exists already"):
        back_up(str(source), copy)
    assert copy.read_text() == "mine"
    with pytest.raises(BadInput, match="pg_dump"):
        back_up("postgresql://user@host/moot", tmp_path / "another.db")


def test_purging_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DATABASE", str(tmp_path / "moot.db"))
    runner = CliRunner()
    answer = runner.invoke(app, ["purge", "--workspace", "T1"], input="n\n")
    assert isinstance(answer.exception, BadInput)
    assert not (tmp_path / "moot.db").exists()
    answer = runner.invoke(app, ["purge", "--workspace", "T1", "--yes"])
    assert "Deleted 0 debates.\nThere was no such debate of T1. Are the ids right?" in answer.stdout


async def test_old_debates_of_all_workspaces_go_a_few_at_a_time(location: str) -> None:
    """Others write between: one transaction for all would hold every debate up for minutes."""
    deletions = list[str]()

    def note(*statement: str) -> None:
        if statement[2].startswith("DELETE FROM debates"):
            deletions.append("debate")

    def end(_: object) -> None:
        deletions.append("commit")

    async with await Database.open(location) as database:
        await fill(database)
        store, long_ago = SqlDebateStore(database), NOW - timedelta(days=90)
        for number in range(35):
            started = DebateStarted(setup=a_setup())
            await store.create(f"o{number}", started, origin=f"o{number}", at=long_ago)
            await store.append(f"o{number}", DebateConcluded(), at=long_ago)
        event.listen(Engine, "before_cursor_execute", note)
        event.listen(Engine, "commit", end)
        try:
            for _ in range(2):  # the second time there is nothing to do
                await EndedDebates(database).purge(NOW - timedelta(days=30))
        finally:
            event.remove(Engine, "before_cursor_execute", note)
            event.remove(Engine, "commit", end)
    assert await left(location) == {"new", "run"}
    parts = [len(part.split()) for part in " ".join(deletions).split("commit")]
    assert [size for size in parts if size] == [10, 10, 10, 7]


def is_in_a_file(word: str, folder: Path) -> bool:
    return any(word.encode() in file.read_bytes() for file in folder.iterdir())


async def test_a_purge_of_a_running_bot_shrinks_the_file_and_leaves_no_text(
    tmp_path: Path,
) -> None:
    canary, path = "xylophonecanary", tmp_path / "moot.db"
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        await fill(database)
        store, words = SqlDebateStore(database), DebateWords(database)
        long_ago = NOW - timedelta(days=90)
        await store.create("big", DebateStarted(setup=a_setup()), origin="b", at=long_ago)
        for number in range(60):
            note = Note(id=str(number), author=Person(id="U1"), text=f"{canary} " * 5_000)
            await store.append("big", NoteAdded(note=note), at=long_ago)
            await words.put("big", Channel("T1", "C1"), f"{canary} {number} words")
        await store.append("big", DebateConcluded(), at=long_ago)
        await database.empty_write_ahead_log()
        assert is_in_a_file(canary, tmp_path)
        full = path.stat().st_size

        await EndedDebates(database).purge(NOW - timedelta(days=30))

        assert path.stat().st_size < full / 4
        assert (tmp_path / "moot.db-wal").stat().st_size == 0
        assert not is_in_a_file(canary, tmp_path)
        assert await words.find("T1", ["C1"], canary, 5) == []
        await store.append("run", DebateConcluded(), at=NOW)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_purging_brings_the_file_of_an_earlier_version_into_todays_form(
    tmp_path: Path,
) -> None:
    path = tmp_path / "moot.db"

    def form() -> tuple[int, int]:
        """Bytes of a page, and whether free pages can be given back (2: a few at a time)."""
        with closing(sqlite3.connect(path)) as connection:
            pragmas = ("PRAGMA page_size", "PRAGMA auto_vacuum")
            size, vacuum = (connection.execute(text).fetchone()[0] for text in pragmas)
            return size, vacuum

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE from_before (word TEXT)")
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        await fill(database)
        await EndedDebates(database).purge(NOW - timedelta(days=30))  # it cannot shrink: no harm
    assert form() == (4096, 0)

    await purge(str(path), "T9", None)

    assert form() == (8192, 2)
    assert await left(f"sqlite+aiosqlite:///{path}") == {"new", "run"}
