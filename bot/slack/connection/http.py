"""The HTTP servers: health in both modes, Slack's signed requests in HTTP mode; figures apart.

The signature and its age (five minutes) are checked before anything is read out of a request. One
that is played back within that time runs again; it has no second effect, because facts are recorded
under Slack's own ids.

Source: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import re
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier

from bot.log import logger
from bot.slack.connection.bounded import BoundedServer
from bot.slack.connection.error_answers import dispatched, log_failure
from bot.slack.connection.freezes import Freezes
from bot.slack.connection.refused import Cause, RefusedRequests

_log = logger(__name__)

EVENTS_PATH = "/slack/events"
HEALTH_PATH = "/health"
READY_PATH = "/ready"
METRICS_PATH = "/metrics"
_UNHEALTHY, _MALFORMED = 503, 400
_JSON = "application/json"
#: Prometheus's text format (https://prometheus.io/docs/instrumenting/exposition_formats).
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
#: Bytes that a request may have; Slack's own are far smaller.
LARGEST_REQUEST = 1024 * 1024
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"
#: Seconds after which what Slack signed is not taken any more.
_GOOD_SECONDS = 300
#: Bolt obeys others too, which Slack has not signed.
_HEADERS = ("Content-Type", _TIMESTAMP, _SIGNATURE, "X-Slack-Retry-Num", "X-Slack-Retry-Reason")
_UNIX_TIME = re.compile(r"[0-9]{1,12}")
_HEX_DIGEST = re.compile(r"v0=[0-9a-f]{64}")


class HealthReport(Protocol):
    """What `/health` answers."""

    @property
    def healthy(self) -> bool:
        """Whether all is well."""
        ...

    def as_json(self) -> Mapping[str, Any]:
        """What was looked at, for machines."""
        ...


class Routes(Protocol):
    """Serves something else on the same port."""

    def add_to(self, application: web.Application) -> None:
        """Add its paths."""
        ...


class HealthCheck(Protocol):
    """Looks whether all is well."""

    async def report(self) -> HealthReport:
        """What was found; never raises."""
        ...


@dataclass
class HttpServer:
    """Listens on one port."""

    host: str
    #: 0 for any free one.
    port: int
    health: HealthCheck
    #: Takes Slack's requests; None in Socket Mode.
    app: AsyncApp | None = None
    #: What Slack signs its requests with.
    signing_secret: str = field(default="", repr=False)
    #: Installs the app in more workspaces; None: there is one.
    installing: AsyncOAuthFlow | None = None
    #: What else is served.
    routes: Sequence[Routes] = ()
    #: Whether everything has begun and nothing is ending yet.
    is_ready: bool = field(default=False, init=False)
    #: Tells what may have waited for too long; None: nobody looks.
    freezes: Freezes | None = None
    #: Counts what is refused.
    refused: RefusedRequests = field(default_factory=RefusedRequests)
    _server: BoundedServer | None = field(default=None, init=False)

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigurationBroken: The port is taken, or the host is not ours.
        """
        server = web.Application(client_max_size=LARGEST_REQUEST)
        server.router.add_get(HEALTH_PATH, self._report)
        server.router.add_get(READY_PATH, self._readiness)
        if self.app is not None:
            server.router.add_post(EVENTS_PATH, self._take)
        if (flow := self.installing) is not None:
            # The page with the button that leads to Slack; then Slack sends a code for a token.
            server.router.add_get(flow.install_path, partial(_show, flow.handle_installation))
            server.router.add_get(flow.redirect_uri_path, partial(_show, flow.handle_callback))
        for routes in self.routes:
            routes.add_to(server)
        self._server = BoundedServer(server)
        self.port = await self._server.start(self.host, self.port)

    @contextmanager
    def ready(self) -> Generator[None]:
        """Say that work may be sent here, for as long as the block lasts."""
        self.is_ready = True
        try:
            yield
        finally:
            self.is_ready = False

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        return f"http://{self.host}:{self.port}"

    async def close(self) -> None:
        """Answer what is being answered, then stop."""
        if self._server is not None:
            await self._server.close()

    async def own_report(self) -> Mapping[str, Any]:
        """What `/health` says of this process."""
        report = await self.health.report()
        # Told, but no fault: whoever reaches the port could take us out of service with it.
        requests = "wrong signature" if self.refused.is_secret_doubtful else "ok"
        return {**report.as_json(), "requests": requests}

    async def _report(self, request: web.Request) -> web.Response:
        del request
        said = await self.own_report()
        return web.json_response(said, status=200 if said["status"] == "ok" else _UNHEALTHY)

    async def _readiness(self, request: web.Request) -> web.Response:
        """Say whether work may be sent here: begun, not ending, and healthy."""
        del request
        ready = self.is_ready and (await self.health.report()).healthy
        return web.json_response({"ready": ready}, status=200 if ready else _UNHEALTHY)

    async def _take(self, request: web.Request) -> web.StreamResponse:
        try:
            body = (await request.read()).decode("utf-8")
        except UnicodeDecodeError:
            return self._refuse(Cause.MALFORMED, 401)
        if self.app is None:
            return self._refuse(Cause.MALFORMED, 401)
        if cause := self._unsigned(request.headers, body):
            return self._refuse(cause, 401)
        self.refused.accept()
        # Events come as JSON; they come again, and do no harm twice.
        if self.freezes and request.content_type != _JSON and self.freezes.has_waited():
            _log.warning("not taken: Slack may have given it up")
            return web.json_response({"error": "too late"}, status=_UNHEALTHY)
        headers: dict[str, str | Sequence[str]] = {
            name: request.headers[name] for name in _HEADERS if name in request.headers
        }
        try:
            readable = AsyncBoltRequest(body=body, headers=headers)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            return self._refuse(Cause.MALFORMED, 400)  # it holds no object
        return await to_aiohttp_response(await dispatched(self.app, readable))

    def _refuse(self, cause: Cause, status: int) -> web.Response:
        self.refused.note(cause)
        words = "malformed request" if status == _MALFORMED else "invalid request"
        return web.json_response({"error": words}, status=status)

    def _unsigned(self, headers: Mapping[str, str], body: str) -> Cause | None:
        """Why it does not count as signed by Slack within five minutes; None if it does.

        What the SDK would stumble at is not signed either.
        """
        timestamp, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
        if not (self.signing_secret and _UNIX_TIME.fullmatch(timestamp)):
            return Cause.UNSIGNED
        if not _HEX_DIGEST.fullmatch(signature):
            return Cause.UNSIGNED
        if abs(time.time() - int(timestamp)) > _GOOD_SECONDS:
            return Cause.TOO_OLD
        verifier = SignatureVerifier(self.signing_secret)
        if verifier.is_valid(body=body, timestamp=timestamp, signature=signature):
            return None
        return Cause.WRONG_SIGNATURE


