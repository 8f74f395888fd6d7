"""Run by `test_kill.py` as a process to be killed: appends events and prints what was acknowledged.

Usage: python appender.py LOCATION LIFE. Several tasks append `<life>-<task>-<number>` in order.
"""

import asyncio
import itertools
import sys
from datetime import UTC, datetime

from core.debate.agents import Agent
from core.debate.contributions import Note
from core.debate.debate_events import DebateStarted
from core.debate.message_events import NoteAdded
from core.debate.people import Person
from core.debate.setup import Setup
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
JOAN = Person(id="U1")
ANN = Agent(id="ann", name="Ann", role="architect", provider="offline", model="m")
START = DebateStarted(
    setup=Setup(question="Which?", asked_by=JOAN, agents=(ANN,), judge=ANN, delimiter="x")
)


async def append_on_and_on(store: SqlDebateStore, name: str) -> None:
    """Append until killed; a line is printed only after the store has answered."""
    for number in itertools.count():
        event = NoteAdded(note=Note(id=f"{name}-{number}", author=JOAN, text="x" * 300))
        result = await store.append("d1", event, at=NOON)
        assert result.fresh
        sys.stdout.write(f"{event.note.id}\n")
        sys.stdout.flush()


async def main(location: str, life: str) -> None:
    """Append with three tasks at once, so that commits hold more than one event."""
    async with await Database.open(location) as database:
        await prepare(database)
        store = SqlDebateStore(database)
        await store.create("d1", START, origin="o1", at=NOON)
        await asyncio.gather(*(append_on_and_on(store, f"{life}-{task}") for task in range(3)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
