"""Seconds to start: `moot run`, and `moot debate` until its first model call.

    python -m bench.startup [--runs 3]

`moot run` is the real command in Socket Mode with the local Slack, which runs in this process, and
a new SQLite database, until `/ready` answers 200. `moot debate` calls a server on the loopback with
a vendor's real SDK. Each figure is the best of the runs, because other work on the machine only
adds to it.
"""

import argparse
import asyncio
import os
import socket
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from bench.vendor import ROOT, a_process
from bot.slack.manifest import manifest
from bot.testing import socket_access
from slack_on_loopback import Workspace, WorkspaceConfig, run_workspace
from tests.vendors.server import Vendor

#: Seconds; a start that takes longer is broken.
PATIENCE = 60
#: `moot` of this checkout.
_MOOT = ("-c", "from bot.cli import main; main()")


@dataclass(frozen=True, kw_only=True)
class Startup:
    ready_seconds: float
    #: Until a vendor's server has the first request of `moot debate`.
    call_seconds: float
    call_cpu_seconds: float


async def measure(runs: int) -> Startup:
    """Start Moot `runs` times."""
    async with run_workspace(WorkspaceConfig(manifest=manifest())) as workspace:
        readies = [await _ready(workspace) for _ in range(runs)]
    calls = [await _first_call() for _ in range(runs)]
    return Startup(
        ready_seconds=min(readies),
        call_seconds=min(seconds for seconds, _ in calls),
        call_cpu_seconds=min(cpu for _, cpu in calls),
    )


async def _first_call() -> tuple[float, float]:
    """Return seconds and CPU seconds until a debate in the terminal calls a model."""
    async with AsyncExitStack() as stack:
        vendor = await stack.enter_async_context(Vendor())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        environment = {
            "PATH": os.defpath,
            "OPENAI_API_KEY": "sk-bench",
            "OPENAI_BASE_URL": f"{vendor.url}/v1",
        }
        words = ("debate", "Kafka or SQS?", "--yes")
        began, process_id = await stack.enter_async_context(_running(folder, environment, *words))
        await vendor.asked_for(1)
        return time.perf_counter() - began, _cpu(process_id)


async def _ready(workspace: Workspace) -> float:
    """Return the seconds until a new bot is ready."""
    access = socket_access(workspace)
    with tempfile.TemporaryDirectory() as folder:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        environment = {
            "PATH": os.defpath,
            "SLACK_BOT_TOKEN": access.bot_token,
            "SLACK_APP_TOKEN": access.app_token,
            "SLACK_API_URL": access.api_url,
            "MOOT_PORT": str(port),
            "MOOT_LOG_LEVEL": "error",
        }
        async with _running(Path(folder), environment, "run") as (began, _):
            await _wait_for(f"http://127.0.0.1:{port}/ready")
            return time.perf_counter() - began


@asynccontextmanager
async def _running(
    folder: Path, environment: Mapping[str, str], *words: str
) -> AsyncGenerator[tuple[float, int]]:
    began, variables = time.perf_counter(), {**environment, "PYTHONPATH": str(ROOT)}
    options: dict[str, Any] = {"cwd": folder, "stdout": DEVNULL, "stderr": DEVNULL}
    async with a_process(*_MOOT, *words, env=variables, **options) as process:
        async with asyncio.timeout(PATIENCE):
            yield began, process.pid


def _cpu(process_id: int) -> float:
    """Return the CPU seconds of a process (Linux)."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    user, system = fields[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def _wait_for(address: str) -> None:
    status = None
    async with aiohttp.ClientSession() as session:
        while status != 200:
            await asyncio.sleep(0.02)
            with suppress(aiohttp.ClientConnectionError):
                status = (await session.get(address)).status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    times = asyncio.run(measure(parser.parse_args().runs))
    print(f"moot run until ready: {times.ready_seconds:.2f} s")
    cpu = f"{times.call_cpu_seconds:.2f} s of CPU"
    print(f"moot debate until its first call: {times.call_seconds:.2f} s, {cpu}")


if __name__ == "__main__":
    main()
