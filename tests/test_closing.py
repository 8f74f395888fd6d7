"""No connection stays open whose server closes while it arrives."""

import asyncio
import gc
import socket
import warnings
from contextlib import suppress

import pytest


async def warned_of(steps: int) -> list[str]:
    """What Python warns of when a server closes so many steps after somebody connected."""
    loop = asyncio.get_running_loop()
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    with (
        warnings.catch_warnings(record=True) as caught,
        socket.create_connection(server.sockets[0].getsockname()) as client,
    ):
        warnings.simplefilter("always")
        client.settimeout(0)
        for _ in range(steps):
            await asyncio.sleep(0)
        server.close()
        with suppress(ConnectionResetError):  # as it is if it was not accepted yet
            assert await loop.sock_recv(client, 1) == b""
        gc.collect()
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("steps", range(5))
async def test_a_connection_is_closed_though_its_server_closes(steps: int) -> None:
    assert await warned_of(steps) == []
