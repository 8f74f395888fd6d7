"""`python -m tests.faults troubles|storm|life`: hurt a running bot; exit 1 on faults.

`troubles [NAME …]` holds a drill of each, `storm` kills processes while Slack drops answers, and
`life` debates for hours.
"""

import argparse
import asyncio
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from bot.building import database_url
from core.figures import duration
from tests.faults.drill import DrillOutcome, drill
from tests.faults.life import HEAD, Life, Sample, live
from tests.faults.storm import Storm, blow
from tests.faults.troubles import TROUBLES, Impossible
from tests.postgres import PostgresForTests, running_postgres

_HEAD = (
    "| trouble | seconds | a command meanwhile | /health | well again | note taken "
    "| all decided | lost | doubled | calls made again | SIGTERM |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def _say(line: object) -> None:
    print(line, flush=True)  # noqa: T201 - that is what it is for


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.faults", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    troubles = kinds.add_parser("troubles", help=", ".join(TROUBLES))
    troubles.add_argument("names", nargs="*", choices=[*TROUBLES, []])
    troubles.add_argument("--seconds", type=float, default=30)
    troubles.add_argument("--at-once", type=int, default=2)
    troubles.add_argument("--only", choices=("riding", "ending"))
    storm = kinds.add_parser("storm")
    storm.add_argument("--debates", type=int, default=30)
    storm.add_argument("--blows", type=int, default=20)
    storm.add_argument("--replicas", type=int, default=1)
    storm.add_argument("--hit-server", action="store_true", help="every second time PostgreSQL")
    storm.add_argument("--seed", type=int, default=1)
    life = kinds.add_parser("life")
    life.add_argument("--hours", type=float, default=6)
    life.add_argument("--every", type=float, default=12, help="seconds between two debates")
    life.add_argument("--rows", type=int, default=12, help="of the table")
    for kind in (storm, life):
        kind.add_argument("--postgres", action="store_true", help="not on SQLite")
    options = parser.parse_args()
    wants_server = options.kind == "storm" and (options.replicas > 1 or options.hit_server)
    if wants_server and not options.postgres:
        parser.error("SQLite has no server and one process: add --postgres")
    return options


def _row(outcome: DrillOutcome) -> str:
    audit = outcome.audit
    figures = [audit.lost, audit.doubled, audit.recorded_repeats] if audit else ["?"] * 3
    cells = [
        outcome.what,
        f"{outcome.lasted:.0f}",
        " ".join(outcome.answer.split())[:110],
        f"{outcome.health} after {outcome.noticed:.1f} s" if outcome.health else "–",
        f"{outcome.well_after:.1f} s",
        f"{outcome.noted_after:.1f} s",
        duration(round(outcome.done_after)),
        *map(str, figures),
        f"code {outcome.stop[0]}, {outcome.stop[1]:.1f} s",
    ]
    return "\n    ! ".join(("| " + " | ".join(cells) + " |", *outcome.wrong))


async def _troubles(
    options: argparse.Namespace, folder: Path, postgres: PostgresForTests | None
) -> int:
    gate, server = asyncio.Semaphore(options.at_once), asyncio.Semaphore(1)

    async def hold(name: str, *, ending: bool) -> bool:
        alone = server if TROUBLES[name].on_postgres else nullcontext()
        place = folder / (f"{name}-ended" if ending else name)
        async with alone, gate:
            try:
                outcome = await drill(
                    name, place, seconds=options.seconds, ending=ending, postgres=postgres
                )
            except Impossible as error:
                _say(f"| {TROUBLES[name].what} | left out: {error} |")
                return False
            except Exception as error:  # noqa: BLE001 - the others shall be held
                at = traceback.extract_tb(error.__traceback__)[-1]
                words = f"{type(error).__name__}: {error} ({at.name}:{at.lineno})"
                outcome = DrillOutcome(what=TROUBLES[name].what, wrong=[words])
        _say(_row(outcome))
        return bool(outcome.wrong)

    _say(_HEAD)
    drills = [
        hold(name, ending=ending)
        for name in options.names or TROUBLES
        for ending in (False, True)
        if not (ending and TROUBLES[name].restarts)
        and options.only in {None, "ending" if ending else "riding"}
    ]
    return sum(await asyncio.gather(*drills))


async def _storm(
    options: argparse.Namespace, folder: Path, postgres: PostgresForTests | None
) -> int:
    storm = Storm(
        debates=options.debates,
        blows=options.blows,
        replicas=options.replicas,
        hits_server=options.hit_server,
        seed=options.seed,
    )
    outcome = await blow(storm, folder, postgres)
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
    """Memory by debate of the second half: by then caches are full, or nearly."""
    half, last = samples[len(samples) // 2], samples[-1]
    debates = last.debates - half.debates
    return f"{(last.memory - half.memory) / debates / 1e3:.1f} KB" if debates > 0 else "–"


def main() -> int:
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="moot-faults-"))
    kind = {"troubles": _troubles, "storm": _storm, "life": _life}[options.kind]
    if options.kind == "troubles":
        on_postgres = any(TROUBLES[name].on_postgres for name in options.names or TROUBLES)
    else:
        on_postgres = options.postgres
    with running_postgres() if on_postgres else nullcontext() as postgres:
        faults = asyncio.run(kind(options, folder, postgres))
    _say(f"{faults} went wrong; logs: {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
