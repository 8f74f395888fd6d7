"""A small server that speaks the page's side of the local workspace, to test the page alone.

It keeps messages in memory, records what the page asks for, and sends the events a test wants.
Run it by hand to look at the page: `python -m tests.browser.page_server`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

from tests.browser import sample

Json = dict[str, Any]

PAGE = Path(__file__).parents[2] / "slack_on_loopback" / "page"
REPORT = "# Decision\n\nUse **PostgreSQL**.\n\n| Option | Points |\n|---|---:|\n| Postgres | 9 |\n"


def _reply(**answer: object) -> web.Response:
    return web.json_response({"ok": True, **answer})


def _refusal(code: str, message: str) -> web.Response:
    return web.json_response({"ok": False, "error": code, "message": message})


@dataclass(eq=False)
class PageServer:
    """The workspace as the page sees it.

    Attributes:
        asked: every POST of the page, as (action, body).
        answers: what to answer to an action instead of plain success.
        is_away: refuse live connections, as a server that is restarting does.
    """

    messages: dict[str, list[Json]] = field(default_factory=sample.messages)
    channels: list[Json] = field(default_factory=sample.channels)
    apps: list[Json] = field(default_factory=sample.apps)
    pins: dict[str, list[str]] = field(default_factory=sample.pins)
    asked: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    answers: dict[str, Json] = field(default_factory=dict[str, Json])
    url: str = ""
    is_away: bool = False
    _sockets: list[tuple[str, web.WebSocketResponse]] = field(
        default_factory=list[tuple[str, web.WebSocketResponse]]
    )
    _runner: web.AppRunner | None = None
    _sent: int = 0

    async def start(self, port: int = 0) -> None:
        """Listen on the loopback."""
        app = web.Application()
        app.router.add_routes(
            [
                web.get("/", self._index),
                web.get("/page/ws", self._live),
                web.get("/page/api/state", self._state),
                web.get("/page/api/channels/{id}", self._channel),
                web.get("/page/api/channels/{id}/threads/{ts}", self._thread),
                web.post("/page/api/{action:.+}", self._post),
                web.get("/files/{id}/{name}", self._file),
                web.static("/page", PAGE),  # last: the paths above come first
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        """Close everything."""
        await self.hang_up()
        if self._runner is not None:
            await self._runner.cleanup()

    async def hang_up(self) -> None:
        """Close all live connections, as a restarting server does."""
        for _, socket in list(self._sockets):
            await socket.close()

    async def until_live(self) -> None:
        """Wait until a page listens: what is sent before reaches nobody."""
        async with asyncio.timeout(300):
            while not (self._sockets or self.is_away):  # noqa: ASYNC110 - it comes from outside
                await asyncio.sleep(0.01)

    async def emit(self, event: Json, user: str = "") -> None:
        """Send an event to the pages of one user, or of all."""
        for viewer, socket in list(self._sockets):
            if user in {"", viewer}:
                await socket.send_json(event)

    async def post(self, channel: str, **message: object) -> Json:
        """Add a message and send it to the pages; the root of a thread is changed too."""
        self._sent += 1
        ts = f"{time.time():.3f}{self._sent % 1000:03d}"
        stored: Json = {"type": "message", "ts": ts, "channel": channel, "text": "", **message}
        self.messages[channel].append(stored)
        await self.emit({"type": "message", "message": stored})
        if stored.get("thread_ts"):
            await self._count_reply(channel, stored)
        return stored

    async def open_view(self, view: Json, kind: str = "view_opened") -> None:
        """Open or update a modal."""
        await self.emit({"type": kind, "view": view})

    def bodies(self, action: str) -> list[Json]:
        """Return what the page sent for one action."""
        return [body for name, body in self.asked if name == action]

    async def sent(self, action: str, count: int = 1) -> list[Json]:
        """Wait until the page has sent so many bodies for an action; return them.

        What the page shows may change before its request has arrived.
        """
        async with asyncio.timeout(300):
            while len(self.bodies(action)) < count:  # noqa: ASYNC110 - requests come from outside
                await asyncio.sleep(0.01)
        return self.bodies(action)

    async def _count_reply(self, channel: str, reply: Json) -> None:
        root = next(
            message for message in self.messages[channel] if message["ts"] == reply["thread_ts"]
        )
        root["reply_count"] = root.get("reply_count", 0) + 1
        root["latest_reply"] = reply["ts"]
        root["reply_users"] = list({*root.get("reply_users", []), reply.get("user", "")})
        await self.emit({"type": "message_changed", "message": root})

    async def _index(self, request: web.Request) -> web.FileResponse:
        del request
        return web.FileResponse(PAGE / "index.html")

    async def _file(self, request: web.Request) -> web.Response:
        del request
        return web.Response(text=REPORT, content_type="text/markdown")

    async def _state(self, request: web.Request) -> web.Response:
        me = request.query.get("user") or "U1"
        return _reply(
            team={"id": "T1", "name": "Northwind"},
            me=me,
            users=sample.USERS,
            channels=self.channels,
            apps=self.apps,
            emoji=sample.EMOJI,
            view=None,
            guide=None,
        )

    async def _channel(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        roots = [message for message in self.messages[name] if _stands_in_channel(message)]
        return _reply(messages=roots, pins=self.pins.get(name, []))

    async def _thread(self, request: web.Request) -> web.Response:
        name, ts = request.match_info["id"], request.match_info["ts"]
        messages = [
            message
            for message in self.messages[name]
            if ts in {message["ts"], message.get("thread_ts")}
        ]
        return _reply(messages=messages)

    async def _live(self, request: web.Request) -> web.StreamResponse:
        if self.is_away:
            return web.Response(status=503)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        entry = (request.query.get("user", ""), socket)
        self._sockets.append(entry)
        try:
            async for message in socket:
                if message.type is WSMsgType.ERROR:
                    break
        finally:
            self._sockets.remove(entry)
        return socket

    async def _post(self, request: web.Request) -> web.Response:
        action, body = request.match_info["action"], await request.json()
        self.asked.append((action, body))
        work: dict[str, Callable[[Json], Awaitable[web.Response]]] = {
            "say": self._say,
            "home": self._home,
            "files": self._take_file,
        }
        if action in self.answers:
            return web.json_response(self.answers[action])
        return await work[action](body) if action in work else _reply(response={})

    async def _say(self, body: Json) -> web.Response:
        text = str(body["text"])
        if text.startswith("/") and body.get("thread_ts"):
            return _refusal("command_in_thread", "Commands do not work in threads.")
        if text.startswith("/"):
            return _reply()
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        place = {"thread_ts": body["thread_ts"]} if body.get("thread_ts") else {}
        await self.post(body["channel"], user=body["user"], text=escaped, **place)
        return _reply()

    async def _home(self, body: Json) -> web.Response:
        del body
        return _reply(view=sample.HOME)

    async def _take_file(self, body: Json) -> web.Response:
        return _reply(file={"id": "F9", "name": body["name"], "mimetype": body["mimetype"]})


def _stands_in_channel(message: Json) -> bool:
    root = message.get("thread_ts") in {None, message["ts"]}
    return root or message.get("subtype") == "thread_broadcast"


async def _serve() -> None:
    server = PageServer()
    await server.start(8766)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
