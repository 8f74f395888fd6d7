"""All figures of speed in one table: figure, target, ratio (`make bench`).

    python -m bench.all [--debates 30] [--parked 200]

It takes seven to ten minutes, if nothing else runs, and says each figure on standard error as soon
as it is there. What a machine cannot do shows as a ratio above 1. A benchmark that fails is named,
and the others go on; then the exit code is 1.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from bench import chain, cost, load, size, startup

#: What is wanted: with 30 debates at once, and 1000 parked.
_OVERHEAD_MS, _ACK_MS, _PARKED_KB, _IDLE = 50.0, 100.0, 50.0, 0.01
#: CPU of a turn, its reply and what people do included.
_TURN_MS = 37.0
#: CPU of a turn on PostgreSQL by that on SQLite.
_POSTGRES_RATIO = 1.1
_COST_RATIO = float(cost.TARGET)
_HELP_SECONDS, _READY_SECONDS, _CALL_SECONDS = 0.5, 2.0, 1.2
#: More than one bot does at once, so that what a second one brings can be seen.
_CROWD = load.Wish(debates=24, seconds=2.0, spread=2.0)


@dataclass(frozen=True)
class Line:
    """One figure and its target; less is better."""

    name: str
    figure: float
    #: None: nothing was set.
    target: float | None = None
    unit: str = ""

    @property
    def is_met(self) -> bool | None:
        return None if self.target is None else self.figure <= self.target


def _chains() -> Iterable[Line]:
    for (form, protocol), pair in asyncio.run(chain.pairs(2.0, 3.0, rounds=2)).items():
        name = f"chain: {form}, {protocol}, one agent 3 × slower"
        yield Line(name, pair.there.ratio, chain.TARGET)
        yield Line(f"{name}, another hangs: later by", pair.delay, chain.LOST_SECONDS, "s")


def _costs() -> Iterable[Line]:
    for name, paid in asyncio.run(cost.ratios(3, 3, 0.05)).items():
        ratio = float(paid.spent / paid.by_order)
        yield Line(f"cost: {name} / the least in this order", ratio, _COST_RATIO)
    beside = asyncio.run(cost.beside_peer(0.05))
    yield Line(
        "cost: characters of a critique / dialectic's", float(beside.characters), _COST_RATIO
    )


def _loads(wish: load.Wish) -> Iterable[Line]:
    figures = asyncio.run(load.load(wish))
    name = f"load, {figures.most} debates at once, models known:"
    overhead, acks = load.at(figures.overhead, 99) * 1000, load.at(figures.all_acks, 99) * 1000
    yield Line(f"{name} overhead per turn, p99 of debates", overhead, _OVERHEAD_MS, "ms")
    yield Line(f"{name} the same, p50", load.at(figures.overhead, 50) * 1000, unit="ms")
    yield Line(f"{name} acknowledgement, p99", acks, _ACK_MS, "ms")
    yield Line(f"{name} commands and clicks not acknowledged", len(figures.missed), 0)
    cpu = figures.cpu_per_turn * 1000
    yield Line(f"{name} CPU of a turn, its reply and people included", cpu, _TURN_MS, "ms")


def _databases() -> Iterable[Line]:
    file, single, two = (
        asyncio.run(load.load(replace(_CROWD, replicas=replicas))) for replicas in (0, 1, 2)
    )
    name = f"load, {_CROWD.debates} debates of quick replies:"
    ratio = single.cpu_per_turn / file.cpu_per_turn
    yield Line(f"{name} CPU on PostgreSQL / SQLite", ratio, _POSTGRES_RATIO)
    yield Line(f"{name} CPU of two replicas / one", two.cpu_per_turn / single.cpu_per_turn)
    yield Line(f"{name} time taken by two replicas / one", two.taken / single.taken)


def _parked_lines(wish: load.Wish) -> Iterable[Line]:
    figures = asyncio.run(load.park(wish))
    name = f"load, {figures.parked} debates parked:"
    yield Line(f"{name} memory of each", figures.kilobytes, _PARKED_KB, "KB")
    yield Line(f"{name} idle share of a CPU", figures.cpu * 100, _IDLE * 100, "%")


def _sizes() -> Iterable[Line]:
    size_bytes = asyncio.run(size.measure(4, "critique", 3))
    yield Line("size: a debate in SQLite", size_bytes / 1000, size.TARGET_BYTES / 1000, "KB")


def _startups() -> Iterable[Line]:
    times = asyncio.run(startup.measure(3))
    yield Line("startup: moot --help", times.help_seconds, _HELP_SECONDS, "s")
    yield Line("startup: moot run until ready", times.ready_seconds, _READY_SECONDS, "s")
    yield Line("startup: first call of moot debate", times.call_seconds, _CALL_SECONDS, "s")
    yield Line("startup: its CPU until then", times.call_cpu_seconds, _CALL_SECONDS, "s")


def lines(benchmarks: Sequence[Callable[[], Iterable[Line]]], failed: list[str]) -> Iterable[Line]:
    """Measure one after the other; names of those that fail are added to `failed`."""
    for benchmark in benchmarks:
        began = time.perf_counter()
        try:
            yield from benchmark()
        except Exception as error:  # noqa: BLE001 - the other rows are wanted all the same
            name = f"{benchmark.__name__.strip('_')}: {type(error).__name__}: {error}"
            failed.append(name)
            print(f"failed: {name}", file=sys.stderr, flush=True)
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


def table(lines: Sequence[Line]) -> Table:
    grid = Table("benchmark", "figure", "target", "ratio", "met")
    for line in lines:
        unit = f" {line.unit}".rstrip()
        ratio = f"{line.figure / line.target:.2f}" if line.target else "–"
        grid.add_row(
            line.name,
            f"{line.figure:.3g}{unit}",
            "–" if line.target is None else f"{line.target:g}{unit}",
            ratio,
            {None: "–", True: "yes", False: "no"}[line.is_met],
        )
    return grid


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=load.Wish.debates)
    parser.add_argument("--parked", type=int, default=200)
    options = parser.parse_args()
    wish = load.Wish(debates=options.debates, parked=options.parked)

    def loads() -> Iterable[Line]:
        return _loads(wish)

    def parked() -> Iterable[Line]:
        return _parked_lines(wish)

    # First what suffers most from a machine that has become warm, or busy again.
    benchmarks = (_startups, loads, parked, _databases, _chains, _costs, _sizes)
    print(load.machine(), flush=True)
    measured, failed = list[Line](), list[str]()
    for line in lines(benchmarks, failed):
        measured.append(line)
        print(f"{line.name}: {line.figure:.3g} {line.unit}", file=sys.stderr, flush=True)
    Console(width=110).print(table(measured))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
