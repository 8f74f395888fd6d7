"""All performance figures with targets and ratios (`make bench`).

    python -m bench.all [--debates 30] [--parked 200]

It takes seven to ten minutes on an idle machine, and prints each figure when it is measured. A
benchmark that fails is reported, and the others continue; then the exit code is 1.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from bench import chain, cost, load, size, startup

#: Targets with 30 debates at once, and 1000 parked.
_OVERHEAD_MS, _ACK_MS, _PARKED_KB, _IDLE = 50.0, 100.0, 50.0, 0.01
#: CPU of a turn, including its reply and people.
_TURN_MS = 37.0
#: CPU of a turn on PostgreSQL ÷ on SQLite.
_POSTGRES_RATIO = 1.1
_COST_RATIO = float(cost.TARGET)
_READY_SECONDS, _CALL_SECONDS = 2.0, 1.2
#: More than one bot can run at once, to show the effect of a second one.
_CROWD = load.Wish(debates=24, seconds=2.0, spread=2.0)


@dataclass(frozen=True)
class Line:
    """One figure and its target; less is better."""

    name: str
    figure: float
    #: None: no target.
    target: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        text = f"{self.name}: {self.figure:.3g} {self.unit}".rstrip()
        if self.target is None:
            return text
        ratio = f", ratio {self.figure / self.target:.2f}" if self.target else ""
        met = "met" if self.figure <= self.target else "missed"
        return f"{text} (target {self.target:g}{ratio}: {met})"


def _chains() -> Iterable[Line]:
    for name, figures in asyncio.run(chain.measure(2.0, 3.0, rounds=2)).items():
        yield Line(f"chain: {name}, one agent 3 × slower", figures.ratio, chain.TARGET)


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
    name, ms = f"load, {figures.debates} debates at once:", 1000
    overhead = [load.percentile(figures.overhead, percent) * ms for percent in (50, 99)]
    acks = load.percentile(figures.acks.seconds, 99) * ms
    yield Line(f"{name} overhead per turn, p99 of debates", overhead[1], _OVERHEAD_MS, "ms")
    yield Line(f"{name} the same, p50", overhead[0], unit="ms")
    yield Line(f"{name} acknowledgement, p99", acks, _ACK_MS, "ms")
    yield Line(f"{name} commands and clicks not acknowledged", figures.acks.missed, 0)
    cpu = figures.cpu_per_turn * ms
    yield Line(f"{name} CPU of a turn, with its reply and people", cpu, _TURN_MS, "ms")


def _databases() -> Iterable[Line]:
    sqlite, postgres, two = (
        asyncio.run(load.load(replace(_CROWD, replicas=replicas))) for replicas in (0, 1, 2)
    )
    name = f"load, {_CROWD.debates} debates with quick replies:"
    ratio = postgres.cpu_per_turn / sqlite.cpu_per_turn
    yield Line(f"{name} CPU on PostgreSQL ÷ SQLite", ratio, _POSTGRES_RATIO)
    yield Line(f"{name} CPU of two replicas ÷ one", two.cpu_per_turn / postgres.cpu_per_turn)


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
    yield Line("startup: moot run until ready", times.ready_seconds, _READY_SECONDS, "s")
    yield Line("startup: first call of moot debate", times.call_seconds, _CALL_SECONDS, "s")
    yield Line("startup: its CPU until then", times.call_cpu_seconds, _CALL_SECONDS, "s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--debates", type=int, default=load.Wish.debates)
    parser.add_argument("--parked", type=int, default=200)
    wish = load.Wish(**vars(parser.parse_args()))
    # The first ones are the most sensitive to a warm or busy machine.
    benchmarks: Mapping[str, Callable[[], Iterable[Line]]] = {
        "startup": _startups,
        "load": lambda: _loads(wish),
        "parked": lambda: _parked_lines(wish),
        "databases": _databases,
        "chain": _chains,
        "cost": _costs,
        "size": _sizes,
    }
    print(load.machine(), flush=True)
    failures = 0
    for name, benchmark in benchmarks.items():
        began = time.perf_counter()
        try:
            for line in benchmark():
                print(line, flush=True)
        except Exception as error:  # noqa: BLE001 - the other benchmarks continue
            failures += 1
            print(f"failed: {name}: {type(error).__name__}: {error}", flush=True)
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