@dataclass
class FiguresServer:
    """Shows Prometheus the figures, on a port of its own: they are nobody else's business."""

    host: str
    #: 0 for any free one.
    port: int
    figures: Callable[[], Awaitable[bytes]]
    _server: BoundedServer | None = field(default=None, init=False)

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigurationBroken: The port is taken, or the host is not ours.
        """
        server = web.Application()
        server.router.add_get(METRICS_PATH, self._figures)
        self._server = BoundedServer(server)
        self.port = await self._server.start(self.host, self.port)

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        return f"http://{self.host}:{self.port}{METRICS_PATH}"

    async def close(self) -> None:
        """Answer what is being answered, then stop."""
        if self._server is not None:
            await self._server.close()

    async def _figures(self, request: web.Request) -> web.Response:
        del request
        return web.Response(body=await self.figures(), headers={"Content-Type": _PROMETHEUS})


async def _show(
    step: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], request: web.Request
) -> web.StreamResponse:
    """Return the page of a step of the installation."""
    try:
        return await to_aiohttp_response(await step(await to_bolt_request(request)))
    except Exception as error:  # noqa: BLE001 - whatever it is, nobody shall read a traceback
        text = "Moot could not be installed. Please try again in a minute."
        return web.Response(status=log_failure(error), text=text)
