"""What only a database can do to a log: be damaged, be opened again."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import update

from core.debate.agents import Agent
from core.debate.contributions import Note
from core.debate.debate_events import DebateStarted
from core.debate.message_events import NoteAdded
from core.debate.people import Person
from core.debate.setup import Setup
from core.errors import StoreError
from core.ports import DebateFilter
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import EVENTS, prepare

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
JOAN = Person(id="U1")
ANN = Agent(id="ann", name="Ann", role="architect", provider="offline", model="m")
START = DebateStarted(
    setup=Setup(question="Which?", asked_by=JOAN, agents=(ANN,), judge=ANN, delimiter="x")
)
NOTE = NoteAdded(note=Note(id="n1", author=JOAN, text="Mind the cost"))


def location(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder}/debates.db"


async def test_everything_is_there_after_opening_again(tmp_path: Path) -> None:
    async with await Database.open(location(tmp_path)) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        await store.create("d1", START, origin="o1", at=NOON)
        await store.append("d1", NOTE, at=NOON, run=await store.claim("d1"))
        await store.mark_published("d1", 1)
        log = await store.events("d1")

    async with await Database.open(location(tmp_path)) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        assert await store.events("d1") == log
        assert await store.published_seq("d1") == 1
        assert await store.unfinished_ids() == ["d1"]
        assert (await store.claim("d1")).number == 2


@pytest.mark.parametrize("body", ["", "{", '{"kind": "moon_landing"}', '{"kind": "note_added"}'])
async def test_a_damaged_event_is_named_and_other_debates_go_on(tmp_path: Path, body: str) -> None:
    async with await Database.open(location(tmp_path)) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        for name in ("d1", "d2"):
            await store.create(name, START, origin=name, at=NOON)
            await store.append(name, NOTE, at=NOON)
        damage = update(EVENTS).where(EVENTS.c.debate_id == "d1", EVENTS.c.seq == 2)
        await database.write(lambda c: c.execute(damage.values(body=body)).rowcount)

        with pytest.raises(StoreError, match="Event 2 of the debate d1"):
            await store.events("d1")
        with pytest.raises(StoreError, match="Event 2 of the debate d1"):
            await store.append("d1", NOTE, at=NOON)
        assert len(await store.events("d2")) == 2
        assert len(await store.find(DebateFilter())) == 2
        assert list(await store.unfinished_ids()) == ["d1", "d2"]
