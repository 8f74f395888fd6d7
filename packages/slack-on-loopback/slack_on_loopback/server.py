"""The HTTP server: all parts of the workspace on one loopback port."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web

from slack_on_loopback import responses
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.initial_state import save_state
from slack_on_loopback.json_values import as_object, parse_json
from slack_on_loopback.page_api import PageApi
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.stored_files import may_see
from slack_on_loopback.web_api import WebApi, hang_up

PAGE = Path(__file__).parent / "page"
_SAVE_EVERY_SECONDS = 0.5
_MOST_UPLOAD_BYTES = 40 * 1024 * 1024
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Server:
    """The server of one workspace."""

    runtime: Runtime
    _page: PageApi = field(init=False)
    _runner: web.AppRunner | None = None
    _site: web.TCPSite | None = None
    _saver: asyncio.Task[None] | None = None

    def __post_init__(self):
        self._page = PageApi(self.runtime)

    async def start(self) -> None:
        """Listen, and save the state regularly."""
        app = web.Application(middlewares=[same_origin], client_max_size=_MOST_UPLOAD_BYTES)
        app.router.add_routes(self._routes())
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        config = self.runtime.config
        self._site = web.TCPSite(self._runner, config.host, config.port)
        await self._site.start()
        port = self._runner.addresses[0][1]
        self.runtime.base_url = f"http://{config.host}:{port}"
        self._saver = asyncio.create_task(self._save_often())

    async def stop(self) -> None:
        """Close every connection and save the state once more."""
        if self._site is not None and self.runtime.base_url:
            await self._site.stop()
        await self._page.hang_up()
        await self.runtime.dispatcher.close()
        await self.runtime.sockets.close()
        await self.runtime.http.close()
        if self._saver is not None:
            self._saver.cancel()
            await asyncio.gather(self._saver, return_exceptions=True)
        if self._runner is not None:
            await self._runner.cleanup()
        self._save()

    def _routes(self) -> list[web.AbstractRouteDef]:
        api = WebApi(self.runtime)
        return [
            web.get("/api/{method}", api.handle),
            web.post("/api/{method}", api.handle),
            web.get("/socket/{ticket}", self.socket),
            web.post("/response/{name}", self.response),
            web.post("/upload/{file}", self.upload),
            web.get("/files/{file}/{name}", self.file),
            web.get("/files/{user}/{file}/{name}", self.file),
            web.get("/files-pri/{file}/{name}", self.private_file),
            web.get("/files-pri/{file}/download/{name}", self.private_file),
            web.get("/archives/{channel}/{ts}", self.permalink),
            *self._page.routes(),
            web.get("/", self._static),
            web.get("/page/{path:.+}", self._static),
        ]

    async def socket(self, request: web.Request) -> web.StreamResponse:
        """Open a socket with a ticket of `apps.connections.open`."""
        if not self.runtime.sockets.redeem(request.match_info["ticket"]):
            return web.Response(status=403, text="invalid_ticket")
        return await self.runtime.sockets.serve(request)

    async def response(self, request: web.Request) -> web.StreamResponse:
        """Handle an app's post to a `response_url`."""
        runtime = self.runtime
        if runtime.faults.take("drop_before", "response_url"):
            return hang_up(request)
        try:
            url = runtime.response_urls.use(request.match_info["name"], runtime.now())
            responses.respond(runtime, url, as_object(parse_json(await request.text())) or {})
        except SlackRefusal as refused:
            is_gone = refused.code in {"invalid_url", "used_url", "expired_url"}
            return web.json_response(refused.body(), status=404 if is_gone else 400)
        if runtime.faults.take("drop_after", "response_url"):
            return hang_up(request)
        return web.json_response({"ok": True})

    async def upload(self, request: web.Request) -> web.StreamResponse:
        """Store the content of a file."""
        stored = self.runtime.state.files.get(request.match_info["file"])
        if stored is None or stored.uploaded:
            return web.Response(status=404, text="file_not_found")
        stored.content = await request.read()
        stored.length, stored.uploaded = len(stored.content), True
        self.runtime.notify_change()
        return web.Response(text=f"OK - {stored.length}")

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Send the content of a file to a person: whoever reaches this port may be anybody."""
        stored = self.runtime.state.files.get(request.match_info["file"])
        if stored is None or not stored.uploaded:
            return web.Response(status=404, text="file_not_found")
        return web.Response(
            body=stored.content,
            content_type=stored.mimetype,
            headers={"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"},
        )

    async def private_file(self, request: web.Request) -> web.StreamResponse:
        """Send the content of a file to an app that may see it; redirect others to a login.

        Source: https://docs.slack.dev/reference/objects/file-object (url_private).
        """
        token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        app, stored = self.runtime.app, self.runtime.state.files.get(request.match_info["file"])
        may_read = token == app.bot_token and "files:read" in app.scopes
        if not may_read or stored is None or not may_see(self.runtime, stored):
            raise web.HTTPFound("/?redir=%2Ffiles-pri")
        return await self.file(request)

    async def permalink(self, request: web.Request) -> web.StreamResponse:
        """Redirect from a permalink to the page."""
        digits = request.match_info["ts"].removeprefix("p")
        ts = f"{digits[:-6]}.{digits[-6:]}"
        channel = self.runtime.state.channels.get(request.match_info["channel"])
        if channel is None or ts not in channel.messages:
            return web.Response(status=404, text="message_not_found")
        root = channel.messages[ts].get("thread_ts", "")
        place = f"/{root}" if root else f"?m={ts}"
        raise web.HTTPFound(f"/#/{channel.id}{place}")

    async def _static(self, request: web.Request) -> web.StreamResponse:
        path = (PAGE / request.match_info.get("path", "index.html")).resolve()
        if not path.is_file() or PAGE.resolve() not in path.parents:
            return web.Response(status=404, text="not_found")
        return web.FileResponse(path, headers={"Cache-Control": "no-store"})

    async def _save_often(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_EVERY_SECONDS)
            self._save()

    def _save(self) -> None:
        path = self.runtime.config.state_file
        if path is not None and self.runtime.dirty:
            save_state(self.runtime.state, path)
        self.runtime.dirty = False


@web.middleware
async def same_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests of other web pages in the browser, and foreign host names."""
    host = urlsplit(f"//{request.host}").hostname
    origin = request.headers.get("Origin")
    if host not in _LOOPBACK or (origin is not None and urlsplit(origin).netloc != request.host):
        return web.Response(status=403, text="wrong_origin")
    return await handler(request)
