"""Wall time of a debate as a ratio to its longest chain of turns.

    python -m bench.latency [--agents 3] [--rounds 3] [--latency 1] [--runs 3]

Every model call takes the same fixed time L. A debate cannot be faster than its longest chain of
turns that wait for one another, times L; the ratio says what scheduling and storage add. Events
are written to a real SQLite database on disk, as in production.
"""

import argparse
import asyncio
import platform
import tempfile
import time
from pathlib import Path

from core.clock import SystemClock
from core.engine import Engine
from core.events import DebateStarted
from core.llm.call import ModelCalls
from core.models import Debate, Setup
from core.rules.formats.registry import format_of
from core.settings import DEFAULT_ROSTER, ROLES
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare
from core.testing import RecordingSink, ScriptedProvider, a_setup
from core.turns.take import Turns

DEBATE = "dbench22"


async def one_debate(setup: Setup, provider: ScriptedProvider) -> tuple[float, Debate]:
    """Run one debate; seconds it took, and the debate."""
    clock = SystemClock()
    agents = len(setup.agents)
    calls = ModelCalls({"scripted": provider}, clock, parallel=agents * agents)
    with tempfile.TemporaryDirectory() as folder:
        location = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
        async with await Database.open(location) as database:
            await prepare(database)
            store = SqlDebateStore(database)
            await store.create(DEBATE, DebateStarted(setup=setup), origin="b", at=clock.now())
            engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
            began = time.perf_counter()
            debate = await engine.run(DEBATE)
            return time.perf_counter() - began, debate


def ratio(agents: int, rounds: int, latency: float) -> tuple[float, str]:
    """Run one debate; its time as a ratio to its longest chain, and that in words."""
    roles = list(dict.fromkeys([*DEFAULT_ROSTER, *ROLES]))[:agents]
    setup = a_setup(agents=roles, rounds=rounds)
    took, debate = asyncio.run(one_debate(setup, ScriptedProvider(latency=latency)))
    chain = format_of(debate).longest_chain(rounds) + 2  # the ballots, the synthesis
    found = took / (chain * latency)
    return found, (
        f"{agents} agents × {rounds} rounds, {len(debate.calls)} calls of {latency:g} s:"
        f" {took:.2f} s; longest chain {chain} turns = {chain * latency:.2f} s; ratio {found:.3f}"
    )


def main() -> None:
    """Print one row per run and the median ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds per model call")
    parser.add_argument("--runs", type=int, default=3)
    wanted = parser.parse_args()
    print(f"{platform.machine()}, Python {platform.python_version()}, SQLite on disk")
    ratios: list[float] = []
    for run in range(1, wanted.runs + 1):
        found, words = ratio(wanted.agents, wanted.rounds, wanted.latency)
        ratios.append(found)
        print(f"run {run}: {words}")
    print(f"median ratio {sorted(ratios)[len(ratios) // 2]:.3f}")


if __name__ == "__main__":
    main()
