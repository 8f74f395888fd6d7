"""The size of a debate in the database.

    python -m bench.size [--debates 4] [--format critique] [--rounds 3]

Runs debates with the bot and a local Slack, with replies of 1,800 characters, until every post is
sent, and measures the growth of the file after the first debate.
"""

import argparse
import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from bench.vendor import long_text
from bot.testing import BotSpec, quick_workspace, running_bot
from core.request import ModelRequest
from core.testing import ScriptedProvider, usual_reply
from slack_on_loopback import run_workspace

TARGET_BYTES = 200_000


def reply_of(request: ModelRequest) -> str:
    if request.answer is not None:
        return usual_reply(request)
    return long_text(repr(request.parts))


async def measure(debates: int, form: str, rounds: int) -> float:
    """Return the bytes of the file per debate; needs at least two debates."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moot.db"
        spec = BotSpec(provider=ScriptedProvider(reply_of), rounds=rounds)
        sizes: list[int] = []
        async with (
            run_workspace(quick_workspace()) as workspace,
            running_bot(workspace, database=path, spec=spec) as team,
        ):
            for number in range(debates):
                question = f"Choice {number}: Kafka or a table for our jobs?"
                board = await team.debate(f"--format {form} {question}")
                await team.wait_for_end(board, seconds=300)
                sizes.append(_size(path))
    return (sizes[-1] - sizes[0]) / (debates - 1)


def _size(path: Path) -> int:
    """Return the bytes in use, without free pages."""
    with closing(sqlite3.connect(path)) as connection:
        [pages] = connection.execute("PRAGMA page_count").fetchone()
        [free] = connection.execute("PRAGMA freelist_count").fetchone()
        [page_bytes] = connection.execute("PRAGMA page_size").fetchone()
    return (pages - free) * page_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=4)
    parser.add_argument("--format", default="critique")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    size = asyncio.run(measure(options.debates, options.format, options.rounds))
    ratio = size / TARGET_BYTES
    print(f"a debate: {size / 1000:.0f} KB (ratio to {TARGET_BYTES // 1000} KB: {ratio:.2f})")


if __name__ == "__main__":
    main()
