"""Socket Mode with a real Bolt app: events, redelivery, disconnects, several sockets."""

import asyncio
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from slack_on_loopback.config import DEFAULT_MANIFEST, WorkspaceConfig
from slack_on_loopback.json_values import Json
from slack_on_loopback.rates import QUICK
from slack_on_loopback.workspace import Workspace, run_workspace
from tests.bots import Client, Listener, bolt_app, error_of, on_socket, slack_client

ONLY_MENTIONS = {
    "event_subscriptions": {"bot_events": ["app_mention"]},
    "socket_mode_enabled": True,
}


def listening(app: AsyncApp, *kinds: str) -> Listener:
    """Make an app write down the events of some kinds."""
    listener = Listener()

    async def hear(event: Json) -> None:
        listener.heard.append(event)

    for kind in kinds or ("message", "app_mention"):
        app.event(kind)(hear)
    return listener


@pytest.fixture
def app(ws: Workspace, client: Client) -> AsyncApp:
    return bolt_app(ws, client)


async def test_a_mention_is_delivered_twice_as_message_and_as_mention(
    ws: Workspace, app: AsyncApp
) -> None:
    listener = listening(app)
    async with on_socket(ws, app):
        await ws.say("dana", "general", "@echo which database?")
        await ws.wait_for(lambda: len(listener.heard) == 2)
    assert sorted(listener.kinds()) == ["app_mention", "message"]
    assert {message["text"] for message in listener.heard} == {
        f"<@{ws.app.bot_user}> which database?"
    }
    assert len({delivery.event_id for delivery in ws.deliveries}) == 2


async def test_an_edited_mention_is_delivered_again_as_a_mention_of_the_same_message(
    ws: Workspace, app: AsyncApp
) -> None:
    listener = listening(app, "app_mention")
    async with on_socket(ws, app):
        message = await ws.say("dana", "general", "@echo which database?")
        await ws.wait_for(lambda: listener.heard)
        await ws.edit("dana", "general", message["ts"], "@echo which queue?")
        await ws.wait_for(lambda: len(listener.heard) == 2)
        await ws.edit("dana", "general", message["ts"], "which queue?")
        await ws.say("dana", "general", "@echo and now?")
        await ws.wait_for(lambda: len(listener.heard) == 3)
    before, after, last = listener.heard
    assert before["ts"] == after["ts"] == message["ts"]
    assert (before.get("edited"), after["edited"]["user"]) == (None, ws.user("dana").id)
    assert after["text"] == f"<@{ws.app.bot_user}> which queue?"
    assert last["text"].endswith("and now?")
    mentions = [delivery.event_id for delivery in ws.deliveries if delivery.name == "app_mention"]
    assert len(set(mentions)) == 3


async def test_events_come_only_from_channels_the_bot_is_in(ws: Workspace, app: AsyncApp) -> None:
    listener = listening(app)
    async with on_socket(ws, app):
        await ws.say("dana", "random", "@echo not here")
        await ws.say("dana", "security-review", "nor here")
        await ws.say("dana", "general", "here")
        await ws.wait_for(lambda: listener.heard)
    assert [message["text"] for message in listener.heard] == ["here"]


@pytest.mark.workspace(manifest={**DEFAULT_MANIFEST, "settings": ONLY_MENTIONS})
async def test_an_app_hears_only_what_it_subscribed_to(
    ws: Workspace, app: AsyncApp, client: Client
) -> None:
    listener = listening(app)
    async with on_socket(ws, app):
        await ws.say("dana", "general", "just talk")
        # It does not mention itself.
        await client.chat_postMessage(channel="general", text=f"<@{ws.app.bot_user}>")
        await ws.say("dana", "general", "@echo go")
        await ws.wait_for(lambda: listener.heard)
    assert [event["user"] for event in listener.heard] == [ws.user("dana").id]
    assert [delivery.name for delivery in ws.deliveries] == ["app_mention"]


async def test_what_else_happens_is_told(ws: Workspace, app: AsyncApp) -> None:
    kinds = ("message", "member_joined_channel", "channel_archive", "channel_unarchive")
    listener = listening(app, *kinds)
    async with on_socket(ws, app):
        ts = (await ws.say("dana", "architecture", "one"))["ts"]
        await ws.edit("dana", "architecture", ts, "two")
        await ws.delete("dana", "architecture", ts)
        for action in ("leave", "join", "archive", "unarchive"):
            await ws.channel_action("sam", action, channel="architecture")
        await ws.wait_for(lambda: len(listener.heard) == 8)
    # Bolt hears of each in a task of its own.
    assert sorted(listener.kinds()) == [
        "channel_archive",
        "channel_unarchive",
        "member_joined_channel",
        "message",
        "message:channel_join",
        "message:channel_leave",
        "message:message_changed",
        "message:message_deleted",
    ]
    changed = next(
        message for message in listener.heard if message.get("subtype") == "message_changed"
    )
    assert (changed["previous_message"]["text"], changed["message"]["text"]) == ("one", "two")


