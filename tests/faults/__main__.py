"""`python -m tests.faults storm|life`: disturb a running bot for longer than tests do.

`storm` kills and freezes processes while Slack drops answers and refuses some calls for good,
and `life` debates for hours. The exit code is 1 for errors.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

from bot.building import database_url
from tests.faults.life import HEAD, Life, Sample, live
from tests.faults.storm import Storm, blow
from tests.postgres import PostgresForTests, running_postgres


def _say(line: object) -> None:
    print(line, flush=True)  # noqa: T201 - that is what it is for


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.faults", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    storm = kinds.add_parser("storm")
    storm.add_argument("--debates", type=int, default=30)
    storm.add_argument("--blows", type=int, default=20)
    storm.add_argument("--freezes", type=int, default=10)
    storm.add_argument("--replicas", type=int, default=1)
    hits = "every second time PostgreSQL"
    storm.add_argument("--hit-server", dest="hits_server", action="store_true", help=hits)
    storm.add_argument("--seed", type=int, default=1)
    life = kinds.add_parser("life")
    life.add_argument("--hours", type=float, default=6)
    life.add_argument("--every", type=float, default=12, help="seconds between two debates")
    life.add_argument("--rows", type=int, default=12, help="of the table")
    for kind in (storm, life):
        kind.add_argument("--postgres", action="store_true", help="not on SQLite")
    options = parser.parse_args()
    wants_server = options.kind == "storm" and (options.replicas > 1 or options.hits_server)
    if wants_server and not options.postgres:
        parser.error("SQLite has no server and one process: add --postgres")
    return options


async def _storm(
    options: argparse.Namespace, folder: Path, postgres: PostgresForTests | None
) -> int:
    storm = {field.name: getattr(options, field.name) for field in fields(Storm)}
    outcome = await blow(Storm(**storm), folder, postgres)
    _say(outcome)
    return len(outcome.audit.faults)


async def _life(
    options: argparse.Namespace, folder: Path, postgres: PostgresForTests | None
) -> int:
    samples = list[Sample]()

    def take(sample: Sample) -> None:
        samples.append(sample)
        _say(sample)

    _say(HEAD)
    life = Life(hours=options.hours, every=options.every, rows=options.rows)
    database = database_url(postgres.fresh_database()) if postgres else ""
    audit = await live(life, folder, database, take)
    _say(f"{_growth(samples)} of memory more by debate in the second half")
    _say(audit)
    return len(audit.faults)


def _growth(samples: Sequence[Sample]) -> str:
    """Memory per debate in the second half of the run, when caches are nearly full."""
    half, last = samples[len(samples) // 2], samples[-1]
    debates = last.debates - half.debates
    return f"{(last.memory - half.memory) / debates / 1e3:.1f} KB" if debates > 0 else "–"


def main() -> int:
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="moot-faults-"))
    kind = {"storm": _storm, "life": _life}[options.kind]
    with running_postgres() if options.postgres else nullcontext() as postgres:
        faults = asyncio.run(kind(options, folder, postgres))
    _say(f"{faults} went wrong; logs: {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
