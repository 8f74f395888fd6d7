"""How long the first reply after a start holds up the event loop, for each vendor's SDK.

    python -m bench.first_reply

Each SDK is loaded in a process of its own, as `moot run` does before it is ready, then asked three
times; the vendor is a server on the loopback in the same process. "Stall" is the longest time in
which the event loop did nothing else.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.llm.providers import factory
from core.models import Act
from core.ports import LoadsSlowly
from core.request import ModelRequest, Part, PartKind
from tests.vendors.server import Vendor

#: Providers with an SDK of their own or a protocol of their own, and the path of their API.
PATHS = {"openai": "/v1", "openrouter": "/v1", "anthropic": ""}
_TICK = 0.001
REQUEST = ModelRequest(
    model="any",
    act=Act.PROPOSAL,
    role="architect",
    system="You propose.",
    delimiter="~",
    parts=(Part(kind=PartKind.TASK, label="Task", text="Propose a solution."),),
    max_output_tokens=100,
)


@dataclass
class Stall:
    """The longest time the event loop was held up, in seconds."""

    seconds: float = field(default=0.0)


@asynccontextmanager
async def watching() -> AsyncGenerator[Stall]:
    """Watch the event loop for as long as the block lasts."""
    stall = Stall()

    async def watch() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(_TICK)
            now = time.perf_counter()
            stall.seconds, last = max(stall.seconds, now - last - _TICK), now

    watcher = asyncio.create_task(watch())
    await asyncio.sleep(2 * _TICK)
    try:
        yield stall
    finally:
        await asyncio.sleep(2 * _TICK)  # or what held it up last would not be seen
        watcher.cancel()


async def stalls(provider: str) -> Sequence[float]:
    """Load a provider, ask it three times; return the stall of the loading and of each reply."""
    found = list[float]()
    async with Vendor() as vendor:
        asked = factory.build(provider, "sk-bench", vendor.url + PATHS[provider])
        async with watching() as stall:
            if isinstance(asked, LoadsSlowly):
                await asked.load()
        found.append(stall.seconds)
        for _ in range(3):
            async with watching() as stall:
                await asked.complete(REQUEST)
            found.append(stall.seconds)
        await asked.close()
    return found


def measure(provider: str) -> Sequence[float]:
    """The same in a process where nothing is loaded yet."""
    command = [sys.executable, "-m", "bench.first_reply", "--only", provider]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ourselves
    return [float(load) for load in json.loads(done.stdout)]


def main() -> None:
    """Read what is wanted, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(PATHS), help="In this process, as JSON.")
    if only := parser.parse_args().only:
        print(json.dumps(asyncio.run(stalls(only))))
        return
    for provider in PATHS:
        loading, *replies = (f"{1000 * seconds:.0f}" for seconds in measure(provider))
        print(f"{provider}: stall of {loading} ms while loading, {', '.join(replies)} ms by reply")


if __name__ == "__main__":
    main()
