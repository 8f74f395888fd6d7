"""`/mcp` of the bot: streamable HTTP of the MCP SDK, served by the bot's own web server.

There are no sessions, so both sides can restart. The token of every request is checked before the
SDK sees the request, and the SDK does not get the token.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from bot.log import logger
from bot.mcp.arguments import CallerDebates
from bot.mcp.in_slack import Caller
from bot.mcp.tools import build_server
from bot.slack.connection.http import LARGEST_REQUEST
from core.errors import BadInput, StoreError

_log = logger(__name__)

MCP_PATH = "/mcp"
#: Host names under which programs on this machine may always call.
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_UNKNOWN = (
    "The token is missing, unknown, expired or revoked. Make one in Slack with “/debate token”, "
    "and send it as “Authorization: Bearer …”."
)
#: Seconds between checks whether a waiting caller is still connected.
_POLL_INTERVAL = 1.0
#: Concurrent requests of one person, and of all people. Some wait for news for most of a minute,
#: and Slack's requests come to the same server.
MOST_OF_ONE, _MOST_OF_ALL = 10, 200
_TOO_MANY = (
    "Too many requests are being answered for you, or for everybody, right now. Try again in a "
    "few seconds, with fewer at once."
)
_PRIVATE_HEADERS = frozenset({"authorization", "cookie"})


@dataclass
class McpRoutes:
    """Serves `/mcp`. Call `start` before the first request and `close` after the last."""

    #: Returns the owner of a token; None: unknown. May raise `StoreDown` or `SlackUnavailable`.
    find_caller: Callable[[str], Awaitable[Caller | None]]
    #: Returns the debates of a caller.
    caller_debates: Callable[[Caller], CallerDebates]
    #: Host names under which programs reach Moot, with the port unless it is the default.
    hosts: Sequence[str] = ()
    _manager: StreamableHTTPSessionManager | None = field(default=None, init=False)
    _serving: asyncio.Task[None] | None = field(default=None, init=False)
    _stopped: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    #: Number of current requests, by workspace and person.
    _answering: Counter[tuple[str, str]] = field(
        default_factory=Counter[tuple[str, str]], init=False
    )

    def add_to(self, application: web.Application) -> None:
        application.router.add_post(MCP_PATH, self._answer)

    async def start(self) -> None:
        local = [name for host in _LOCAL_HOSTS for name in (host, f"{host}:*")]
        origins = [f"http://{name}" for name in local] + [f"https://{host}" for host in self.hosts]
        manager = self._manager = StreamableHTTPSessionManager(
            build_server(lambda request: self.caller_debates(request.state.caller)),
            stateless=True,
            security_settings=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=[*local, *self.hosts],
                allowed_origins=origins,
            ),
            max_request_body_size=LARGEST_REQUEST,
        )
        started = asyncio.Event()

        async def serve() -> None:
            async with manager.run():
                started.set()
                await self._stopped.wait()

        # A separate task, as the task that enters `run` must also leave it.
        self._serving = asyncio.create_task(serve(), name="mcp")
        await started.wait()

    async def close(self) -> None:
        self._stopped.set()
        if self._serving is not None:
            await self._serving

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        caller = None
        try:
            if scheme.casefold() == "bearer" and bearer.strip():
                caller = await self.find_caller(bearer.strip())
        except (StoreError, BadInput) as error:  # neither the database nor Slack could be asked
            _log.warning("cannot look whose a token is", reason=type(error).__name__)
            return web.json_response({"error": "try again in a moment"}, status=503)
        if caller is None or self._manager is None:
            return web.json_response(
                {"error": "invalid_token", "error_description": _UNKNOWN},
                status=401,
                headers={
                    "WWW-Authenticate": 'Bearer realm="moot", error="invalid_token"',
                    "Connection": "close",  # the body of the request is not read
                },
            )
        key = caller.workspace, caller.person.id
        if self._answering[key] >= MOST_OF_ONE or self._answering.total() >= _MOST_OF_ALL:
            return web.json_response(
                {"error": "too_many_requests", "error_description": _TOO_MANY},
                status=429,
                headers={"Retry-After": "5"},
            )
        reply = _Reply(request)
        scope = _asgi_scope(request, caller)
        self._answering[key] += 1
        try:
            await request.read()  # only after the token was checked
            await self._manager.handle_request(scope, reply.receive, reply.send)
        except ConnectionResetError:
            _log.info("a caller hung up")
        finally:
            self._answering[key] -= 1
            self._answering += Counter()  # removes zero counts
        return reply.response


def _asgi_scope(request: web.Request, caller: Caller) -> dict[str, Any]:
    """The ASGI scope of a request (https://asgi.readthedocs.io, HTTP connection scope)."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.raw_path.encode(),
        "query_string": request.query_string.encode(),
        "root_path": "",
        "headers": [
            (name.lower(), value)
            for name, value in request.raw_headers
            if name.decode("latin-1").lower() not in _PRIVATE_HEADERS
        ],
        "client": None,
        "server": None,
        "state": {"caller": caller},
    }


class _Reply:
    """The `receive` and `send` of ASGI for one request."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._is_read = False
        self._is_begun = False
        self.response = web.StreamResponse(status=500)

    async def receive(self) -> dict[str, Any]:
        """Return the body at the first call; later, wait until the caller disconnects."""
        if not self._is_read:
            self._is_read = True
            body = await self._request.read()
            return {"type": "http.request", "body": body, "more_body": False}
        # aiohttp does not report that a caller disconnected, so the transport is polled.
        while (transport := self._request.transport) and not transport.is_closing():  # noqa: ASYNC110 - see above
            await asyncio.sleep(_POLL_INTERVAL)
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.response = web.StreamResponse(status=message["status"])
            for name, value in message.get("headers", ()):
                self.response.headers.add(name.decode("latin-1"), value.decode("latin-1"))
            return
        if not self._is_begun:
            self._is_begun = True
            await self.response.prepare(self._request)
        if body := message.get("body", b""):
            await self.response.write(body)
        if not message.get("more_body", False):
            await self.response.write_eof()
