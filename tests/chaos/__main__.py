"""`python -m tests.chaos --debates 30 --seconds 60 [--postgres --replicas 3]`: exit 1 on faults.

`--blows 15` in place of `--seconds`: `moot run` on PostgreSQL; the process and the server are hit
in turn.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bot.building import database_url
from tests.chaos.program import blow_on_program
from tests.chaos.storm import Storm, blow
from tests.postgres import running_postgres


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.chaos", description=__doc__)
    parser.add_argument("--debates", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--blows", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


@contextmanager
def _database(folder: Path, *, postgres: bool) -> Generator[str]:
    if not postgres:
        yield database_url(str(folder / "moot.db"))
        return
    with running_postgres() as server:
        yield database_url(server.fresh_database())


def main() -> int:
    """Blow, print the figures."""
    asked = _arguments()
    storm = Storm(
        debates=asked.debates,
        seconds=asked.seconds,
        replicas=asked.replicas if asked.postgres else 1,
        seed=asked.seed,
    )
    folder = Path(tempfile.mkdtemp(prefix="moot-chaos-"))
    if asked.blows:
        with running_postgres() as server:
            survived = asyncio.run(
                blow_on_program(server, folder, debates=asked.debates, blows=asked.blows)
            )
        print(survived)  # noqa: T201 - that is what it is for
        return 1 if survived.audit.faults else 0
    with _database(folder, postgres=asked.postgres) as location:
        outcome = asyncio.run(blow(storm, location, folder))
    print(outcome)  # noqa: T201 - that is what it is for
    print(f"logs of the replicas: {folder}")  # noqa: T201 - that is what it is for
    return 1 if outcome.audit.faults else 0


if __name__ == "__main__":
    sys.exit(main())
