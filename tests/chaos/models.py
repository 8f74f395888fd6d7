"""A model on the loopback that counts: which prompt was asked when, by which replica."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web

#: The header with the process id of the replica that asks.
REPLICA = "X-Replica"


class CountingModels:
    """Writes every call down before it is answered."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        #: Nobody is answered while this is not set.
        self.answers = asyncio.Event()
        self.answers.set()
        #: When each prompt was asked, in seconds since 1970.
        self.asked: dict[str, list[float]] = defaultdict(list)
        #: Which replica was given the whole answer to a prompt, and when; in seconds since 1970.
        self.answered: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self.address = ""

    @property
    def calls(self) -> int:
        """How many calls there were."""
        return sum(len(times) for times in self.asked.values())

    @property
    def repeated(self) -> int:
        """How many calls asked what had been asked before."""
        return self.calls - len(self.asked)

    async def answer(self, request: web.Request) -> web.Response:
        """Note the prompt's mark, think, and let the caller go on."""
        mark = await request.text()
        self.asked[mark].append(time.time())
        await asyncio.sleep(self.latency)
        await self.answers.wait()
        self.answered[mark].append((int(request.headers[REPLICA]), time.time()))
        return web.Response()


@asynccontextmanager
async def counting_models(latency: float) -> AsyncGenerator[CountingModels]:
    """Serve on a free port for as long as the block lasts."""
    models = CountingModels(latency)
    app = web.Application()
    app.router.add_post("/", models.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    models.address = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    try:
        yield models
    finally:
        await runner.cleanup()
