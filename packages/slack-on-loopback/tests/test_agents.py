"""Agent sessions: a title, a status and Stop, for apps that are agents."""

import pytest

from slack_on_loopback.errors import SlackRefusal
from slack_on_loopback.workspace import Workspace
from tests.bots import Client, error_of, manifest_of

EVENT = "agent_session_stopped"
AGENT = manifest_of(scopes={"assistant:write"}, events={EVENT}, agent_view={})
DEAF = manifest_of(scopes={"assistant:write"}, agent_view={})


async def a_thread(ws: Workspace, client: Client) -> dict[str, str]:
    channel = ws.channel("general").id
    ts = str((await client.chat_postMessage(channel=channel, text="root"))["ts"])
    return {"channel_id": channel, "thread_ts": ts}


@pytest.mark.workspace(manifest=AGENT)
async def test_a_session_is_made_once_changes_its_status_and_can_be_stopped_at_work(
    ws: Workspace, client: Client
) -> None:
    place = await a_thread(ws, client)
    stop, ts = ws.stop_session, place["thread_ts"]
    with pytest.raises(SlackRefusal, match="session_not_found"):
        await stop("dana", "general", ts)
    set_status = client.agents_sessions_setStatus
    answer = await set_status(**place, status="processing", title="First")
    assert "warning" not in answer.data
    await stop("dana", "general", ts)
    await ws.wait_for(lambda: ws.deliveries[-1].name == EVENT)
    session = ws.session("general", ts)
    assert session is not None
    assert session.status == "processing"  # until the app says something else
    await set_status(**place, status="suspended", title="Second")
    assert (session.title, session.status) == ("First", "suspended")
    with pytest.raises(SlackRefusal, match="session_not_found"):
        await stop("dana", "general", ts)


@pytest.mark.workspace(manifest=AGENT)
async def test_what_is_wrong_with_a_session_is_refused(ws: Workspace, client: Client) -> None:
    place = await a_thread(ws, client)
    for changes, code in (
        ({"status": "busy"}, "invalid_arguments"),
        ({"title": "x" * 201}, "invalid_arguments"),
        ({"thread_ts": "1.0"}, "thread_not_found"),
        ({"channel_id": "C404"}, "channel_not_found"),
        ({"initiator_user_id": "U404"}, "user_not_in_channel"),
    ):
        fields = {**place, "status": "processing", **changes}
        assert await error_of(client.agents_sessions_setStatus(**fields)) == code


async def test_an_app_that_is_no_agent_has_no_sessions(ws: Workspace, client: Client) -> None:
    call = client.agents_sessions_setStatus(**await a_thread(ws, client), status="active")
    assert await error_of(call) == "not_an_agent"


@pytest.mark.workspace(manifest=DEAF)
async def test_an_agent_that_does_not_listen_to_stop_is_warned(
    ws: Workspace, client: Client
) -> None:
    place = await a_thread(ws, client)
    answer = await client.agents_sessions_setStatus(**place, status="processing")
    assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
