"""What debates take of the database: one, a thousand, and what a hundred thousand would.

    python -m bench.size [--debates 3] [--copies 1000] [--format critique] [--rounds 3]

Holds debates with the whole bot at a local Slack, with replies of 1,800 characters, until every
post is there. Then their rows are written again under other ids, until the file holds `--copies` of
them, and it is measured as it lies on the disk. For 100,000 debates that figure is multiplied.
Then nine tenths of them are deleted as the setting of retention does it, beside a writer that says
how long it had to wait; and the file is measured again.
"""

import argparse
import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bench.vendor import long_text
from bot.operations.retention import EndedDebates
from bot.store.posts import NewPost, Posts
from bot.testing import BotSpec, quick_workspace, running_bot
from core.clock import SystemClock
from core.request import ModelRequest
from core.store.database import Database
from core.testing import ScriptedProvider
from core.usual_replies import usual_reply
from slack_on_loopback import run_workspace

MANY = 100_000
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
    #: Of the file before and after nine tenths were deleted.
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


def copy(connection: sqlite3.Connection, copies: int) -> None:
    """Write the debates' rows again under other ids, until there are so many debates."""
    ids = [row[0] for row in connection.execute("SELECT id FROM debates")]
    for number in range(copies - len(ids)):
        model, made = ids[number % len(ids)], f"c{number:07d}"
        for table, id_column in _TABLES:
            columns = [
                name
                for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")
                if (table, name) != ("posts", "id")
            ]
            values = [
                ":made"
                if name == id_column
                else f":made || '/' || {name}"
                if name in _UNIQUE
                else name
                for name in columns
            ]
            connection.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608 - our own names
                f"SELECT {', '.join(values)} FROM {table} WHERE {id_column} = :model",
                {"made": made, "model": model},
            )
    connection.execute("UPDATE debates SET ended_at = '2020-01-01 00:00:00' WHERE id > 'c0000099'")


async def measure(debates: int, copies: int, form: str, rounds: int) -> Size:
    """Measure all of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moot.db"
        await hold(path, debates, form, rounds)
        with closing(sqlite3.connect(path)) as connection:
            with connection:
                copy(connection, copies)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            found = connection.execute(
                "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 8"
            ).fetchall()
        before = path.stat().st_size
        took, wait = await _delete(path)
        return Size(
            debates=copies,
            each=before / copies,
            parts=[(name, size / copies) for name, size in found],
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
    given = parser.parse_args()
    found = asyncio.run(measure(given.debates, given.copies, given.format, given.rounds))
    print(f"load {os.getloadavg()[0]:.1f}; three agents, {given.rounds} rounds, {given.format}")
    ratio = found.each / TARGET_BYTES
    print(f"a debate: {found.each / 1000:.0f} KB (ratio to {TARGET_BYTES // 1000} KB: {ratio:.2f})")
    for name, size in found.parts:
        print(f"  {name}: {size / 1000:.1f} KB")
    print(f"{found.debates} debates, measured: {found.before / 1e6:.0f} MB")
    print(f"{MANY} debates, multiplied, not measured: {found.each * MANY / 1e9:.1f} GB")
    print(
        f"nine tenths deleted in {found.deleting:.1f} s while others write (longest wait "
        f"{1000 * found.longest_wait:.0f} ms): {found.after / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
