"""`/mcp` beside the bot: the SDK's streamable HTTP, served by the bot's own server.

Nothing is remembered between requests, so both sides can restart. Every request brings a token,
and whose it is is asked anew with each. The SDK sees neither the token nor who has none.
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
#: Programs on this machine may always call, under any of its names.
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_UNKNOWN = (
    "The token is missing, unknown, expired or revoked. Make one in Slack with “/debate token”, "
    "and send it as “Authorization: Bearer …”."
)
#: Seconds between two looks whether a caller that is kept waiting is still there.
_LOOK_AGAIN = 1.0
#: Requests that one person's programs have answered at once, and those of all people: some wait for
#: news for most of a minute, and Slack's requests come to the same server.
MOST_OF_ONE, _MOST_OF_ALL = 10, 200
_TOO_MANY = (
    "Too many requests are being answered for you, or for everybody, right now. Try again in a "
    "few seconds, with fewer at once."
)
_KEPT_FROM_SDK = frozenset({"authorization", "cookie"})


@dataclass
class McpRoutes:
    """Serves `/mcp`. `start` it before requests come, `close` it after they do."""

    #: Returns whose a token is; None: nobody's. May raise `StoreDown` or `SlackUnavailable`.
    caller_of: Callable[[str], Awaitable[Caller | None]]
    #: Returns debates as a caller sees them.
    debates_of: Callable[[Caller], CallerDebates]
    #: Host names, with their ports if those are unusual, under which programs reach Moot.
    hosts: Sequence[str] = ()
    _manager: StreamableHTTPSessionManager | None = field(default=None, init=False)
    _serving: asyncio.Task[None] | None = field(default=None, init=False)
    _stopped: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    #: Requests that are being answered, by workspace and person.
    _answering: Counter[tuple[str, str]] = field(
        default_factory=Counter[tuple[str, str]], init=False
    )

    def add_to(self, application: web.Application) -> None:
        application.router.add_post(MCP_PATH, self._answer)

    async def start(self) -> None:
        local = [name for host in _LOCAL_HOSTS for name in (host, f"{host}:*")]
        origins = [f"http://{name}" for name in local] + [f"https://{host}" for host in self.hosts]
        manager = self._manager = StreamableHTTPSessionManager(
            build_server(lambda request: self.debates_of(request.state.caller)),
            stateless=True,
            security_settings=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=[*local, *self.hosts],
                allowed_origins=origins,
            ),
            max_request_body_size=LARGEST_REQUEST,
        )
        begun = asyncio.Event()

        async def serve() -> None:
            async with manager.run():
                begun.set()
                await self._stopped.wait()

        # A task of its own: what it opens must be closed by who opened it.
        self._serving = asyncio.create_task(serve(), name="mcp")
        await begun.wait()

    async def close(self) -> None:
        self._stopped.set()
        if self._serving is not None:
            await self._serving

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        caller = None
        try:
            if scheme.casefold() == "bearer" and bearer.strip():
                caller = await self.caller_of(bearer.strip())
        except (StoreError, BadInput) as error:  # the database or Slack does not answer
            _log.warning("cannot look whose a token is", reason=type(error).__name__)
            return web.json_response({"error": "try again in a moment"}, status=503)
        if caller is None or self._manager is None:
            return web.json_response(
                {"error": "invalid_token", "error_description": _UNKNOWN},
                status=401,
                headers={
                    "WWW-Authenticate": 'Bearer realm="moot", error="invalid_token"',
                    "Connection": "close",  # its body, which nobody reads, goes with it
                },
            )
        whose = caller.workspace, caller.person.id
        if self._answering[whose] >= MOST_OF_ONE or self._answering.total() >= _MOST_OF_ALL:
            return web.json_response(
                {"error": "too_many_requests", "error_description": _TOO_MANY},
                status=429,
                headers={"Retry-After": "5"},
            )
        reply = _Reply(request)
        scope = _scope_of(request, caller)
        self._answering[whose] += 1
        try:
            await request.read()  # of those only whose token is known
            await self._manager.handle_request(scope, reply.receive, reply.send)
        except ConnectionResetError:
            _log.info("a caller hung up")
        finally:
            self._answering[whose] -= 1
            self._answering += Counter()  # forgets who has none
        return reply.response


def _scope_of(request: web.Request, caller: Caller) -> dict[str, Any]:
    """The request as ASGI describes it (https://asgi.readthedocs.io, HTTP connection scope)."""
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
            if name.decode("latin-1").lower() not in _KEPT_FROM_SDK
        ],
        "client": None,
        "server": None,
        "state": {"caller": caller},
    }


class _Reply:
    """One request's body and answer, as ASGI hands them over."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._is_read = False
        self._is_begun = False
        self.response = web.StreamResponse(status=500)

    async def receive(self) -> dict[str, Any]:
        """The body, once; then nothing, until the caller has gone."""
        if not self._is_read:
            self._is_read = True
            body = await self._request.read()
            return {"type": "http.request", "body": body, "more_body": False}
        # aiohttp tells nobody when a caller hangs up, so it is looked for.
        while (transport := self._request.transport) and not transport.is_closing():  # noqa: ASYNC110 - as said
            await asyncio.sleep(_LOOK_AGAIN)
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
