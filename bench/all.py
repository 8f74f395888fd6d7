"""Every benchmark at a small size, in one table: figure, target, ratio (`make bench`).

    python -m bench.all [--debates 30] [--parked 200]

It takes some six minutes, if nothing else runs. What a machine cannot do shows as a ratio above 1;
nothing fails.
"""

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from bench import chain, cost, first_reply, load, size, startup, streams

#: What is wanted: with 30 debates at once, and 1000 parked.
_OVERHEAD_MS, _ACK_MS, _PARKED_KB, _IDLE = 50.0, 100.0, 50.0, 0.01
_COST_RATIO = float(cost.TARGET)
_HELP_SECONDS, _READY_SECONDS = 0.5, 2.0
_STALL_MS = 50.0


@dataclass(frozen=True)
class Line:
    """One figure beside what is wanted; less is better."""

    name: str
    figure: float
    target: float
    unit: str = ""

    @property
    def ratio(self) -> float:
        """Above 1 the target is missed."""
        return self.figure / self.target


def lines(wish: load.Wish) -> Iterable[Line]:
    """Measure one after the other."""
    for (form, protocol), pair in asyncio.run(chain.pairs(3.0, 3.0, rounds=2)).items():
        name = f"chain: {form}, {protocol}, one agent 3 × slower"
        yield Line(name, pair.there.ratio, chain.TARGET)
        yield Line(f"{name}, another hangs: later by", pair.lost, chain.LOST_SECONDS, "s")
    for name, acts in asyncio.run(cost.ratios(3, 3, 0.05)).items():
        found = float(acts[""].spent / acts[""].by_order)
        yield Line(f"cost: {name} / the least in this order", found, _COST_RATIO)
    yield from _load_lines(asyncio.run(load.load(wish)))
    yield from _parked_lines(asyncio.run(load.park(wish)))
    held = asyncio.run(size.measure(1, 100, "critique", 3))
    yield Line("size: a debate in SQLite", held.each / 1000, size.TARGET_BYTES / 1000, "KB")
    for api in streams.APIS:
        read = asyncio.run(streams.cost(api, 10, 5.0))
        yield Line(f"streams: CPU of a reply, {api}", read.moot, streams.TARGET_MS, "ms")
        yield Line(f"streams: the same / as the SDK reads it, {api}", read.moot / read.sdk, 1.0)
    started = asyncio.run(startup.measure(3))
    yield Line("startup: moot --help", started.help_seconds, _HELP_SECONDS, "s")
    yield Line("startup: moot run until ready", started.ready_seconds, _READY_SECONDS, "s")
    for provider in first_reply.PATHS:
        stall = 1000 * first_reply.measure(provider)[1]
        yield Line(f"startup: stall of the first reply, {provider}", stall, _STALL_MS, "ms")


def _load_lines(found: load.Load) -> Iterable[Line]:
    name = f"load, {found.most} debates at once:"
    overhead, acks = load.at(found.overhead, 99) * 1000, load.at(found.acks, 99) * 1000
    yield Line(f"{name} overhead per turn, p99", overhead, _OVERHEAD_MS, "ms")
    yield Line(f"{name} acknowledgement, p99", acks, _ACK_MS, "ms")


def _parked_lines(found: load.Parked) -> Iterable[Line]:
    name = f"load, {found.parked} debates parked:"
    yield Line(f"{name} memory of each", found.kilobytes, _PARKED_KB, "KB")
    yield Line(f"{name} idle share of a CPU", found.cpu * 100, _IDLE * 100, "%")


def table(found: Sequence[Line]) -> Table:
    """Return the figures as people read them."""
    shown = Table("benchmark", "figure", "target", "ratio", "met")
    for line in found:
        unit = f" {line.unit}".rstrip()
        figure, target = f"{line.figure:.3g}{unit}", f"{line.target:g}{unit}"
        shown.add_row(
            line.name, figure, target, f"{line.ratio:.2f}", "yes" if line.ratio <= 1 else "no"
        )
    return shown


def main() -> None:
    """Read what is wanted, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=load.Wish.debates)
    parser.add_argument("--parked", type=int, default=200)
    wanted = parser.parse_args()
    wish = load.Wish(debates=wanted.debates, parked=wanted.parked)
    print(load.machine(), flush=True)
    Console(width=100).print(table(list(lines(wish))))


if __name__ == "__main__":
    main()
