"""`python -m tests.outside [NUMBER …] [--at-once 4]`: faults of earlier days tried again; a table.

Exit code 1 if one is back.

Each is tried on a `moot run` of its own, over HTTP and WebSocket; nothing looks inside but at the
database and the log it leaves. It takes some five minutes.
"""

import argparse
import asyncio
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.outside import holding_up, keeping, showing
from tests.outside.stand import Fault, Ground, Seen
from tests.postgres import running_postgres

FAULTS = sorted(
    (*holding_up.FAULTS, *keeping.FAULTS, *showing.FAULTS), key=lambda fault: fault.number
)
#: Seconds that one may take.
_LONGEST = 300.0
_HEAD = "| | fault | before | now | |\n|---|---|---|---|---|"


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - that is what it is for


async def _try(fault: Fault, ground: Ground, gate: asyncio.Semaphore) -> bool:
    async with gate:
        ground.folder.mkdir()
        began = time.monotonic()
        try:
            async with asyncio.timeout(_LONGEST):
                seen = await fault.attempt(ground)
        except Exception as error:  # noqa: BLE001 - the others shall be tried
            at = traceback.extract_tb(error.__traceback__)[-1]
            said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            seen = Seen(now=f"{said} ({at.name}:{at.lineno})", mended=False)
        taken = time.monotonic() - began
    state = "mended" if seen.mended else "**broken**"
    _say(
        f"| {fault.number} | {fault.what} | {fault.before} | {seen.now} | {state}, {taken:.0f} s |"
    )
    return seen.mended


async def _try_all(numbers: list[int], at_once: int, folder: Path) -> int:
    gate = asyncio.Semaphore(at_once)
    with running_postgres() as postgres:
        wanted = [fault for fault in FAULTS if not numbers or fault.number in numbers]
        mended = await asyncio.gather(
            *(
                _try(
                    fault,
                    Ground(folder / f"{fault.number}-{fault.attempt.__name__}", postgres),
                    gate,
                )
                for fault in wanted
            )
        )
    return mended.count(False)


def main() -> int:
    """Try them, print the table."""
    parser = argparse.ArgumentParser(prog="tests.outside", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--at-once", type=int, default=4)
    asked = parser.parse_args()
    folder, began = Path(tempfile.mkdtemp(prefix="moot-outside-")), time.monotonic()
    _say(_HEAD)
    broken = asyncio.run(_try_all(asked.numbers, asked.at_once, folder))
    _say(f"{broken} broken; {time.monotonic() - began:.0f} s; logs: {folder}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
