"""The connection to Slack: refused in words, watched, closed without leftovers."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_bolt.async_app import AsyncApp

from bot.slack.client import slack_client
from bot.slack.connection.bursts import AtOnce, Bursts
from bot.slack.connection.socket import SocketGateway, identify, open_socket
from bot.testing import quick_workspace
from core.errors import ConfigurationBroken
from core.retry import RetryPolicy
from slack_on_loopback import Workspace, run_workspace


@pytest.fixture
async def workspace() -> AsyncGenerator[Workspace]:
    async with run_workspace(quick_workspace()) as workspace:
        yield workspace


async def tell_nobody(_body: Any) -> None: ...


def gateway_to(api_url: str, app_token: str) -> SocketGateway:
    client = slack_client("xoxb-1", api_url)
    app = AsyncApp(client=client, request_verification_enabled=False, name="moot")
    return SocketGateway(app, app_token, bursts=Bursts(tell_nobody, AtOnce()), watch_seconds=0.2)


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
        await goodbye.wait()  # reads nothing, so it does not answer the closing frame
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
