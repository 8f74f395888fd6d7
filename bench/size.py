"""What debates take of the database: one, a thousand, and a hundred thousand.

    python -m bench.size [--debates 3] [--copies 1000] [--format critique] [--rounds 3]

Holds debates with the whole bot at a local Slack, with replies of 1,800 characters, until every
post is there. Then their rows are written again under other ids, until the file holds `--copies` of
them (18 GB for 100,000), and it is measured as it lies on the disk, and how long it takes to answer
what programs and people ask. All copies are in one channel, and only one in a thousand was
decided. Then nine tenths of them are deleted as the setting of retention does it, beside a writer
that says how long it had to wait; and the file is measured again. `--deleted 0` leaves that out.
"""

import argparse
import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from bench.vendor import long_text
from bot.operations.retention import EndedDebates
from bot.queue.rows import NewPost, Posts
from bot.store.channel import Channel
from bot.store.search import DebateWords
from bot.testing import BotSpec, quick_workspace, running_bot
from core.clock import SystemClock
from core.ports import DebateFilter
from core.request import ModelRequest
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.testing import ScriptedProvider, usual_reply
from slack_on_loopback import run_workspace

#: A transaction each, so that the write-ahead log stays small.
_COPIES_AT_ONCE = 500
TARGET_BYTES = 200_000
#: Tables with rows of a debate, and their column with its id.
_TABLES = (
    ("debates", "id"),
    ("events", "debate_id"),
    ("spending", "debate_id"),
    ("posts", "debate_id"),
    ("debate_words", "debate_id"),
)
#: Columns that must be unique in the whole table: the copy's id is put before them.
_UNIQUE = frozenset({"origin", "key"})


def reply_of(request: ModelRequest) -> str:
    """A reply of the right form: a text of its own and as long as models', or a usual structure."""
    if request.answer is not None:
        return usual_reply(request)
    return long_text(repr(request.parts))


@dataclass(frozen=True, kw_only=True)
class Size:
    """What was measured; sizes are bytes."""

    debates: int
    #: Of the file, write-ahead log emptied, by debate.
    each: float
    #: The largest shares of it: table or index → bytes by debate.
    parts: Sequence[tuple[str, float]]
    #: What was asked → seconds until the answer: the first time, and the best of three.
    answers: Mapping[str, tuple[float, float]]
    #: Of the file before and after most were deleted.
    before: int
    after: int
    #: Seconds that deleting took.
    deleting: float
    #: The longest that a write had to wait meanwhile, in seconds.
    longest_wait: float


async def hold(database: Path, debates: int, form: str, rounds: int) -> None:
    """Hold debates with the whole bot, until every post is in the workspace."""
    spec = BotSpec(provider=ScriptedProvider(reply_of), rounds=rounds)
    async with (
        run_workspace(quick_workspace()) as workspace,
        running_bot(workspace, database=database, spec=spec) as team,
    ):
        for number in range(debates):
            question = f"Choice {number}: Kafka or a table for our jobs?"
            board = await team.debate(f"--format {form} {question}")
            await team.wait_for_end(board, seconds=300)


def copy(connection: sqlite3.Connection, copies: int, deleted: float) -> None:
    """Write the debates' rows again under other ids, until there are so many debates.

    Args:
        connection: To a file with some debates.
        copies: So many there are in the end.
        deleted: The share of them that ended long ago.
    """
    ids = [row[0] for row in connection.execute("SELECT id FROM debates")]
    statements = [_statement(connection, table, id_column) for table, id_column in _TABLES]
    wanted = range(copies - len(ids))
    for first in range(0, len(wanted), _COPIES_AT_ONCE):
        with connection:
            some = [
                {"made": f"c{number:07d}", "model": ids[number % len(ids)]}
                for number in wanted[first : first + _COPIES_AT_ONCE]
            ]
            for statement in statements:
                connection.executemany(statement, some)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with connection:
        connection.execute(
            "UPDATE debates SET ended_at = '2020-01-01 00:00:00' WHERE id LIKE 'c%' AND id >= ?",
            (f"c{round(copies * (1 - deleted)):07d}",),
        )
        connection.execute(
            "INSERT INTO debate_words_rows SELECT debate_id, rowid FROM debate_words "
            "WHERE debate_id LIKE 'c%'"
        )
        connection.execute(
            "UPDATE events SET key = 'decision/' || key WHERE seq = 2 AND debate_id LIKE 'c%000'"
        )


def _statement(connection: sqlite3.Connection, table: str, id_column: str) -> str:
    """The statement that writes a table's rows of a debate again."""
    columns = [
        name
        for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")
        if (table, name) != ("posts", "id")
    ]
    values = [
        ":made" if name == id_column else f":made || '/' || {name}" if name in _UNIQUE else name
        for name in columns
    ]
    which = f"{id_column} = :model"
    if table == "debate_words":  # which finds a row by its number alone
        which = "rowid = (SELECT row FROM debate_words_rows WHERE debate_id = :model)"
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608 - our own names
        f"SELECT {', '.join(values)} FROM {table} WHERE {which}"
    )


