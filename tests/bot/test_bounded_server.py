"""A port that slow and idle connections cannot use up."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, web

from bot.slack.connection.bounded import BoundedServer

#: Opens a connection to a port and says something.
Open = Callable[..., Awaitable[asyncio.StreamReader]]


@asynccontextmanager
async def serving(*, arrive_seconds: float = 0.3, most: int = 5) -> AsyncGenerator[int]:
    async def echo(request: web.Request) -> web.Response:
        return web.Response(text=await request.text() or "empty")

    application = web.Application()
    application.router.add_route("*", "/", echo)
    server = BoundedServer(application, arrive_seconds=arrive_seconds, most=most)
    port = await server.start("127.0.0.1", 0)
    try:
        yield port
    finally:
        await server.close()


@pytest.fixture
async def opened() -> AsyncGenerator[Open]:
    """Opens connections, and closes them all in the end."""
    writers: list[asyncio.StreamWriter] = []

    async def one(port: int, words: bytes = b"") -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        writer.write(words)
        await writer.drain()
        return reader

    yield one
    for writer in writers:
        writer.close()
    await asyncio.gather(*(one.wait_closed() for one in writers), return_exceptions=True)


async def get(port: int) -> str:
    async with (
        ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/") as answer,
    ):
        return await answer.text()


async def is_hung_up(connection: asyncio.StreamReader) -> bool:
    try:
        async with asyncio.timeout(30):
            return await connection.read() == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
async def test_a_request_that_does_not_arrive_in_time_is_hung_up_on(words: bytes, opened: Open):
    async with serving() as port:
        assert await is_hung_up(await opened(port, words))


async def test_a_body_that_does_not_arrive_in_time_is_refused(opened: Open):
    async with serving() as port:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"
        reader = await opened(port, head)
        async with asyncio.timeout(30):
            assert b"408" in await reader.readline()


async def test_with_many_slow_connections_others_are_answered_and_the_oldest_go(opened: Open):
    async with serving(arrive_seconds=60) as port:
        slow = [await opened(port, b"GET") for _ in range(20)]
        assert await get(port) == "empty"
        assert all([await is_hung_up(one) for one in slow[:15]])


async def test_a_request_that_is_being_answered_is_not_hung_up_on(opened: Open):
    asked, go = asyncio.Event(), asyncio.Event()

    async def slowly(request: web.Request) -> web.Response:
        asked.set()
        await go.wait()
        return web.Response(text="done")

    application = web.Application()
    application.router.add_get("/", slowly)
    server = BoundedServer(application, arrive_seconds=0.2, most=1)
    port = await server.start("127.0.0.1", 0)
    answer = asyncio.create_task(get(port))
    await asked.wait()
    await asyncio.sleep(0.3)  # longer than a request may take to arrive
    assert await is_hung_up(await opened(port))  # no room, and nobody to send away
    go.set()
    assert await answer == "done"
    await server.close()


async def test_a_connection_takes_more_than_one_request():
    async with serving(arrive_seconds=60) as port, ClientSession() as session:
        for _ in range(3):
            async with session.post(f"http://127.0.0.1:{port}/", data="again") as answer:
                assert await answer.text() == "again"
