"""A web server with limits on how many connections there are and how long they may be idle.

aiohttp waits for a request as long as it takes. A thousand connections that send a byte now and
then would use up the process's files, and nobody else could connect.
"""

import asyncio
import resource
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from aiohttp import web

from bot.slack.connection.binding import bind

#: Seconds that a request may take to arrive, and a kept connection may be idle before the next one.
#: Slack waits three seconds for an answer; load balancers keep connections for a minute.
ARRIVE_SECONDS = 10.0
IDLE_SECONDS = 75.0
#: Connections at once; Slack, a load balancer and Prometheus together need some tens.
MOST_CONNECTIONS = 500
_STOP_SECONDS = 3.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
#: Paths whose handlers look at the headers first, and then read the body with `read_in_time`.
UNREAD = web.AppKey("UNREAD", set[str])


async def read_in_time(request: web.Request, seconds: float = ARRIVE_SECONDS) -> None:
    """Read a request's body.

    Raises:
        HTTPRequestTimeout: It has not arrived within so many seconds.
        HTTPRequestEntityTooLarge: It is larger than the application takes.
    """
    try:
        async with asyncio.timeout(seconds):
            await request.read()
    except TimeoutError:
        raise web.HTTPRequestTimeout(headers={"Connection": "close"}) from None


class BoundedServer:
    """Listens on one port."""

    def __init__(
        self,
        application: web.Application,
        *,
        arrive_seconds: float = ARRIVE_SECONDS,
        most: int = MOST_CONNECTIONS,
    ) -> None:
        """Serve an application that has its routes.

        Args:
            application: Its handlers find requests read, but for those of the paths in `UNREAD`.
            arrive_seconds: Seconds that a request may take to arrive, its body included.
            most: Connections at once. When there are more, the one goes that has kept us waiting
                for its request the longest; where nobody does, the new one.
        """
        application.middlewares.append(self._in_time)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=_STOP_SECONDS)
        self._arrive_seconds = arrive_seconds
        # Half of the files the process may open are left for the database and Slack.
        self._most = min(most, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        #: Connections by their transport; those that wait for a request are in order of arrival.
        self._connections: dict[asyncio.BaseTransport, _BoundedConnection] = {}
        self._servers: list[asyncio.Server] = []

    async def start(self, host: str, port: int, sockets: Sequence[socket.socket] = ()) -> int:
        """Listen; return the port.

        Args:
            host: A name or an address of this machine.
            port: 0 for any free one.
            sockets: Those that are bound already, in place of both; other processes may accept
                from them, too.

        Raises:
            ConfigurationBroken: The port is taken, or the host is not ours.
        """
        loop, bound = asyncio.get_running_loop(), sockets or await bind(host, port)
        await self._runner.setup()
        for one in bound:
            self._servers.append(await loop.create_server(self._accept, sock=one))
        return int(bound[0].getsockname()[1])

    async def close(self) -> None:
        """Answer what is being answered, then stop."""
        for server in self._servers:
            server.close()
        await self._runner.cleanup()
        for connection in list(self._connections.values()):
            connection.abort()

    def _accept(self) -> asyncio.Protocol:
        inner = cast("Callable[[], asyncio.Protocol]", self._runner.server)()
        return _BoundedConnection(inner, self._connections, self._make_room, self._arrive_seconds)

    def _make_room(self) -> bool:
        """Return whether there is room for one more connection."""
        if len(self._connections) < self._most:
            return True
        slowest = next((one for one in self._connections.values() if one.is_silent), None)
        if slowest is not None:
            slowest.abort()
        return slowest is not None

    @web.middleware
    async def _in_time(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request once all of it is here."""
        connection = self._connections.get(cast("asyncio.BaseTransport", request.transport))
        if connection:
            connection.heard()
        try:
            if request.path not in request.app.get(UNREAD, ()):
                await read_in_time(request, self._arrive_seconds)
            return await handler(request)
        finally:
            if connection:
                connection.wait(IDLE_SECONDS)


class _BoundedConnection(asyncio.Protocol):
    """One connection, closed when its next request does not arrive in time."""

    def __init__(
        self,
        inner: asyncio.Protocol,
        connections: "dict[asyncio.BaseTransport, _BoundedConnection]",
        make_room: Callable[[], bool],
        arrive_seconds: float,
    ) -> None:
        self._inner = inner
        self._connections = connections
        self._make_room = make_room
        self._arrive_seconds = arrive_seconds
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._is_taken = False

    @property
    def is_silent(self) -> bool:
        """Whether its next request has not arrived yet."""
        return self._deadline is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if not self._make_room():
            self._transport.abort()
            return
        self._is_taken = True
        self._connections[transport] = self
        self.wait(self._arrive_seconds)
        self._inner.connection_made(transport)

    def wait(self, seconds: float) -> None:
        """Hang up unless a request arrives within so many seconds."""
        self.heard()
        if self._transport in self._connections:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(seconds, self.abort)

    def heard(self) -> None:
        """A request arrived."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def abort(self) -> None:
        """Hang up at once."""
        if self._transport is not None:
            self._connections.pop(self._transport, None)
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.heard()
        if self._transport is not None:
            self._connections.pop(self._transport, None)
        if self._is_taken:
            self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_taken:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._is_taken else None

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()
