"""The HTTP servers: health in both modes, Slack's signed requests in HTTP mode; figures apart.

Bolt checks the signature and its age (five minutes) before any listener hears of a request. One
that is played back within that time runs again; it has no second effect, because facts are recorded
under Slack's own ids. Slack's check of the certificate (`ssl_check`) needs no signature.

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
#: Bytes that a request may have; Slack's own are far smaller.
LARGEST_REQUEST = 1024 * 1024
_TEXT = re.compile(r".+", re.ASCII)
#: What Bolt is shown: it obeys other headers too, which Slack has not signed, and stumbles at a
#: signature that is spelled like none.
_HEADERS = {
    "Content-Type": _TEXT,
    "X-Slack-Request-Timestamp": re.compile(r"[0-9]{1,12}"),
    "X-Slack-Signature": re.compile(r"v0=[0-9a-f]{64}"),
    "X-Slack-Retry-Num": _TEXT,
    "X-Slack-Retry-Reason": _TEXT,
}
#: What Bolt answers where the signature is missing, wrong or old.
_UNSIGNED_STATUS = 401
#: Seconds that an idle connection is kept: longer than load balancers keep theirs.
_IDLE_SECONDS = 75.0
_STOP_SECONDS = 3.0
_ROOT = Path(__file__).parents[3]
_OWN = (_ROOT / "bot", _ROOT / "core")
#: Every request passes through this folder, so it is not where an error arose.
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


class HealthCheck(Protocol):
    async def report(self) -> HealthReport:
        """Never raises."""
        ...


#: Adds the paths of something else that is served on the same port.
AddRoutes = Callable[[web.Application], None]


class WebServer:
    """Serves an application on one port.

    It limits neither the number of connections nor the time in which a request arrives: where
    others than Slack can reach it, a proxy that ends TLS does.
    """

    def __init__(
        self, application: web.Application, host: str, port: int, variable: str = "MOOT_PORT"
    ) -> None:
        """`port` 0 is any free one; `variable` is the environment variable that sets it."""
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
        """Raises `ConfigurationBroken` where the port is taken, or the host is not ours."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except OSError as error:
            await self._runner.cleanup()
            words = f"Cannot listen on {self.host} port {self.port}: {error.strerror or error}."
            if error.errno == errno.EADDRINUSE:
                instead = f"{self._variable}={self.port + 1}"
                words = f"Port {self.port} is in use. Choose another one, for example {instead}."
            raise ConfigurationBroken(words) from None
        self.port = int(self._runner.addresses[0][1])

    async def close(self) -> None:
        await self._runner.cleanup()


class HttpServer(WebServer):
    """Serves health and readiness, and Slack's requests in HTTP mode."""

    def __init__(
        self,
        host: str,
        port: int,
        health: HealthCheck,
        *,
        app: AsyncApp | None = None,
        installing: AsyncOAuthFlow | None = None,
        routes: Sequence[AddRoutes] = (),
    ) -> None:
        """`app` is None in Socket Mode, `installing` where there is one workspace."""
        self.health = health
        #: Whether everything has begun and nothing is ending yet.
        self.is_ready = False
        #: A request without Slack's signature came, and the log says so.
        self._has_refused = False
        server = web.Application(client_max_size=LARGEST_REQUEST)
        server.router.add_get(HEALTH_PATH, self._report)
        server.router.add_get(READY_PATH, self._readiness)
        if app is not None:
            server.router.add_post(EVENTS_PATH, partial(self._take, app))
        if installing is not None:
            # The page with the button that leads to Slack; then Slack sends a code for a token.
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
        report = await self.health.report()
        status = 200 if report.healthy else _UNHEALTHY
        return web.json_response(report.as_json(), status=status)

    async def _readiness(self, request: web.Request) -> web.Response:
        del request
        ready = self.is_ready and (await self.health.report()).healthy
        return web.json_response({"ready": ready}, status=200 if ready else _UNHEALTHY)

    async def _take(self, app: AsyncApp, request: web.Request) -> web.StreamResponse:
        headers: dict[str, str | Sequence[str]] = {
            name: request.headers[name]
            for name, form in _HEADERS.items()
            if form.fullmatch(request.headers.get(name, ""))
        }
        try:
            body = (await request.read()).decode("utf-8")
            readable = AsyncBoltRequest(body=body, headers=headers)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            return web.json_response({"error": "malformed request"}, status=400)  # it is no object
        try:
            response = await app.async_dispatch(readable)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not be logged whole
            return web.Response(status=_log_failure(error))
        if response.status == _UNSIGNED_STATUS:
            # From the second time on only when debugging, as anybody may send anything.
            write = _log.debug if self._has_refused else _log.warning
            write("request refused", hint=_UNSIGNED)
            self._has_refused = True
        return await to_aiohttp_response(response)


def figures_server(host: str, port: int, figures: Callable[[], Awaitable[bytes]]) -> WebServer:
    """Shows Prometheus the figures, on a port of its own: they are for nobody else."""

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
    except Exception as error:  # noqa: BLE001 - whatever it is, nobody shall read a traceback
        text = "Moot could not be installed. Please try again in a minute."
        return web.Response(status=_log_failure(error), text=text)


def quiet_logger() -> logging.Logger:
    """The logger for Bolt: it logs whole bodies at INFO, and warns of a token it need not have."""
    quiet = logging.getLogger("slack_bolt")
    quiet.setLevel(logging.ERROR)
    return quiet


def answer_failures(app: AsyncApp) -> None:
    """Take over from Bolt, which writes tracebacks and bodies to the log.

    Slack sends events again whatever the status is, as long as it is not 200.
    """

    @app.error
    async def failed(error: Exception, response: BoltResponse | None) -> BoltResponse | None:
        status = _log_failure(error)
        # Without a response the request is acknowledged already.
        return BoltResponse(status=status, body="") if response else None


def _log_failure(error: Exception) -> int:
    """Returns the status for Slack: nobody listens to it, it is malformed, or we failed."""
    place, status = _place_of(error), _FAILED
    if isinstance(error, BoltUnhandledRequestError):
        status = 404
    # Half a surrogate pair is no text: JSON can spell it, no database holds it.
    elif isinstance(error, ValidationError | UnicodeEncodeError) or not place:
        status = 400
    # An error's message may quote what people typed, so it is not logged.
    fields = {"reason": type(error).__name__, "at": place, "status": status}
    if status == _FAILED:
        _log.error("request failed", **fields)
    else:
        _log.warning("request not understood", **fields)
    return status


def _place_of(error: Exception) -> str:
    """Where in our code the error arose; empty if it never got there."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if any(map(path.is_relative_to, _OWN)) and not path.is_relative_to(_CONNECTION):
            return f"{path.relative_to(_ROOT)}:{frame.lineno}"
    return ""
