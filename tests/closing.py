"""Test servers that close while a connection arrives."""

from asyncio.selector_events import BaseSelectorEventLoop
from typing import Any

#: What a loop makes a task of for each connection that it accepted.
_ACCEPTED = "_accept_connection2"


def close_what_comes_late() -> None:
    """Close each connection whose server was closed after the loop had accepted it.

    asyncio makes a transport for it, which fails on an assertion and is never closed: a warning
    about it hits any later test (https://github.com/python/cpython/issues/109564).
    """
    original = getattr(BaseSelectorEventLoop, _ACCEPTED)

    async def accepted(loop: BaseSelectorEventLoop, *arguments: Any) -> None:
        # Factory of protocols, connection, what is known of it, TLS, server and limits of TLS.
        connection, server = arguments[1], arguments[4]
        if server is not None and not server.sockets:
            connection.close()
            return
        await original(loop, *arguments)

    setattr(BaseSelectorEventLoop, _ACCEPTED, accepted)
