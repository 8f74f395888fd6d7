"""Replicas as processes that are started, frozen and killed."""

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bot.running.heartbeat import Heartbeat
from bot.testing import socket_access
from slack_on_loopback import Workspace

ROOT = Path(__file__).parents[2]
#: The dead are noticed soon.
QUICK_BEAT = Heartbeat(heartbeat=2, stalled=6, rescue=2, poll=0.5)
_START_SECONDS = 90.0


@dataclass
class Crew:
    """Replicas of one bot."""

    workspace: Workspace
    database: str
    models: str
    #: Where their logs go.
    log: Path
    rounds: int = 1
    beat: Heartbeat = QUICK_BEAT
    #: What all debates may cost a day, in dollars; empty: no cap, and models cost nothing.
    day_cost: str = ""
    alive: list[Process] = field(default_factory=list[Process])
    #: When replicas were killed, by process id, in seconds since 1970.
    deaths: dict[int, float] = field(default_factory=dict[int, float])

    async def join(self) -> Process:
        """Start one more replica; return it once it is at work."""
        orders = {
            "slack": asdict(socket_access(self.workspace)),
            "database": self.database,
            "models": self.models,
            "rounds": self.rounds,
            "beat": asdict(self.beat),
            "day_cost": self.day_cost,
        }
        with self.log.open("ab") as log:
            replica = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "tests.chaos.replica", json.dumps(orders)),
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},  # noqa: TID251 - for the child
                stdout=PIPE,
                stderr=log,
            )
        self.alive.append(replica)
        assert replica.stdout is not None
        line = await asyncio.wait_for(replica.stdout.readline(), _START_SECONDS)
        assert line == b"running\n", self.log.read_text()[-3000:]
        return replica

    async def kill(self, replica: Process, how: signal.Signals = signal.SIGKILL) -> int:
        """End a replica; return its exit code."""
        self.deaths[replica.pid] = time.time()
        replica.send_signal(how)
        code = await asyncio.wait_for(replica.wait(), 60)
        self.alive.remove(replica)
        return code

    @property
    def complaints(self) -> Sequence[str]:
        """What replicas logged as errors."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if '"level": "error"' in line or "Traceback" in line]


@asynccontextmanager
async def a_crew(
    workspace: Workspace, database: str, models: str, log: Path
) -> AsyncGenerator[Crew]:
    """Have no replica outlive the block."""
    crew = Crew(workspace, database, models, log)
    try:
        yield crew
    finally:
        for replica in list(crew.alive):
            with suppress(ProcessLookupError):
                replica.send_signal(signal.SIGCONT)
                replica.kill()
            await replica.wait()
