"""An unreadable debate affects no other debate in lists, searches and exports."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from bot.listeners.context import DebateLists
from bot.mcp import tools
from bot.mcp.arguments import CallerDebates, ListArguments, SearchArguments
from bot.operations.backup import EndedDebates
from bot.operations.doctor.examine import check_logs
from bot.operations.doctor.findings import CheckMark
from bot.queue.rows import Posts
from bot.store.tables import prepare
from bot.terminal.records import debate_row
from bot.views.lists import MOST_AT_HOME, home
from core.debate.debate_events import DebateStarted
from core.debate.log import Event, RecordedEvent
from core.debate.people import Place
from core.debate.state import Debate
from core.debate.turn_events import VerdictReached
from core.errors import LogBroken, StoreError
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.testing import InMemoryStore, ManualClock, Members, a_setup
from core.use_cases.fact_log import DebateCache
from core.use_cases.find import FindDebates, FoundDebate, SearchHit
from core.use_cases.recall import CountOutcomes, RecallDecisions, RecalledDecision
from tests.bot.operations.test_backup import NOW, fill
from tests.bot.plays import play

GOOD, BAD = "dgood234", "dbad2345"
ASKED = "Why did we choose PostgreSQL?"


class Endless:
    """Comparing or rendering it raises RecursionError."""

    def __getattr__(self, name: str) -> object:
        return getattr(self, name + "s")


def damaged(_event: Event) -> Event:
    raise LogBroken("It is damaged.")


def endless(_event: Event) -> Event:
    return cast("Event", Endless())


def verdict_of(decision: object) -> Callable[[Event], Event]:
    """A verdict that cannot be shown or compared."""

    def change(event: Event) -> Event:
        if not isinstance(event, VerdictReached):
            return event
        verdict = event.verdict.model_copy(update={"decision": decision})
        return event.model_copy(update={"verdict": verdict})

    return change


class HalfBroken(InMemoryStore):
    """Two debates with the same verdict; one of them is unreadable."""

    def __init__(self, damage: Callable[[Event], Event]) -> None:
        super().__init__()
        self._damage = damage

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        log = await super().events(debate_id, after=after)
        if debate_id != BAD:
            return log
        return [
            RecordedEvent(entry.debate_id, entry.seq, entry.at, self._damage(entry.event))
            for entry in log
        ]


class AllWords:
    """A search index that finds both debates for all words."""

    async def find(
        self, workspace: str, channels: Sequence[str], text: str, limit: int
    ) -> Sequence[SearchHit]:
        del workspace, channels, text, limit
        return [SearchHit(BAD, ""), SearchHit(GOOD, "")]


@pytest.fixture(
    params=[damaged, endless, verdict_of(None), verdict_of(7)],
    ids=["damaged", "too deep", "no words", "a number"],
)
async def store(request: pytest.FixtureRequest) -> HalfBroken:
    store, clock = HalfBroken(request.param), ManualClock()
    for debate_id in (GOOD, BAD):
        start, *rest = play(a_setup())
        assert isinstance(start.event, DebateStarted)
        await store.create(debate_id, start.event, origin=debate_id, at=clock.now())
        for entry in rest:
            await store.append(debate_id, entry.event, at=clock.now())
    return store


@pytest.fixture
def notices() -> list[str]:
    """Ids of the debates left out."""
    return []


@pytest.fixture
def find(store: HalfBroken, notices: list[str]) -> FindDebates:
    def on_unreadable(debate_id: str, _error: StoreError) -> None:
        notices.append(debate_id)

    return FindDebates(
        store=store,
        debates=DebateCache(store),
        index=AllWords(),
        people=Members({"C1"}),
        on_unreadable=on_unreadable,
    )


@pytest.fixture
def recall(store: HalfBroken, find: FindDebates) -> RecallDecisions:
    return RecallDecisions(store=store, on_unreadable=find.on_unreadable)


async def test_lists_search_and_home_show_the_others(
    find: FindDebates, notices: list[str], tmp_path: Path
) -> None:
    here = Place(surface="slack", workspace="T1", channel="C1")
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path / 'moot.db'}") as database:
        await prepare(database)
        lists = DebateLists(find=find, posts=Posts(database), clients=cast("Any", None))
        looks: Sequence[Sequence[FoundDebate]] = [
            await find.in_channel(here, "U1", 10),
            await find.everywhere("T1", "U1", MOST_AT_HOME),
            await find.search("T1", "U1", "postgres", 10),
        ]
        rows = [await lists.rows(look) for look in looks]

    assert [[row.debate.id for row in listing] for listing in rows] == [[GOOD]] * len(looks)
    assert GOOD in str(home(rows[1]))
    assert notices == [BAD] * len(looks)


async def test_recall_finds_the_others(recall: RecallDecisions, notices: list[str]) -> None:
    for _ in range(2):
        assert [decision.debate.id for decision in await recall.anywhere(ASKED)] == [GOOD]
    assert set(notices) == {BAD}


class EditorDebates:
    """The debates for an editor's tools."""

    def __init__(self, find: FindDebates, recall: RecallDecisions) -> None:
        self._find, self._recall = find, recall

    async def newest(self, limit: int, *, running_only: bool) -> Sequence[Debate]:
        del running_only
        return [hit.debate for hit in await self._find.everywhere("T1", "U1", limit)]

    async def recall(self, question: str) -> Sequence[RecalledDecision]:
        return await self._recall.anywhere(question)


async def test_an_editor_is_shown_the_others(find: FindDebates, recall: RecallDecisions) -> None:
    debates = cast("CallerDebates", EditorDebates(find, recall))
    listed = await tools.TOOLS["list_debates"].perform(debates, ListArguments())
    results = await tools.TOOLS["search_decisions"].perform(debates, SearchArguments(query=ASKED))

    assert [item["debate_id"] for item in listed.model_dump()["debates"]] == [GOOD]
    assert [item["debate_id"] for item in results.model_dump()["found"]] == [GOOD]


async def test_counting_and_the_terminals_list_go_on(store: HalfBroken, find: FindDebates) -> None:
    assert (
        await CountOutcomes(store=store, on_unreadable=find.on_unreadable).cases(None, None, 9)
        == []
    )
    entries = await store.find(DebateFilter())
    listed = {values["id"]: values for values, _ in [await debate_row(store, e) for e in entries]}
    assert listed[GOOD]["decided"]
    assert set(listed) == {GOOD, BAD}


async def test_the_doctor_names_it(store: HalfBroken) -> None:
    (finding,) = await check_logs(store)

    assert finding.mark is CheckMark.BAD
    assert BAD in finding.found
    assert GOOD not in finding.found


async def test_old_debates_go_whether_they_can_be_read_or_not(tmp_path: Path) -> None:
    path = tmp_path / "moot.db"
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        await fill(database)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE events SET body = '{'")

        await EndedDebates(database).purge(NOW - timedelta(days=30))

        entries = await SqlDebateStore(database).find(DebateFilter())
    assert {entry.debate_id for entry in entries} == {"new", "run"}
