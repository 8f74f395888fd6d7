"""The connection to Slack: rejected tokens, the watch, the end; and the limit on bursts."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_bolt.async_app import AsyncApp

from bot.slack.client import slack_client
from bot.slack.connection.bursts import BurstLimits, Bursts
from bot.slack.connection.socket import SocketGateway, identify, open_socket
from bot.testing import quick_workspace
from core.errors import ConfigurationBroken
from core.retry import RetryPolicy
from slack_on_loopback import Workspace, run_workspace


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    async with run_workspace(quick_workspace()) as workspace:
        yield workspace


def gateway_to(api_url: str, app_token: str) -> SocketGateway:
    client = slack_client("xoxb-1", api_url)
    app = AsyncApp(client=client, request_verification_enabled=False, name="moot")
    return SocketGateway(app, app_token, watch_seconds=0.2)


async def test_a_connection_that_died_with_its_monitor_is_made_anew(workspace: Workspace) -> None:
    gateway = gateway_to(workspace.api_url, workspace.app_token)
    await gateway.start()
    handler = gateway._handler
    assert handler is not None
    monitor = cast("asyncio.Future[None]", handler.client.current_session_monitor)
    monitor.cancel()
    await workspace.cut_sockets()
    await workspace.wait_for(lambda: not workspace.connected)
    await workspace.wait_for(lambda: workspace.connected, timeout=300)
    async with asyncio.timeout(300):
        while not await gateway.is_connected():  # noqa: ASYNC110 - the SDK tells nobody
            await asyncio.sleep(0.02)
    await gateway.close()
    assert not await gateway.is_connected()


async def test_a_server_that_never_says_goodbye_holds_up_no_close() -> None:
    goodbye = asyncio.Event()

    async def open_connection(request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link"})

    async def link(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(autoclose=False)
        await socket.prepare(request)
        await goodbye.wait()  # it reads nothing, so it never answers the closing frame
        return socket

    app = web.Application()
    app.router.add_post("/api/apps.connections.open", open_connection)
    app.router.add_get("/link", link)
    async with TestServer(app) as server:
        gateway = gateway_to(str(server.make_url("/api/")), "xapp-1")
        await gateway.start()
        async with asyncio.timeout(300):
            await gateway.close()
        goodbye.set()
    assert not [task for task in asyncio.all_tasks() if "slack_sdk" in repr(task)]


async def test_a_slack_that_is_away_for_a_moment_does_not_end_the_start(
    workspace: Workspace,
) -> None:
    retries = RetryPolicy(tries=3, first_wait=0.0, longest_wait=0.0)
    client = slack_client(workspace.bot_token, workspace.api_url)
    for method in ("auth.test", "apps.connections.open"):
        workspace.faults.drop_before(method)
        workspace.faults.server_error(method)
    assert (await identify(client, retries)).user_id == workspace.app.bot_user
    assert await open_socket(client, workspace.app_token, retries)
    with pytest.raises(ConfigurationBroken, match="SLACK_BOT_TOKEN"):
        await identify(slack_client("xoxb-wrong", workspace.api_url), retries)
    gateway = gateway_to(workspace.api_url, "xapp-1-wrong")
    with pytest.raises(ConfigurationBroken, match="SLACK_APP_TOKEN"):
        await gateway.start()
    await gateway.close()


Body = Mapping[str, Any]


def event(user: str = "U1", kind: str = "message", **fields: Any) -> Body:
    return {"team_id": "T1", "event": {"type": kind, "user": user, **fields}}


def edit(user: str = "U1") -> Body:
    return event("", subtype="message_changed", message={"user": user})


def command(user: str = "U1") -> Body:
    return {"team_id": "T1", "user_id": user, "command": "/debate", "text": "?"}


def click(user: str = "U1") -> Body:
    return {"type": "block_actions", "team": {"id": "T1"}, "user": {"id": user}}


@dataclass
class Notices:
    """Records notices; the tests set its clock."""

    now: float = 1000.0
    told: list[Body] = field(default_factory=list[Body])

    async def tell(self, body: Body) -> None:
        self.told.append(body)
        if len(self.told) == 1:
            raise RuntimeError("Slack is away")


@pytest.mark.parametrize(
    ("make", "most", "status", "text"),
    [
        (event, BurstLimits().events, 200, ""),
        (edit, BurstLimits().events, 200, ""),
        (command, BurstLimits().commands, 200, "Type it again"),
        (click, BurstLimits().clicks, 429, ""),
    ],
)
async def test_a_person_can_send_a_burst_and_then_one_request_a_second(
    make: Any, most: int, status: int, text: str
) -> None:
    notices = Notices()
    bursts = Bursts(notices.tell, BurstLimits(), now=lambda: notices.now)

    assert [bursts.refusal(make()) for _ in range(most)] == [None] * most
    refused = bursts.refusal(make())
    assert refused
    assert (refused.status, text in refused.body) == (status, True)
    # Other people, the same person in another workspace, and other events pass.
    for body in (make("U2"), {**make(), "team_id": "T2", "team": {"id": "T2"}}):
        assert bursts.refusal(body) is None
    for number in range(most + 1):
        assert bursts.refusal(event(kind="member_joined_channel", number=number)) is None
        assert bursts.refusal({"team_id": "T1", "event": {"type": "app_uninstalled"}}) is None
        assert bursts.refusal(event(subtype="message_deleted")) is None
    notices.now += 3
    answers = [bursts.refusal(make()) for _ in range(5)]
    assert [answer is None for answer in answers] == [True, True, True, False, False]
    await bursts.close()
