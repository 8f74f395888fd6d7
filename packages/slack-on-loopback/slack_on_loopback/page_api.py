"""The API of the page in the browser: `/page/api/*`, and live events on `/page/ws`."""

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from slack_on_loopback import channels, interactions, people, posting
from slack_on_loopback.emoji import EMOJI
from slack_on_loopback.errors import PersonRefusal, SlackRefusal
from slack_on_loopback.feed import Viewer
from slack_on_loopback.json_values import Json, as_list, as_object, child, copy, parse_json, text_at
from slack_on_loopback.methods import agents
from slack_on_loopback.runtime import Runtime
from slack_on_loopback.state import Channel, User
from slack_on_loopback.stored_files import file_object, own_file
from slack_on_loopback.surfaces import SurfaceRef

PageHandler = Callable[[User, Json], Awaitable[Json]]


@dataclass(slots=True)
class PageApi:
    """Answers the page; every request acts as one user."""

    runtime: Runtime
    _open: list[web.WebSocketResponse] = field(default_factory=list[web.WebSocketResponse])

    async def hang_up(self) -> None:
        """Close the live events of every open page."""
        for ws in list(self._open):
            await ws.close()

    def routes(self) -> list[web.RouteDef]:
        posts: dict[str, PageHandler] = {
            "say": self.say,
            "click": self.click,
            "view/submit": self.submit,
            "view/close": self.close,
            "session/stop": self.stop_session,
            "shortcut": self.shortcut,
            "home": self.home,
            "guide": self.guide,
            "join": self.join,
            "files": self.files,
        }
        reads: dict[str, PageHandler] = {
            "state": self.state,
            "channels/{channel}": self.channel,
            "channels/{channel}/threads/{ts}": self.thread,
        }
        return [
            *(web.post(f"/page/api/{path}", self._answering(work)) for path, work in posts.items()),
            *(web.get(f"/page/api/{path}", self._answering(work)) for path, work in reads.items()),
            web.get("/page/ws", self.live),
        ]

    async def state(self, user: User, body: Json) -> Json:
        """The state that the page draws."""
        del body
        runtime, state = self.runtime, self.runtime.state
        view = runtime.modals.get(user.id)
        return {
            "team": {"id": state.team_id, "name": state.team_name},
            "me": user.id,
            "users": [other.model_dump() for other in state.users.values()],
            "channels": channels.page_channels(runtime, user.id),
            "app": runtime.page_app(),
            "emoji": EMOJI,
            "guide": runtime.guide.event()["guide"],
            "view": copy(view) if view else None,
        }

    async def channel(self, user: User, body: Json) -> Json:
        """The messages of a channel, with this user's ephemeral ones."""
        channel = people.visible(self.runtime, user, text_at(body, "channel"))
        messages = self._messages(user, channel, channel.roots(), thread_ts="")
        return {"messages": messages, "pins": posting.pinned_ts(channel)}

    async def thread(self, user: User, body: Json) -> Json:
        """A thread, root first."""
        channel = people.visible(self.runtime, user, text_at(body, "channel"))
        ts = posting.thread_root(channel, text_at(body, "ts"))["ts"]
        return {"messages": self._messages(user, channel, channel.thread(ts), thread_ts=ts)}

    def _messages(
        self, user: User, channel: Channel, stored: Iterable[Json], *, thread_ts: str
    ) -> list[Json]:
        """Return messages with the ephemeral ones of the same place, oldest first."""
        shown = [posting.view_of(channel, message) for message in stored]
        place = (user.id, channel.id, thread_ts)
        shown += [
            copy(message)
            for message in self.runtime.ephemeral
            if (message["viewer"], message["channel"], text_at(message, "thread_ts")) == place
        ]
        return sorted(shown, key=lambda message: message["ts"])

    async def say(self, user: User, body: Json) -> Json:
        """A message with or without files, or a slash command."""
        runtime, text = self.runtime, text_at(body, "text").strip()
        thread_ts = text_at(body, "thread_ts")
        channel = people.joined_channel(runtime, user, text_at(body, "channel"))
        ids = as_list(body.get("files")) or []
        files = [own_file(runtime, user.id, str(file_id)) for file_id in ids]
        if not (text or files):
            raise PersonRefusal("no_text", "There is nothing to send.")
        if files or not text.startswith("/"):
            message = people.say(runtime, user, channel, text, thread_ts=thread_ts, files=files)
            return {"message": posting.view_of(channel, message)}
        if thread_ts:
            words = "Slack runs commands in channels only, not in threads."
            raise PersonRefusal("command_in_thread", words)
        await interactions.command(runtime, user, channel, text)
        return {}

    async def click(self, user: User, body: Json) -> Json:
        """Use a button, or an input with `dispatch_action`."""
        names = ("channel", "message_ts", "view_id")
        surface = SurfaceRef(*(text_at(body, name) for name in names))
        await interactions.click(self.runtime, user, surface, body)
        return {}

    async def stop_session(self, user: User, body: Json) -> Json:
        """Press Stop in a thread in which an agent works."""
        channel = people.joined_channel(self.runtime, user, text_at(body, "channel"))
        agents.stop(self.runtime, user, channel, text_at(body, "ts"))
        return {}

    async def submit(self, user: User, body: Json) -> Json:
        view_id, values = text_at(body, "view_id"), child(body, "values")
        return {"response": await interactions.submit(self.runtime, user, view_id, values)}

    async def close(self, user: User, body: Json) -> Json:
        interactions.close(self.runtime, user, text_at(body, "view_id"))
        return {}

    async def shortcut(self, user: User, body: Json) -> Json:
        """Use a shortcut on a message."""
        channel = people.visible(self.runtime, user, text_at(body, "channel"))
        message = posting.find(channel, text_at(body, "message_ts"))
        await interactions.shortcut(self.runtime, user, text_at(body, "callback_id"), message)
        return {}

    async def home(self, user: User, body: Json) -> Json:
        """Open the app's Home."""
        del body
        return {"view": interactions.open_home(self.runtime, user)}

    async def guide(self, user: User, body: Json) -> Json:
        """Press a button of the guide."""
        del user
        if not self.runtime.guide.press(text_at(body, "name")):
            raise PersonRefusal("no_button", "This button is gone. Reload the page.")
        return {}

    async def join(self, user: User, body: Json) -> Json:
        change = {"action": "join", "channel": text_at(body, "channel")}
        people.change_channel(self.runtime, user, change)
        return {}

    async def files(self, user: User, body: Json) -> Json:
        """Store a file for a message."""
        try:
            content = base64.b64decode(text_at(body, "content"), validate=True)
        except binascii.Error as wrong:
            raise PersonRefusal("invalid_file", "The file did not arrive whole.") from wrong
        stored = people.upload(self.runtime, user, text_at(body, "name") or "file", content)
        stored.mimetype = text_at(body, "mimetype") or stored.mimetype
        return {"file": file_object(self.runtime, stored)}

    async def live(self, request: web.Request) -> web.WebSocketResponse:
        """Send one viewer all live events, until the page closes."""
        user = self._user(dict(request.query))
        ws = web.WebSocketResponse(heartbeat=30)
        viewer = self.runtime.feed.join(user.id)
        await ws.prepare(request)
        self._open.append(ws)
        sender = asyncio.create_task(_pump(ws, viewer))
        try:
            async for message in ws:
                if message.type is WSMsgType.ERROR:
                    break
        finally:
            self._open.remove(ws)
            self.runtime.feed.leave(viewer)
            sender.cancel()
        return ws

    def _answering(self, work: PageHandler) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def answer(request: web.Request) -> web.Response:
            try:
                body = {**request.query, **request.match_info, **await _body(request)}
                return web.json_response({"ok": True, **await work(self._user(body), body)})
            except SlackRefusal as refusal:
                return _refusal(people.for_people(refusal))
            except PersonRefusal as refusal:
                return _refusal(refusal)

        return answer

    def _user(self, body: Json) -> User:
        name = text_at(body, "user")
        if name:
            return self.runtime.state.user(name)
        return next(user for user in self.runtime.state.users.values() if not user.is_bot)


def _refusal(refusal: PersonRefusal) -> web.Response:
    return web.json_response({"ok": False, "error": refusal.code, "message": refusal.words})


async def _body(request: web.Request) -> Json:
    if request.method != "POST":
        return {}
    body = as_object(parse_json(await request.text()))
    if body is None:
        raise PersonRefusal("invalid_json", "The request was not understood.")
    return body


async def _pump(ws: web.WebSocketResponse, viewer: Viewer) -> None:
    while not ws.closed:
        event = await viewer.queue.get()
        try:
            await ws.send_json(event)
        except ConnectionError:
            return
