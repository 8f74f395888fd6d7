"""kill -9 at any moment: every acknowledged event is there afterwards, in order, none twice."""

import asyncio
import random
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from core.debate.log import RecordedEvent
from core.debate.message_events import NoteAdded
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare

ROOT = Path(__file__).parents[3]
APPENDER = Path(__file__).with_name("appender.py")
LIVES = 5


async def live_and_be_killed(location: str, life: int, seconds: float) -> list[str]:
    """Names of the notes a process saw acknowledged before it was killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(APPENDER), location, str(life)),
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    first = await process.stdout.readline()
    await asyncio.sleep(seconds)
    process.kill()
    rest, _ = await process.communicate()
    lines = (first + rest).decode().splitlines(keepends=True)
    # The last line may have been cut off while it was printed.
    return [line.strip() for line in lines if line.endswith("\n")]


def by_writer(names: Iterable[str]) -> dict[str, list[int]]:
    """The numbers each task of each life wrote, in the order given."""
    numbers = defaultdict[str, list[int]](list)
    for name in names:
        writer, _, number = name.rpartition("-")
        numbers[writer].append(int(number))
    return numbers


def noted(log: Iterable[RecordedEvent]) -> list[str]:
    """Names of the notes in the log."""
    events = [recorded.event for recorded in log]
    return [event.note.id for event in events if isinstance(event, NoteAdded)]


@pytest.mark.slow
async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    dice = random.Random(11)
    location = f"sqlite+aiosqlite:///{tmp_path}/moot.db"
    acknowledged: list[str] = []
    for life in range(LIVES):
        acknowledged += await live_and_be_killed(location, life, dice.uniform(0.0, 0.3))

    async with await Database.open(location) as database:
        await prepare(database)
        log = list(await SqlDebateStore(database).events("d1"))

    names = noted(log)
    assert len(acknowledged) >= LIVES
    assert set(acknowledged) <= set(names)
    assert len(names) == len(set(names))
    assert [recorded.seq for recorded in log] == list(range(1, len(log) + 1))
    for numbers in by_writer(names).values():
        assert numbers == list(range(len(numbers)))
