"""The HTTP servers: health in both modes, Slack's signed requests in HTTP mode, and metrics.

Bolt checks the signature and its age (five minutes) before any listener gets a request. A request
that is replayed within that time runs again without effect, because facts are recorded under
Slack's own ids. Slack's check of the certificate (`ssl_check`) needs no signature.

Source: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import errno
import logging
import re
import traceback
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web
from pydantic import ValidationError
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.log import logger
from core.errors import ConfigurationBroken

_log = logger(__name__)

EVENTS_PATH = "/slack/events"
HEALTH_PATH = "/health"
READY_PATH = "/ready"
METRICS_PATH = "/metrics"
_FAILED, _UNHEALTHY = 500, 503
#: Prometheus's text format (https://prometheus.io/docs/instrumenting/exposition_formats).
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
#: Largest request body, in bytes; Slack's own are far smaller.
LARGEST_REQUEST = 1024 * 1024
_TEXT = re.compile(r".+", re.ASCII)
#: Headers that are passed to Bolt, with their syntax. Bolt would also obey headers that Slack's
#: signature does not cover, and raises on a malformed signature.
_HEADERS = {
    "Content-Type": _TEXT,
    "X-Slack-Request-Timestamp": re.compile(r"[0-9]{1,12}"),
    "X-Slack-Signature": re.compile(r"v0=[0-9a-f]{64}"),
    "X-Slack-Retry-Num": _TEXT,
    "X-Slack-Retry-Reason": _TEXT,
}
#: Bolt's status if the signature is missing, wrong or too old.
_UNSIGNED_STATUS = 401
#: Seconds for which an idle connection is kept: longer than load balancers keep theirs.
_IDLE_SECONDS = 75.0
_STOP_SECONDS = 3.0
_ROOT = Path(__file__).parents[3]
_OUR_CODE = (_ROOT / "bot", _ROOT / "core")
#: Left out when the place of an error is searched: every request passes through this folder.
_CONNECTION = Path(__file__).parent
_UNSIGNED = (
    "Its signature is missing, more than five minutes old, or not made with SLACK_SIGNING_SECRET. "
    "If people say that Moot does not react, copy that anew from Basic Information, App "
    "Credentials, compare this machine's clock with the right time (`date -u`), and restart."
)


class HealthReport(Protocol):
    @property
    def healthy(self) -> bool: ...

    def as_json(self) -> Mapping[str, Any]: ...


#: Adds routes of another part of the bot to the same port.
AddRoutes = Callable[[web.Application], None]


class WebServer:
    """Serves an application on one port.

    It limits neither the number of connections nor the time of a request. If it can be reached from
    outside, the proxy in front of it, which terminates TLS, must do so.
    """

    def __init__(
        self, application: web.Application, host: str, port: int, variable: str = "MOOT_PORT"
    ) -> None:
        """`port` 0 is any free port; `variable` is the environment variable that sets the port."""
        self.host, self.port, self._variable = host, port, variable
        self._runner = web.AppRunner(
            application,
            access_log=None,
            shutdown_timeout=_STOP_SECONDS,
            keepalive_timeout=_IDLE_SECONDS,
        )

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    async def start(self) -> None:
        """Raises `ConfigurationBroken` if the port is in use or the host is not of this machine."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except OSError as error:
            await self._runner.cleanup()
            host = self._variable.replace("PORT", "HOST")
            message = (
                f"Cannot listen on {self.host} port {self.port}: {error.strerror or error}. "
                f"Change {host} or {self._variable}."
            )
            if error.errno == errno.EADDRINUSE:
                setting = f"{self._variable}={self.port + 1}"
                message = f"Port {self.port} is in use. Choose another one, for example {setting}."
            raise ConfigurationBroken(message) from None
        self.port = int(self._runner.addresses[0][1])

    async def close(self) -> None:
        await self._runner.cleanup()


