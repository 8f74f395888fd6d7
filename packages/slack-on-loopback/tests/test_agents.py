"""Agent sessions: a title, a status and Stop, for apps that are agents."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from slack_on_loopback.config import DEFAULT_MANIFEST, WorkspaceConfig
from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.workspace import Workspace, run_workspace
from tests.bots import Client, error_of, slack_client

EVENT = "agent_session_stopped"


def manifest_of(*, events: list[str]) -> dict[str, Any]:
    manifest: dict[str, Any] = dict(DEFAULT_MANIFEST)
    manifest["features"] = {**manifest["features"], "agent_view": {"agent_description": "Echoes."}}
    bot = [*manifest["oauth_config"]["scopes"]["bot"], "assistant:write"]
    manifest["oauth_config"] = {"scopes": {"bot": bot}}
    bot_events = [*manifest["settings"]["event_subscriptions"]["bot_events"], *events]
    manifest["settings"] = {
        **manifest["settings"],
        "event_subscriptions": {"bot_events": bot_events},
    }
    return manifest


@pytest.fixture
async def agent_ws(config: WorkspaceConfig) -> AsyncIterator[Workspace]:
    manifest = manifest_of(events=[EVENT])
    async with run_workspace(replace(config, manifest=manifest)) as workspace:
        yield workspace


@pytest.fixture
def agent(agent_ws: Workspace, http: aiohttp.ClientSession) -> Client:
    return slack_client(agent_ws.bot_token, base_url=agent_ws.api_url, session=http)


async def a_thread(ws: Workspace, client: Client) -> dict[str, str]:
    channel = ws.channel("general").id
    ts = str((await client.chat_postMessage(channel=channel, text="root"))["ts"])
    return {"channel_id": channel, "thread_ts": ts}


async def test_a_session_is_made_once_and_changes_its_status(
    agent_ws: Workspace, agent: Client
) -> None:
    place = await a_thread(agent_ws, agent)
    await agent.agents_sessions_setStatus(**place, status="processing", title="First")
    await agent.agents_sessions_setStatus(**place, status="suspended", title="Second")
    session = agent_ws.session("general", place["thread_ts"])
    assert session is not None
    assert (session.title, session.status) == ("First", "suspended")


async def test_what_is_wrong_with_a_session_is_refused(agent_ws: Workspace, agent: Client) -> None:
    place = await a_thread(agent_ws, agent)
    for changes, code in (
        ({"status": "busy"}, "invalid_arguments"),
        ({"title": "x" * 201}, "invalid_arguments"),
        ({"thread_ts": "1.0"}, "thread_not_found"),
        ({"channel_id": "C404"}, "channel_not_found"),
        ({"initiator_user_id": "U404"}, "user_not_in_channel"),
    ):
        fields = {**place, "status": "processing", **changes}
        assert await error_of(agent.agents_sessions_setStatus(**fields)) == code


async def test_an_app_that_is_no_agent_has_no_sessions(ws: Workspace, client: Client) -> None:
    place = await a_thread(ws, client)
    call = client.agents_sessions_setStatus(**place, status="active")
    assert await error_of(call) == "not_an_agent"


async def test_stop_is_there_while_the_agent_works(agent_ws: Workspace, agent: Client) -> None:
    place = await a_thread(agent_ws, agent)
    stop = agent_ws.stop_session
    with pytest.raises(SlackRefusal):
        await stop("dana", "general", place["thread_ts"])
    answer = await agent.agents_sessions_setStatus(**place, status="processing")
    assert "warning" not in answer.data
    await stop("dana", "general", place["thread_ts"])
    session = agent_ws.session("general", place["thread_ts"])
    assert session is not None
    assert session.status == "processing"  # until the app says something else


async def test_an_agent_that_does_not_listen_to_stop_is_warned(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    async with run_workspace(replace(config, manifest=manifest_of(events=[]))) as workspace:
        client = slack_client(workspace.bot_token, base_url=workspace.api_url, session=http)
        place = await a_thread(workspace, client)
        answer = await client.agents_sessions_setStatus(**place, status="processing")
        assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
