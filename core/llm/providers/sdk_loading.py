"""Loads a vendor's SDK before its first reply: the imports, and what reads its replies.

SDKs import their types, and build what reads them, with the first reply: 0.3 to 1.5 s. On the event
loop everybody would wait for that, and an answer that has come is asked for again if the process
dies meanwhile. So a reply is rehearsed in a thread, over a Unix socket.
"""

import asyncio
import json
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import httpx2

from core.hidden_packages import hidden
from core.late_packages import late_or_whole

T = TypeVar("T")

#: The events of a reply, and what asks for it with the client it is given.
Rehearsal = tuple[Sequence[Mapping[str, Any]], Callable[[httpx2.AsyncClient], Awaitable[None]]]


async def load(package: str, make: Callable[[], T], *rehearsals: Rehearsal) -> T:
    """Make an SDK's client and load whatever reading these replies takes, in a thread.

    What else the SDK's `__init__` does (it renames the module of its errors, for tracebacks) is
    done when it is read, if ever.

    Args:
        package: The name the SDK is imported by.
        make: Makes the client; imports the SDK.
        rehearsals: One for each API of the vendor.
    """

    def made() -> T:
        # SDKs import it wherever it is installed, for a client of theirs that nobody here uses:
        # 0.12 s, and the core is to do without it. And most of an SDK's modules have types of
        # requests and replies that nobody here asks for: 0.25 s of OpenAI's, 0.8 s of Anthropic's.
        with hidden("aiohttp"):
            client = late_or_whole(package, make)
        # Where there is no room for a socket, the first reply takes longer, and that is all.
        with suppress(Exception):
            asyncio.run(_rehearse(rehearsals))
        return client

    return await asyncio.to_thread(made)


async def read_through(events: AsyncIterable[object]) -> None:
    """Read a reply to its end, and forget it."""
    async for _ in events:
        pass


async def _rehearse(rehearsals: Sequence[Rehearsal]) -> None:
    async def ask_plainly(request: httpx2.Request) -> None:
        """Without TLS, which vendors' own addresses have and this socket does not."""
        request.url = request.url.copy_with(scheme="http")

    hooks = {"request": [ask_plainly]}
    with TemporaryDirectory(prefix="moot-") as folder:
        socket = str(Path(folder) / "rehearsal")
        for events, ask in rehearsals:
            head = (
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
            )
            lines = list[str]()
            for event in events:
                name = f"event: {event['type']}\n" if "type" in event else ""
                lines.append(f"{name}data: {json.dumps(event)}\n\n")
            stream = head + "".join(lines).encode()
            hung_up = asyncio.Event()
            answer = partial(_answer, stream, hung_up)
            server = await asyncio.start_unix_server(answer, socket)
            transport = httpx2.AsyncHTTPTransport(uds=socket)
            async with server, httpx2.AsyncClient(transport=transport, event_hooks=hooks) as http:
                await ask(http)
                await hung_up.wait()  # the event loop ends soon, and would leave its socket open


async def _answer(
    answer: bytes,
    hung_up: asyncio.Event,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        hung_up.set()
