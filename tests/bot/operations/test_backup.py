"""Backups while the bot runs, and debates deleted for good."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import func, inspect, select
from typer.testing import CliRunner

import bot.store.tables
import core.store.tables
from bot.cli import app
from bot.operations.backup import back_up, purge
from bot.queue.landings import new_landing
from bot.queue.rows import NewPost, Posts
from bot.store.channel import Channel
from bot.store.leases import Leases
from bot.store.page_grants import DebatePageGrants
from bot.store.personal_tokens import PersonalToken, PersonalTokens
from bot.store.records import ChannelSettings, Organisations, Reminders, RestoredIds
from bot.store.search import DebateWords
from core.clock import SystemClock
from core.debate.debate_events import CallsDropped, DebateConcluded, DebateStarted
from core.debate.log import fold
from core.debate.people import Place
from core.errors import BadInput, StoreDown
from core.ports import DebateFilter, Reservation
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.purging import PurgeFilter
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
    await RestoredIds(database).find_out()


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


async def debate_ids(location: str) -> set[str]:
    async with await Database.open(location) as database:
        ids = {entry.debate_id for entry in await SqlDebateStore(database).find(DebateFilter())}
        for name in ids:
            assert len(await Posts(database).rows_of_debate(name)) == 1
        return ids


async def test_old_debates_of_one_workspace_are_deleted_with_their_posts(location: str) -> None:
    async with await Database.open(location) as database:
        await fill(database)
    assert (await purge(location, "T1", NOW - timedelta(days=30))).debates == 1
    assert await debate_ids(location) == {"new", "run", "far"}
    async with await Database.open(location) as database:
        assert await Posts(database).rows_of_debate("old") == []
        assert await ChannelSettings(database).get(HERE) == ChannelChoices(keep_pinned=True)


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


async def test_nothing_is_deleted_under_a_running_bot(tmp_path: Path) -> None:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/moot.db") as database:
        await fill(database)
        with pytest.raises(StoreDown, match="Stop it first"):
            await purge(f"{tmp_path}/moot.db", "T1", None)


async def test_a_backup_is_whole_while_the_database_is_in_use(tmp_path: Path) -> None:
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path}/moot.db") as database:
        await fill(database)
        size = back_up(f"{tmp_path}/moot.db", tmp_path / "copy.db")
    assert size == (tmp_path / "copy.db").stat().st_size > 0
    assert (tmp_path / "copy.db").stat().st_mode & 0o077 == 0
    assert await debate_ids(f"sqlite+aiosqlite:///{tmp_path}/copy.db") == {
        "old",
        "new",
        "run",
        "far",
    }


def test_a_backup_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "moot.db").touch()
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(BadInput, match="exists already"):
        back_up(f"{tmp_path}/moot.db", tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"


def test_a_failed_backup_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "moot.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreDown, match="Nothing was left"):
        back_up(f"{tmp_path}/moot.db", tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir()] == ["moot.db"]


def test_postgres_has_its_own_tool(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pg_dump"):
        back_up("postgresql://user@host/moot", tmp_path / "copy.db")


def test_purging_asks_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DATABASE", str(tmp_path / "moot.db"))
    runner = CliRunner()
    answer = runner.invoke(app, ["purge", "--workspace", "T1"], input="n\n")
    assert isinstance(answer.exception, BadInput)
    assert not (tmp_path / "moot.db").exists()
    answer = runner.invoke(app, ["purge", "--workspace", "T1", "--yes"])
    assert "Deleted 0 debates.\nThere was no such debate of T1. Are the ids right?" in answer.stdout


def bytes_of(folder: Path) -> str:
    """Every byte of the database, its write-ahead log and its copies."""
    return "".join(path.read_bytes().decode("latin-1") for path in folder.iterdir())


@pytest.mark.parametrize(
    ("only", "left_over"),
    [
        (PurgeFilter(debate="run"), {"old", "new", "far"}),
        (PurgeFilter(channel="C1"), {"far"}),
        (PurgeFilter(channel="C2"), {"old", "new", "run", "far"}),
        (PurgeFilter(person="U1"), {"far"}),
        (PurgeFilter(person="U2"), {"old", "new", "run", "far"}),
    ],
)
async def test_debates_of_a_person_channel_or_one_debate(
    location: str, only: PurgeFilter, left_over: set[str]
) -> None:
    async with await Database.open(location) as database:
        await fill(database)
    await purge(location, "T1", None, only)
    assert await debate_ids(location) == left_over


@pytest.mark.parametrize(
    ("only", "left_over"),
    [
        (PurgeFilter(), {"far"}),
        (PurgeFilter(debate="run"), {"mine", "theirs", "elsewhere", "far"}),
        (PurgeFilter(person="U1"), {"theirs", "far"}),
        (PurgeFilter(channel="C1"), {"elsewhere", "far"}),
        (PurgeFilter(person="U1", channel="C1"), {"theirs", "elsewhere", "far"}),
    ],
)
async def test_what_was_told_outside_of_debates_goes_with_the_person_and_the_channel(
    location: str, only: PurgeFilter, left_over: set[str]
) -> None:
    posts_outside = [
        ("mine", "T1", "C1", "U1"),
        ("theirs", "T1", "C1", "U2"),
        ("elsewhere", "T1", "C2", "U1"),
        ("far", "T2", "C1", "U1"),
    ]
    async with await Database.open(location) as database:
        await fill(database)
        await Posts(database).enqueue(
            [
                NewPost(
                    key=key,
                    workspace=workspace,
                    channel=channel,
                    method="ephemeral",
                    payload={"user": person, "text": "You wrote: wombat"},
                )
                for key, workspace, channel, person in posts_outside
            ]
        )
    await purge(location, "T1", None, only)
    async with await Database.open(location) as database:
        posts = Posts(database)
        assert {key for key, *_ in posts_outside if await posts.row_by_key(key)} == left_over
