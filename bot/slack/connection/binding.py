"""Takes a port, so that one process or several can accept what comes in on it."""

import asyncio
import errno
import socket
from collections.abc import Sequence

from core.errors import ConfigurationBroken

#: Connections that wait to be accepted.
_BACKLOG = 100


async def bind(host: str, port: int) -> Sequence[socket.socket]:
    """Listen at every address of a host; what connects waits until somebody accepts it.

    Args:
        host: A name or an address of this machine.
        port: 0 for any free one.

    Raises:
        ConfigurationBroken: The port is taken, or the host is not ours.
    """
    loop = asyncio.get_running_loop()
    sockets: Sequence[socket.socket] = ()
    try:
        server = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
        sockets = [one.dup() for one in server.sockets]
        server.close()
        for one in sockets:
            one.listen(_BACKLOG)
    except OSError as error:
        for one in sockets:
            one.close()
        words = f"Cannot listen on {host} port {port}: {error.strerror or error}."
        if error.errno == errno.EADDRINUSE:
            instead = f"MOOT_PORT={port + 1}"
            words = f"Port {port} is in use. Choose another one, for example {instead}."
        raise ConfigurationBroken(words) from None
    return sockets
