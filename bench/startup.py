"""Seconds to start: `moot --help`, `moot run`, and `moot debate` until its first call.

    python -m bench.startup [--runs 3]

`moot run` is the real command with Socket Mode against the local workspace, which runs in another
process, and a new SQLite database; one waits until `/ready` says yes. `moot debate` asks a server
on the loopback with a vendor's real SDK; its CPU is told as well. The best of the runs counts: a
busy machine adds to it.
"""

import argparse
import asyncio
import os
import socket
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from bot.slack.manifest import manifest
from bot.testing import socket_access
from slack_on_loopback import Workspace, WorkspaceConfig, run_workspace
from tests.vendors.server import Vendor

#: Seconds after which something is broken, not slow.
PATIENCE = 60
#: `moot` of this very tree, wherever the package is installed from.
_MOOT = (sys.executable, "-c", "from bot.cli import main; main()")
_ROOT = str(Path(__file__).parents[1])


@dataclass(frozen=True, kw_only=True)
class Startup:
    """Seconds that people wait; the best of some runs."""

    help_seconds: float
    ready_seconds: float
    #: From `moot debate` until a vendor's server has the first request.
    call_seconds: float
    #: Of CPU until then.
    call_cpu_seconds: float


async def measure(runs: int) -> Startup:
    """Start Moot so many times."""
    helps = [await _help() for _ in range(runs)]
    async with run_workspace(WorkspaceConfig(manifest=manifest())) as workspace:
        readies = [await _ready(workspace) for _ in range(runs)]
    calls = [await _first_call() for _ in range(runs)]
    return Startup(
        help_seconds=min(helps),
        ready_seconds=min(readies),
        call_seconds=min(seconds for seconds, _ in calls),
        call_cpu_seconds=min(cpu for _, cpu in calls),
    )


async def _help() -> float:
    """Seconds until the help is printed."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *_MOOT, "--help", env={"PYTHONPATH": _ROOT}, stdout=DEVNULL
    )
    if await process.wait():
        raise RuntimeError("moot --help failed")
    return time.perf_counter() - began


async def _first_call() -> tuple[float, float]:
    """Seconds until a debate in the terminal asks a model, and of CPU."""
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
    """Seconds until a new bot is ready."""
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        async with _running(Path(folder), _environment(workspace, port), "run") as (began, _):
            await _wait_for(f"http://127.0.0.1:{port}/ready")
            return time.perf_counter() - began


@asynccontextmanager
async def _running(
    folder: Path, environment: Mapping[str, str], *words: str
) -> AsyncGenerator[tuple[float, int]]:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(*_MOOT, *words),
        cwd=folder,
        env={**environment, "PYTHONPATH": _ROOT},
        stdout=DEVNULL,
        stderr=DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            yield began, process.pid
    finally:
        process.terminate()
        await process.wait()


def _cpu(process_id: int) -> float:
    """Seconds of CPU that a process has taken, as Linux tells them."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    user, system = fields[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _environment(workspace: Workspace, port: int) -> dict[str, str]:
    access = socket_access(workspace)
    return {
        "PATH": os.defpath,
        "SLACK_BOT_TOKEN": access.bot_token,
        "SLACK_APP_TOKEN": access.app_token,
        "SLACK_API_URL": access.api_url,
        "MOOT_PORT": str(port),
        "MOOT_LOG_LEVEL": "error",
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def _wait_for(address: str) -> None:
    async with aiohttp.ClientSession() as session:
        while not await _says_yes(session, address):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)


async def _says_yes(session: aiohttp.ClientSession, address: str) -> bool:
    try:
        async with session.get(address) as answer:
            return answer.status == 200
    except aiohttp.ClientConnectionError:
        return False  # not there yet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    times = asyncio.run(measure(parser.parse_args().runs))
    print(f"moot --help: {times.help_seconds:.2f} s")
    print(f"moot run until ready: {times.ready_seconds:.2f} s")
    cpu = f"{times.call_cpu_seconds:.2f} s of CPU"
    print(f"moot debate until its first call: {times.call_seconds:.2f} s, {cpu}")


if __name__ == "__main__":
    main()
