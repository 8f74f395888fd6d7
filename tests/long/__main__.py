"""`python -m tests.long --hours 6 [--postgres]`: debates with faults for hours; is all flat?"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bot.building import database_url
from tests.long.life import Life, Sample, live
from tests.postgres import running_postgres

_HEAD = (
    "| hours | debates | memory | open files | tasks | posts waiting | database | by debate |\n"
    "|---|---|---|---|---|---|---|---|"
)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.long", description=__doc__)
    parser.add_argument("--hours", type=float, default=6)
    parser.add_argument("--every", type=float, default=12, help="seconds between two debates")
    parser.add_argument("--rows", type=int, default=12, help="of the table")
    parser.add_argument("--postgres", action="store_true", help="not on SQLite")
    return parser.parse_args()


@contextmanager
def _database(*, postgres: bool) -> Generator[str]:
    if not postgres:
        yield ""
        return
    with running_postgres() as server:
        yield database_url(server.fresh_database())


def _row(one: Sample) -> str:
    size = f"{one.database / 1e6:.1f} MB" if one.database else "–"
    share = f"{one.database / one.debates / 1e3:.0f} KB" if one.database and one.debates else "–"
    cells = [f"{one.hours:.2f}", one.debates, f"{one.memory / 1e6:.0f} MB", one.files, one.tasks]
    return "| " + " | ".join(map(str, (*cells, one.waiting, size, share))) + " |"


def _growth(samples: Sequence[Sample]) -> str:
    """Memory by debate of the second half: by then caches are full, or nearly."""
    half, last = samples[len(samples) // 2], samples[-1]
    debates = last.debates - half.debates
    return f"{(last.memory - half.memory) / debates / 1e3:.1f} KB" if debates > 0 else "–"


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - that is what it is for


def main() -> int:
    """Live, print a row of figures now and then; exit 1 if something was lost or doubled."""
    asked = _arguments()
    life = Life(hours=asked.hours, every=asked.every, rows=asked.rows)
    folder = Path(tempfile.mkdtemp(prefix="moot-long-"))
    samples = list[Sample]()

    def take(sample: Sample) -> None:
        samples.append(sample)
        _say(_row(sample))

    _say(_HEAD)
    with _database(postgres=asked.postgres) as database:
        found = asyncio.run(live(life, folder, database, take))
    _say(f"{_growth(samples)} of memory more by debate in the second half")
    _say(f"{found.debates} debates, {found.posts} posts; wrong: {dict(found.faults) or 'nothing'}")
    _say(f"the log: {folder}")
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
