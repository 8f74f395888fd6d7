"""Real Bolt apps, connected to a workspace over Socket Mode or HTTP."""

import re
from collections.abc import AsyncGenerator, Awaitable, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_on_loopback.config import BOT_SCOPES, DEFAULT_MANIFEST
from slack_on_loopback.json_values import Json
from slack_on_loopback.rates import QUICK
from slack_on_loopback.workspace import Workspace

#: Long time limits, so that an app on a busy machine can answer.
PATIENT = replace(QUICK, ack_seconds=30.0, trigger_seconds=60.0)
# The SDK leaves its answers untyped; so do the tests.
Client = Any


def slack_client(token: str | None = None, **options: Any) -> Client:
    """Return Slack's own AsyncWebClient."""
    return AsyncWebClient(token, **options)


def bolt_app(ws: Workspace, client: Client) -> AsyncApp:
    """Return an app without listeners."""
    return AsyncApp(client=client, signing_secret=ws.signing_secret)


def manifest_of(
    scopes: Collection[str] = (),
    events: Collection[str] = (),
    without: Collection[str] = (),
    **features: Any,
) -> Json:
    """The default manifest with more scopes, events and features, or without some scopes."""
    base: Json = {**DEFAULT_MANIFEST}
    subscribed = {"bot_events": [*base["settings"]["event_subscriptions"]["bot_events"], *events]}
    bot = [scope for scope in (*BOT_SCOPES, *scopes) if scope not in without]
    return {
        **base,
        "features": {**base["features"], **features},
        "oauth_config": {"scopes": {"bot": bot}},
        "settings": {**base["settings"], "event_subscriptions": subscribed},
    }


@asynccontextmanager
async def on_socket(ws: Workspace, app: AsyncApp) -> AsyncGenerator[AsyncSocketModeHandler]:
    """Connect an app over Socket Mode."""
    handler = AsyncSocketModeHandler(app, ws.app_token, ping_interval=1)
    before = ws.sockets
    await handler.connect_async()
    await ws.wait_for(lambda: ws.sockets > before)
    try:
        yield handler
    finally:
        await handler.close_async()


@asynccontextmanager
async def on_http(ws: Workspace, app: AsyncApp) -> AsyncGenerator[str]:
    """Serve an app over HTTP and make it the workspace's request URL."""
    runner = web.AppRunner(app.web_app("/slack/events"), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield url
    finally:
        await runner.cleanup()


async def refused(call: Awaitable[Any]) -> Any:
    """Return the answer of a call that Slack refuses."""
    with pytest.raises(SlackApiError) as caught:
        await call
    error: Any = caught.value
    return error.response


async def error_of(call: Awaitable[Any]) -> str:
    """Return the error code of a call that Slack refuses."""
    return (await refused(call))["error"]


class Page:
    """The page's requests, as one user."""

    def __init__(self, ws: Workspace, http: aiohttp.ClientSession, user: str):
        self._ws, self._http, self.user = ws, http, ws.user(user).id

    async def get(self, path: str) -> Json:
        """Read something."""
        url = f"{self._ws.url}page/api/{path}"
        async with self._http.get(url, params={"user": self.user}) as answer:
            return await answer.json()

    async def post(self, path: str, **body: Any) -> Json:
        """Do something."""
        url = f"{self._ws.url}page/api/{path}"
        async with self._http.post(url, json={"user": self.user, **body}) as answer:
            return await answer.json()


class Recorder:
    """A Bolt app that records each payload; `acks` sets its answers."""

    def __init__(self, app: AsyncApp):
        self.app = app
        self.bodies: list[Json] = []
        self.acks: dict[str, Json] = {}
        self.silent = False
        for kind, register in {
            "command": app.command("/echo"),
            "action": app.action(re.compile(".*")),
            "submission": app.view("form"),
            "shortcut": app.shortcut("echo_this"),
        }.items():
            register(self._keeping(kind))

    def _keeping(self, kind: str) -> Any:
        async def keep(ack: Any, body: Json) -> None:
            self.bodies.append(body)
            if not self.silent:
                await ack(**self.acks.get(kind, {}))

        return keep

    @property
    def last(self) -> Json:
        return self.bodies[-1]


class Listener:
    """The events an app received, in order."""

    def __init__(self) -> None:
        self.heard: list[Json] = []

    def kinds(self) -> list[str]:
        """Return the types, with the subtype where there is one."""
        return [":".join(filter(None, (e["type"], e.get("subtype")))) for e in self.heard]


def text_section(text: str = "hello") -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(action_id: str = "go", **more: Any) -> Json:
    label = {"type": "plain_text", "text": "Go"}
    return {"type": "button", "action_id": action_id, "text": label, "value": "v1", **more}


def actions(*elements: Json, block_id: str = "row") -> Json:
    return {"type": "actions", "block_id": block_id, "elements": list(elements)}


def text_input(block_id: str = "q", **more: Any) -> Json:
    element = {"type": "plain_text_input", "action_id": "text", **more}
    label = {"type": "plain_text", "text": "Question"}
    return {"type": "input", "block_id": block_id, "label": label, "element": element}


def modal(*blocks: Json, **more: Any) -> Json:
    return {
        "type": "modal",
        "callback_id": "form",
        "title": {"type": "plain_text", "text": "Form"},
        "submit": {"type": "plain_text", "text": "Start"},
        "blocks": list(blocks) or [text_input()],
        **more,
    }
