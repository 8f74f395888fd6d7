"""CPU time of a bench's process, and the lag of its event loop."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

#: Seconds between two beats.
_BEAT = 0.02


@dataclass(frozen=True, kw_only=True)
class Pulse:
    """CPU time and loop lag of a process, in seconds."""

    cpu: float
    #: How much later than it should have been an event loop came to a timer.
    late_p50: float
    late_p99: float
    late_most: float

    def __str__(self) -> str:
        late = (self.late_p50, self.late_p99, self.late_most)
        p50, p99, most = (f"{seconds * 1000:.0f}" for seconds in late)
        return f"{self.cpu:.1f} s of CPU, its loop late by p50 {p50}, p99 {p99}, most {most} ms"


def at(values: Sequence[float], percent: float) -> float:
    """Return the percentile of some values; 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else 0.0


@asynccontextmanager
async def watch() -> AsyncGenerator[Callable[[], Pulse]]:
    """Watch this process for as long as the block lasts.

    What is yielded tells what it took since it told last, or else since the block began.
    """
    cpu, late = time.process_time(), list[float]()

    async def beat() -> None:
        while True:
            due = time.perf_counter() + _BEAT
            await asyncio.sleep(_BEAT)
            late.append(max(0.0, time.perf_counter() - due))

    def pulse() -> Pulse:
        nonlocal cpu
        p50, p99, most = (at(late, percent) for percent in (50, 99, 100))
        pulse = Pulse(cpu=time.process_time() - cpu, late_p50=p50, late_p99=p99, late_most=most)
        cpu += pulse.cpu
        late.clear()
        return pulse

    beating = asyncio.create_task(beat())
    try:
        yield pulse
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