class HttpServer(WebServer):
    """Serves health and readiness, and Slack's requests in HTTP mode."""

    def __init__(
        self,
        host: str,
        port: int,
        health: Callable[[], Awaitable[HealthReport]],
        *,
        app: AsyncApp | None = None,
        installing: AsyncOAuthFlow | None = None,
        routes: Sequence[AddRoutes] = (),
    ) -> None:
        """`app` is None in Socket Mode; `installing` is None if the bot serves one workspace.

        `health` never raises.
        """
        self._health = health
        #: Whether all parts have started, and shutdown has not begun.
        self.is_ready = False
        #: Whether a request without a valid signature was logged.
        self._has_logged_unsigned = False
        server = web.Application(client_max_size=LARGEST_REQUEST)
        server.router.add_get(HEALTH_PATH, self._report)
        server.router.add_get(READY_PATH, self._readiness)
        if app is not None:
            server.router.add_post(EVENTS_PATH, partial(self._take, app))
        if installing is not None:
            # The page with the button to install the app, and Slack's redirect with the code.
            for path, step in (
                (installing.install_path, installing.handle_installation),
                (installing.redirect_uri_path, installing.handle_callback),
            ):
                server.router.add_get(path, partial(_show, step))
        for add in routes:
            add(server)
        super().__init__(server, host, port)

    @contextmanager
    def ready(self) -> Generator[None]:
        self.is_ready = True
        try:
            yield
        finally:
            self.is_ready = False

    async def _report(self, request: web.Request) -> web.Response:
        del request
        report = await self._health()
        status = 200 if report.healthy else _UNHEALTHY
        return web.json_response(report.as_json(), status=status)

    async def _readiness(self, request: web.Request) -> web.Response:
        del request
        ready = self.is_ready and (await self._health()).healthy
        return web.json_response({"ready": ready}, status=200 if ready else _UNHEALTHY)

    async def _take(self, app: AsyncApp, request: web.Request) -> web.StreamResponse:
        headers: dict[str, str | Sequence[str]] = {
            name: request.headers[name]
            for name, form in _HEADERS.items()
            if form.fullmatch(request.headers.get(name, ""))
        }
        try:
            body = (await request.read()).decode("utf-8")
            bolt_request = AsyncBoltRequest(body=body, headers=headers)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            return web.json_response({"error": "malformed request"}, status=400)
        try:
            response = await app.async_dispatch(bolt_request)
        except Exception as error:  # noqa: BLE001 - aiohttp would log it with the body
            return web.Response(status=_log_failure(error))
        if response.status == _UNSIGNED_STATUS:
            # Anybody can send such requests, so only the first one is a warning.
            write = _log.debug if self._has_logged_unsigned else _log.warning
            write("request refused", hint=_UNSIGNED)
            self._has_logged_unsigned = True
        return await to_aiohttp_response(response)


def figures_server(host: str, port: int, figures: Callable[[], Awaitable[bytes]]) -> WebServer:
    """The server of the metrics for Prometheus, on a port of its own that can stay private."""

    async def show(_request: web.Request) -> web.Response:
        return web.Response(body=await figures(), headers={"Content-Type": _PROMETHEUS})

    application = web.Application()
    application.router.add_get(METRICS_PATH, show)
    return WebServer(application, host, port, "MOOT_METRICS_PORT")


async def _show(
    step: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], request: web.Request
) -> web.StreamResponse:
    try:
        return await to_aiohttp_response(await step(await to_bolt_request(request)))
    except Exception as error:  # noqa: BLE001 - nobody must see a traceback
        text = "Moot could not be installed. Please try again in a minute."
        return web.Response(status=_log_failure(error), text=text)


def quiet_logger() -> logging.Logger:
    """The logger for Bolt. Below ERROR, Bolt logs whole bodies, and warns that it has no token."""
    quiet = logging.getLogger("slack_bolt")
    quiet.setLevel(logging.ERROR)
    return quiet


def answer_failures(app: AsyncApp) -> None:
    """Replace Bolt's error handler, which logs tracebacks and bodies.

    Slack sends an event again after any status except 200.
    """

    @app.error
    async def log_failure(error: Exception, response: BoltResponse | None) -> BoltResponse | None:
        status = _log_failure(error)
        # Without a response the request was acknowledged before.
        return BoltResponse(status=status, body="") if response else None


def _log_failure(error: Exception) -> int:
    """Log an error; return the status for Slack: 404 no listener, 400 malformed, 500 our fault."""
    position, status = _position_in_our_code(error), _FAILED
    if isinstance(error, BoltUnhandledRequestError):
        status = 404
    # JSON can spell half of a surrogate pair; a database cannot store it.
    elif isinstance(error, ValidationError | UnicodeEncodeError) or not position:
        status = 400
    # An error's message may quote what people typed, so it is not logged.
    fields = {"reason": type(error).__name__, "at": position, "status": status}
    if status == _FAILED:
        _log.error("request failed", **fields)
    else:
        _log.warning("request not understood", **fields)
    return status


def _position_in_our_code(error: Exception) -> str:
    """File and line of our innermost frame; empty if no listener of ours was running."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if any(map(path.is_relative_to, _OUR_CODE)) and not path.is_relative_to(_CONNECTION):
            return f"{path.relative_to(_ROOT)}:{frame.lineno}"
    return ""