async def ask(path: Path) -> Mapping[str, tuple[float, float]]:
    """Ask what programs and people do, in a file that was just opened.

    Returns: what was asked → seconds until the answer, the first time and the best of three.
    """
    took: dict[str, tuple[float, float]] = {}

    async def timed(what: str, asked: Callable[[], Awaitable[object]]) -> None:
        times: list[float] = []
        for _ in range(3):
            began = time.perf_counter()
            await asked()
            times.append(time.perf_counter() - began)
        took[what] = times[0], min(times)

    began = time.perf_counter()
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        opened = time.perf_counter() - began
        took["open the file"] = opened, opened
        store, posts, words = SqlDebateStore(database), Posts(database), DebateWords(database)
        [any_debate] = await store.find(DebateFilter(limit=1))
        workspace, channel = any_debate.workspace, any_debate.channel
        of_channel = DebateFilter(workspace=workspace, channels=[channel])
        await timed("which debates go on", store.unfinished)
        await timed("which have news", store.unpublished)
        await timed("which lanes have work", posts.lanes_with_work)
        await timed("the newest 20 anywhere", lambda: store.find(DebateFilter()))
        await timed("the newest 20 of a channel", lambda: store.find(of_channel))
        await timed(
            "50 that were decided",
            lambda: store.find(replace(of_channel, having=["decision/"], limit=50)),
        )
        await timed("a debate's log", lambda: store.events(any_debate.debate_id))
        await timed(
            "set the words a debate is found by",
            lambda: words.put(any_debate.debate_id, Channel(workspace, channel), "Kafka or SQS?"),
        )
        today = SystemClock().now().date()
        await timed("what was spent today", lambda: store.spent(today, workspace=workspace))
        for word in ("choice", "c0000042"):
            told = "a word of all debates" if word == "choice" else "a word of none"
            await timed(f"search for {told}", partial(words.find, workspace, [channel], word, 20))
    return took


async def measure(
    debates: int, copies: int, form: str, rounds: int, *, deleted: float = 0.9
) -> Size:
    """Measure all of it; `deleted` is the share that is deleted in the end."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moot.db"
        await hold(path, debates, form, rounds)
        with closing(sqlite3.connect(path)) as connection:
            copy(connection, copies, deleted)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            found = connection.execute(
                "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 8"
            ).fetchall()
        before = path.stat().st_size
        answers = await ask(path)
        took, wait = await _delete(path) if deleted else (0.0, 0.0)
        return Size(
            debates=copies,
            each=before / copies,
            parts=[(name, size / copies) for name, size in found],
            answers=answers,
            before=before,
            after=path.stat().st_size,
            deleting=took,
            longest_wait=wait,
        )


async def _delete(path: Path) -> tuple[float, float]:
    """Delete what ended long ago, beside somebody who writes; seconds, and the longest wait."""
    async with await Database.open(f"sqlite+aiosqlite:///{path}") as database:
        posts, waits = Posts(database), [0.0]

        async def write() -> None:
            number = 0
            while True:
                number += 1
                began = time.perf_counter()
                post = NewPost(
                    key=f"w{number}", workspace="T", channel="C", method="post", payload={}
                )
                await posts.enqueue([post])
                waits.append(time.perf_counter() - began)
                await asyncio.sleep(0.01)

        writing = asyncio.create_task(write())
        began = time.perf_counter()
        await EndedDebates(database).purge(SystemClock().now() - timedelta(days=365))
        took = time.perf_counter() - began
        writing.cancel()
        return took, max(waits)


def main() -> None:
    """Print what was measured, and what was only multiplied."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=3, help="held with the whole bot")
    parser.add_argument("--copies", type=int, default=1000, help="debates in the file")
    parser.add_argument("--format", default="critique")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--deleted", type=float, default=0.9, help="share that is deleted, 0 to 1")
    given = parser.parse_args()
    measured = measure(
        given.debates, given.copies, given.format, given.rounds, deleted=given.deleted
    )
    found = asyncio.run(measured)
    print(f"load {os.getloadavg()[0]:.1f}; three agents, {given.rounds} rounds, {given.format}")
    ratio = found.each / TARGET_BYTES
    print(f"a debate: {found.each / 1000:.0f} KB (ratio to {TARGET_BYTES // 1000} KB: {ratio:.2f})")
    for name, size in found.parts:
        print(f"  {name}: {size / 1000:.1f} KB")
    print(f"{found.debates} debates, measured: {found.before / 1e6:.0f} MB")
    for what, (first, best) in found.answers.items():
        print(f"  {what}: {1000 * best:.1f} ms, the first time {1000 * first:.1f}")
    if given.deleted:
        print(
            f"{given.deleted:.0%} deleted in {found.deleting:.1f} s while others write (longest "
            f"wait {1000 * found.longest_wait:.0f} ms): {found.after / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    main()
