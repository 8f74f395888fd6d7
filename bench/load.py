"""What one process holds: engine overhead per turn, acks under load, memory and idle CPU.

    python -m bench.load [--debates 500] [--latency 5] [--spread 60] [--parked 1000]

The workspace and its people run in one process, the bot in another: real Bolt, real WebSocket, real
SQLite on disk; only the models are scripted, and take the same time for every call. Debates begin
evenly over the spread, as people would ask, and all run at once. It stops by itself.
"""

import argparse
import asyncio
import json
import platform
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bot.ids import ActionId
from bot.testing import key_of, socket_access
from bot.workspace.config import ChannelSpec, WorkspaceConfig
from bot.workspace.errors import PersonRefusal
from bot.workspace.rates import QUICK
from bot.workspace.workspace import Workspace, run_workspace

ROOT = Path(__file__).parents[1]
CHANNELS = 100
#: Seconds between two people who type or click.
PERSON_PAUSE = 0.25
#: Seconds that everything may take beyond what the debates need.
PATIENCE = 300


class Bot:
    """The bot's process, which does as it is told, a line at a time."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def ask(self, **orders: Any) -> Any:
        """Give orders; return what came of them."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(orders).encode() + b"\n")
        return json.loads(await self._process.stdout.readline())


@asynccontextmanager
async def a_bot(workspace: Workspace, folder: Path, latency: float) -> AsyncGenerator[Bot]:
    """Run the bot for as long as the block lasts."""
    access = json.dumps(asdict(socket_access(workspace)))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.load_bot", access, str(folder / "moot.db"), str(latency)),
        cwd=ROOT,
        stdin=PIPE,
        stdout=PIPE,
    )
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        yield Bot(process)
    finally:
        process.terminate()
        await process.wait()


async def acks(workspace: Workspace, channels: Sequence[str], until: asyncio.Event) -> list[float]:
    """Type and click until told to stop; return the seconds each acknowledgement took."""
    found: list[float] = []
    number = 0
    while not until.is_set():
        number += 1
        channel = channels[number % len(channels)]
        began = time.perf_counter()
        try:
            await _use(workspace, channel, number)
            found.append(time.perf_counter() - began)
        except PersonRefusal as refused:
            if str(refused) != "no_such_element":  # the debate has just ended
                print(f"not acknowledged: {refused}")
        await asyncio.sleep(PERSON_PAUSE)
    return found


async def _use(workspace: Workspace, channel: str, number: int) -> None:
    """Type a command, or click Stop on somebody else's board, by turns."""
    boards = [one for one in workspace.messages(channel) if key_of(one).endswith("/board")]
    if number % 2 and boards:
        await workspace.click("alex", channel, boards[-1]["ts"], ActionId.STOP.value)
    else:
        await workspace.command("alex", channel, "/debate", "list")


def at(values: Sequence[float], percent: float) -> float:
    """Return the percentile of some values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else 0.0


async def measure(wanted: argparse.Namespace) -> None:
    """Run it all and print the figures."""
    names = [f"team-{number}" for number in range(CHANNELS)]
    config = WorkspaceConfig(
        channels=tuple(ChannelSpec(name, with_bot=True) for name in names), pace=QUICK
    )
    with tempfile.TemporaryDirectory() as folder:
        async with (
            run_workspace(config) as workspace,
            a_bot(workspace, Path(folder), wanted.latency) as bot,
            asyncio.timeout(PATIENCE + wanted.spread + wanted.latency * 10),
        ):
            ids = [workspace.channel(name).id for name in names]
            over = asyncio.Event()
            people = asyncio.create_task(acks(workspace, names, over))
            load = await bot.ask(
                debates=wanted.debates,
                spread=wanted.spread,
                channels=ids,
                team=workspace.world.team_id,
            )
            over.set()
            _print_load(load, await people)
            parked = await bot.ask(park=wanted.parked, channels=ids, team=workspace.world.team_id)
            _print_parked(parked)


def _print_load(load: dict[str, Any], taken: Sequence[float]) -> None:
    print(
        f"{load['debates']} debates, at most {load['most']} at once, {load['turns']} turns in"
        f" {load['seconds']:.0f} s, CPU {load['cpu']:.0%}"
    )
    own = load["overhead"]
    print(f"overhead per turn: p50 {at(own, 50) * 1000:.0f} ms, p99 {at(own, 99) * 1000:.0f} ms")
    print(
        f"acknowledgement of {len(taken)} commands and clicks: p50 {at(taken, 50) * 1000:.0f} ms,"
        f" p99 {at(taken, 99) * 1000:.0f} ms"
    )


def _print_parked(parked: dict[str, Any]) -> None:
    print(f"memory per parked debate: {parked['kilobytes']:.1f} KB ({parked['parked']} parked)")
    print(f"idle CPU with {parked['parked']} parked debates: {parked['cpu']:.2%}")


def main() -> None:
    """Read what is wanted, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=500)
    parser.add_argument("--latency", type=float, default=5.0, help="seconds per model call")
    parser.add_argument("--spread", type=float, default=60.0, help="seconds the beginnings take")
    parser.add_argument("--parked", type=int, default=1000)
    print(f"{platform.machine()}, Python {platform.python_version()}, SQLite on disk")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