async def test_an_uninstalled_app_hears_of_it_and_is_locked_out(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    socket = await raw_socket(ws, http)
    ws.uninstall()
    await ws.say("dana", "general", "after")
    envelopes = [await socket.receive() for _ in range(2)]
    for envelope in envelopes:
        await socket.ack(envelope)
    await ws.wait_for(lambda: len(ws.deliveries) == 2)
    kinds = [message["payload"]["event"]["type"] for message in envelopes]
    assert kinds == ["tokens_revoked", "app_uninstalled"]
    assert await error_of(client.auth_test()) == "token_revoked"


class RawSocket:
    """A Socket Mode client without any framework, which answers only when told to."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse):
        self._ws = ws

    async def receive(self) -> Json:
        return await self._ws.receive_json(timeout=300)

    async def ack(self, envelope: Json, payload: Any = None) -> None:
        answer = {"envelope_id": envelope["envelope_id"]}
        await self._ws.send_json(answer if payload is None else {**answer, "payload": payload})

    async def closed(self) -> bool:
        return (await self._ws.receive(timeout=300)).type in {
            aiohttp.WSMsgType.CLOSE,
            aiohttp.WSMsgType.CLOSED,
        }


async def raw_socket(ws: Workspace, http: aiohttp.ClientSession) -> RawSocket:
    client = slack_client(base_url=ws.api_url, session=http)
    url = (await client.apps_connections_open(app_token=ws.app_token))["url"]
    socket = RawSocket(await http.ws_connect(url))
    hello = await socket.receive()
    assert (hello["type"], hello["connection_info"]["app_id"]) == ("hello", ws.app.id)
    return socket


@pytest.mark.workspace(pace=replace(QUICK, ack_seconds=0.1))
async def test_an_event_that_is_not_acknowledged_comes_again(
    ws: Workspace, http: aiohttp.ClientSession
) -> None:
    socket = await raw_socket(ws, http)
    await ws.say("dana", "general", "hello")
    tries = [await socket.receive() for _ in range(4)]
    assert [attempt["retry_attempt"] for attempt in tries] == [0, 1, 2, 3]
    assert [attempt["retry_reason"] for attempt in tries] == ["", "timeout", "timeout", "timeout"]
    assert len({attempt["payload"]["event_id"] for attempt in tries}) == 1
    assert len({attempt["envelope_id"] for attempt in tries}) == 4


async def test_an_event_can_be_delivered_twice(ws: Workspace, app: AsyncApp) -> None:
    listener = listening(app)
    async with on_socket(ws, app):
        ws.faults.double_next_events()
        await ws.say("dana", "general", "once")
        await ws.wait_for(lambda: len(listener.heard) == 2)
    assert len({delivery.event_id for delivery in ws.deliveries}) == 1


async def test_each_payload_goes_to_one_of_several_sockets(
    ws: Workspace, http: aiohttp.ClientSession
) -> None:
    first, second = await raw_socket(ws, http), await raw_socket(ws, http)
    for text in ("one", "two"):
        await ws.say("dana", "general", text)
    messages = [await first.receive(), await second.receive()]
    assert sorted(message["payload"]["event"]["text"] for message in messages) == ["one", "two"]


async def test_an_app_has_ten_sockets_at_most_and_a_ticket_opens_one(
    ws: Workspace, http: aiohttp.ClientSession
) -> None:
    sockets = [await raw_socket(ws, http) for _ in range(9)]
    client = slack_client(base_url=ws.api_url, session=http)
    url = (await client.apps_connections_open(app_token=ws.app_token))["url"]
    tenth = await http.ws_connect(url)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await http.ws_connect(url)
    await ws.wait_for(lambda: ws.sockets == len(sockets) + 1)
    opened = client.apps_connections_open(app_token=ws.app_token)
    assert await error_of(opened) == "too_many_websockets"
    assert not tenth.closed


async def test_a_warned_socket_gets_nothing_new_and_closes(
    ws: Workspace, http: aiohttp.ClientSession
) -> None:
    old = await raw_socket(ws, http)
    await ws.disconnect("warning")
    assert await old.receive() == {
        "type": "disconnect",
        "reason": "warning",
        "debug_info": {"host": "local-workspace"},
    }
    new = await raw_socket(ws, http)
    await ws.say("dana", "general", "hello")
    assert (await new.receive())["payload"]["event"]["text"] == "hello"
    assert await old.closed()


async def test_closing_a_workspace_leaves_nothing_running(config: WorkspaceConfig) -> None:
    before = asyncio.all_tasks()
    async with run_workspace(config) as ws:
        await ws.say("dana", "general", "nobody hears this")
    assert asyncio.all_tasks() == before
