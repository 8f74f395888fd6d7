"""The connection to Slack: refused in words, watched, closed without leftovers."""

import asyncio
from collections.abc import AsyncGenerator
from typing import cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_bolt.async_app import AsyncApp

from bot.slack.client import slack_client
from bot.slack.connection.socket import AT_START, SocketGateway, identify, open_socket
from bot.testing import quick_workspace
from core.errors import ConfigurationBroken
from core.retry import RetryPolicy
from slack_on_loopback import Workspace, run_workspace


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    async with run_workspace(quick_workspace()) as workspace:
        yield workspace


def gateway_of(workspace: Workspace, app_token: str = "") -> SocketGateway:
    client = slack_client(workspace.bot_token, workspace.api_url)
    app = AsyncApp(client=client, request_verification_enabled=False, name="moot")
    return SocketGateway(app, app_token or workspace.app_token, watch_seconds=0.2)


async def test_a_connection_that_died_with_its_monitor_is_made_anew(workspace: Workspace):
    gateway = gateway_of(workspace)
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


async def test_a_server_that_never_says_goodbye_holds_up_no_close():
    goodbye = asyncio.Event()

    async def open_connection(request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link"})

    async def link(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(autoclose=False)
        await socket.prepare(request)
        await goodbye.wait()  # reads nothing, so it does not answer the closing frame
        return socket

    app = web.Application()
    app.add_routes(
        [web.post("/api/apps.connections.open", open_connection), web.get("/link", link)]
    )
    async with TestServer(app) as server:
        client = slack_client("xoxb-1", str(server.make_url("/api/")))
        gateway = SocketGateway(
            AsyncApp(client=client, request_verification_enabled=False, name="moot"), "xapp-1"
        )
        await gateway.start()
        async with asyncio.timeout(300):
            await gateway.close()
        goodbye.set()
    tasks = {task for task in asyncio.all_tasks() if "slack_sdk" in repr(task)}
    assert tasks == set()


async def test_a_refused_app_token_is_told_at_once(workspace: Workspace):
    gateway = gateway_of(workspace, "xapp-1-wrong")
    with pytest.raises(ConfigurationBroken, match="SLACK_APP_TOKEN"):
        await gateway.start()
    await gateway.close()


async def test_a_slack_that_is_away_for_a_moment_does_not_end_the_start(workspace: Workspace):
    retries = RetryPolicy(tries=3, first_wait=0.0, longest_wait=0.0)
    client = slack_client(workspace.bot_token, workspace.api_url)
    for method in ("auth.test", "apps.connections.open"):
        workspace.faults.drop_before(method)
        workspace.faults.server_error(method)
    assert (await identify(client, retries)).user_id == workspace.app.bot_user
    assert await open_socket(client, workspace.app_token, retries)
    with pytest.raises(ConfigurationBroken):
        await identify(slack_client("xoxb-wrong", workspace.api_url), AT_START)
