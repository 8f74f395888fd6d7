"""`python -m tests.drill [NAME …] [--seconds 30] [--at-once 2]`: the table; exit 1 on faults."""

import argparse
import asyncio
import sys
import tempfile
import traceback
from contextlib import ExitStack
from pathlib import Path

from core.figures import duration
from tests.drill.drill import Seen, drill
from tests.drill.faults import TROUBLES, Impossible
from tests.postgres import running_postgres

_HEAD = (
    "| trouble | seconds | a command meanwhile | /health | well again | note taken "
    "| all decided | lost | doubled | calls made again | SIGTERM |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - that is what it is for


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.drill", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TROUBLES, []])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--only", choices=("riding", "ending"))
    return parser.parse_args()


def row(seen: Seen) -> str:
    """One line of the table."""
    found = seen.found
    figures = [found.lost, found.doubled, found.recorded_repeats] if found else ["?"] * 3
    noticed = f"{seen.health} after {seen.noticed:.1f} s" if seen.health else "–"
    cells = [
        seen.what,
        f"{seen.lasted:.0f}",
        " ".join(seen.told.split())[:110],
        noticed,
        f"{seen.well_after:.1f} s",
        f"{seen.noted_after:.1f} s",
        duration(round(seen.done_after)),
        *map(str, figures),
        f"code {seen.stop[0]}, {seen.stop[1]:.1f} s",
    ]
    return "| " + " | ".join(cells) + " |"


async def _all(asked: argparse.Namespace, folder: Path) -> int:
    gate, faults = asyncio.Semaphore(asked.at_once), 0
    with ExitStack() as stack:
        names = asked.names or list(TROUBLES)
        wants_server = any(TROUBLES[name].on_postgres for name in names)
        postgres = stack.enter_context(running_postgres()) if wants_server else None
        server = asyncio.Semaphore(1)

        async def one(name: str, *, ending: bool) -> None:
            nonlocal faults
            alone = server if TROUBLES[name].on_postgres else asyncio.Semaphore(1)
            place = folder / (f"{name}-ended" if ending else name)
            async with alone, gate:
                try:
                    seen = await drill(
                        name, place, seconds=asked.seconds, ending=ending, postgres=postgres
                    )
                except Impossible as error:
                    _say(f"| {TROUBLES[name].what} | left out: {error} |")
                    return
                except Exception as error:  # noqa: BLE001 - the others shall be held
                    seen = Seen(name=name, what=TROUBLES[name].what)
                    at = traceback.extract_tb(error.__traceback__)[-1]
                    seen.wrong.append(f"{type(error).__name__}: {error} ({at.name}:{at.lineno})")
            _say(row(seen))
            for wrong in seen.wrong:
                _say(f"    ! {wrong}")
            faults += bool(seen.wrong)

        _say(_HEAD)
        wanted = [(name, ending) for name in names for ending in (False, True)]
        if asked.only:
            wanted = [one for one in wanted if one[1] == (asked.only == "ending")]
        wanted = [
            (name, ending) for name, ending in wanted if not (ending and TROUBLES[name].restarts)
        ]
        await asyncio.gather(*(one(name, ending=ending) for name, ending in wanted))
    return faults


def main() -> int:
    """Hold the drills, print the table."""
    asked = _arguments()
    folder = Path(tempfile.mkdtemp(prefix="moot-drill-"))
    faults = asyncio.run(_all(asked, folder))
    _say(f"{faults} drills went wrong; logs: {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
