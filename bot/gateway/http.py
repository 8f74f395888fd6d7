"""The HTTP server: health in both modes, and Slack's signed requests in HTTP mode.

Bolt checks signatures and their age (five minutes). A request that is played back within that time
runs again; it has no second effect, because facts are recorded under Slack's own ids.
"""

import errno
from dataclasses import dataclass, field

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from bot.health import Health
from core.errors import ConfigurationBroken

EVENTS_PATH = "/slack/events"
HEALTH_PATH = "/health"
_UNHEALTHY = 503
_STOP_SECONDS = 3.0


@dataclass
class HttpServer:
    """Listens on one port."""

    host: str
    #: 0 for any free one.
    port: int
    health: Health
    #: Takes Slack's requests; None in Socket Mode.
    app: AsyncApp | None = None
    _runner: web.AppRunner | None = field(default=None, init=False)

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigurationBroken: The port is taken, or the host is not ours.
        """
        server = web.Application()
        server.router.add_get(HEALTH_PATH, self._report)
        if self.app is not None:
            server.router.add_post(EVENTS_PATH, self._take)
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=_STOP_SECONDS)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise ConfigurationBroken(_in_words(error, self.host, self.port)) from None

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        port = (
            self._runner.addresses[0][1] if self._runner and self._runner.addresses else self.port
        )
        return f"http://{self.host}:{port}"

    async def close(self) -> None:
        """Answer what is being answered, then stop."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _report(self, request: web.Request) -> web.Response:
        del request
        report = await self.health.report()
        return web.json_response(report.as_json(), status=200 if report.healthy else _UNHEALTHY)

    async def _take(self, request: web.Request) -> web.StreamResponse:
        # A timestamp that is no number makes Bolt's check raise: 500 where 401 is meant.
        timestamp = request.headers.get("X-Slack-Request-Timestamp", "")
        if self.app is None or not (timestamp.isascii() and timestamp.isdigit()):
            return web.json_response({"error": "invalid request"}, status=401)
        answer = await self.app.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(answer)


def _in_words(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is in use. Choose another one, for example MOOT_PORT={port + 1}."
    return f"Cannot listen on {host} port {port}: {error.strerror or error}."
