"""Places in the sandbox are shared fairly between channels; nothing survives its end."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from core.evidence.sandbox import FairGate, end

#: Starts a program that starts another one, and hears of no end.
_DEAF = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
command = "import subprocess; print(subprocess.Popen(['sleep', '60']).pid, flush=True)"
program = subprocess.Popen(
    [sys.executable, "-c", command + "; input()"], stdin=-1, stdout=-1, start_new_session=True
)
open(__file__ + ".pid", "wb").write(program.stdout.readline())
time.sleep(60)
"""


async def settled(until: Callable[[], bool]) -> None:
    for _ in range(100):
        if until():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never happens")


class Reading:
    """Files under way at a gate; each is read until it is let go."""

    def __init__(self, at_once: int) -> None:
        self.gate = FairGate(at_once)
        self.begun = list[str]()
        self.ends = dict[str, asyncio.Event]()

    async def _read(self, channel: str, name: str) -> None:
        async with self.gate.place(channel):
            self.begun.append(name)
            await self.ends[name].wait()

    def start(self, channel: str, name: str) -> asyncio.Task[None]:
        self.ends[name] = asyncio.Event()
        return asyncio.create_task(self._read(channel, name))


async def ended(reading: Reading, tasks: list[Awaitable[None]]) -> None:
    for finish in reading.ends.values():
        finish.set()
    await asyncio.gather(*tasks)


@pytest.mark.parametrize(
    ("at_once", "order"),
    [(1, ["a1", "a2", "b1", "c1", "a3", "a4"]), (2, ["a1", "a2", "a3", "b1", "c1", "a4"])],
)
async def test_of_each_channel_one_file_at_most_waits_before_those_of_others(
    at_once: int, order: list[str]
) -> None:
    reading = Reading(at_once)
    tasks: list[Awaitable[None]] = [
        reading.start(channel, name)
        for channel, name in zip("aaaabc", ("a1", "a2", "a3", "a4", "b1", "c1"), strict=True)
    ]
    for count, name in enumerate(order):
        await settled(lambda done=count: len(reading.begun) == min(done + at_once, len(order)))
        reading.ends[name].set()
    await asyncio.gather(*tasks)

    assert reading.begun == order


async def test_who_stops_waiting_leaves_its_place_to_others() -> None:
    reading = Reading(1)
    first = reading.start("a", "a1")
    await settled(lambda: reading.begun == ["a1"])
    waiting, last = reading.start("b", "b1"), reading.start("c", "c1")
    await asyncio.sleep(0)
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    # Given a place and cancelled in the same moment.
    late = reading.start("d", "d1")
    await asyncio.sleep(0)
    reading.ends["a1"].set()
    await settled(lambda: reading.begun == ["a1", "c1"])
    reading.ends["c1"].set()
    await asyncio.sleep(0)
    late.cancel()
    with suppress(asyncio.CancelledError):
        await late

    again = reading.start("e", "e1")
    await settled(lambda: "e1" in reading.begun)
    await ended(reading, [first, last, again])


def program_of(script: Path) -> str:
    """The id of the program that the one started; empty before that."""
    with suppress(FileNotFoundError):
        return Path(f"{script}.pid").read_text(encoding="ascii").strip()
    return ""


def runs(program: str) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " not in Path(f"/proc/{program}/stat").read_text(encoding="ascii")
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody tells what was started")
async def test_all_that_a_process_started_ends_with_it(tmp_path: Path) -> None:
    script = tmp_path / "deaf.py"
    script.write_text(_DEAF, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(sys.executable, str(script))
    while not program_of(script):
        assert process.returncode is None
        await asyncio.sleep(0.01)
    assert runs(program_of(script))

    await end(process, goodbye=0.1)

    for _ in range(3000):
        if not runs(program_of(script)):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it runs still")
