"""A Bolt app as people write it for Slack: a command, a form, a thread, a lost connection."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from slack_on_loopback import Workspace, WorkspaceConfig, run_workspace, typed
from tests.bots import PATIENT, bolt_app, on_http, on_socket, slack_client

MANIFEST: dict[str, Any] = {
    "display_information": {"name": "Lunch"},
    "features": {
        "bot_user": {"display_name": "lunch"},
        "slash_commands": [{"command": "/lunch", "description": "Ask who comes along"}],
    },
    "oauth_config": {"scopes": {"bot": ["channels:history", "chat:write", "commands"]}},
    "settings": {
        "event_subscriptions": {"bot_events": ["message.channels"]},
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}
FORM: dict[str, Any] = {
    "type": "modal",
    "callback_id": "ask",
    "title": {"type": "plain_text", "text": "Lunch"},
    "submit": {"type": "plain_text", "text": "Ask"},
    "blocks": [
        {
            "type": "input",
            "block_id": "where",
            "label": {"type": "plain_text", "text": "Where?"},
            "element": {"type": "plain_text_input", "action_id": "place"},
        }
    ],
}


def lunch_app(ws: Workspace) -> Any:
    """Return the app; it keeps nothing but what Slack tells it."""
    app: Any = bolt_app(ws, slack_client(ws.bot_token, base_url=ws.api_url))

    @app.command("/lunch")
    async def ask(ack: Any, command: Any, client: Any) -> None:
        await ack()
        view = {**FORM, "private_metadata": command["channel_id"]}
        await client.views_open(trigger_id=command["trigger_id"], view=view)

    @app.view("ask")
    async def post(ack: Any, view: Any, client: Any) -> None:
        place = view["state"]["values"]["where"]["place"]["value"]
        if place == "home":
            await ack(response_action="errors", errors={"where": "Together, please."})
            return
        await ack()
        await client.chat_postMessage(channel=view["private_metadata"], text=f"Lunch: {place}?")

    @app.event("message")
    async def count(event: Any, say: Any) -> None:
        if "bot_id" not in event and "thread_ts" in event:
            await say(f"<@{event['user']}> comes along", thread_ts=event["thread_ts"])

    return app


@pytest.fixture(params=["socket", "http"])
async def ws(request: pytest.FixtureRequest) -> AsyncGenerator[Workspace]:
    async with run_workspace(WorkspaceConfig(pace=PATIENT, manifest=MANIFEST)) as workspace:
        app = lunch_app(workspace)
        if request.param == "socket":
            async with on_socket(workspace, app):
                yield workspace
        else:
            async with on_http(workspace, app) as url:
                assert await workspace.use_http(url)
                yield workspace


async def ask_for_lunch(ws: Workspace, place: str) -> str:
    """Type the command and send the form; return the ts of what the app posts."""
    count = len(ws.messages("general"))
    await ws.command("dana", "general", "/lunch")
    forms = await ws.wait_for(lambda: ws.views("dana"))
    assert await ws.submit("dana", forms[0]["id"], typed(where__place=place)) == {}
    posted = await ws.wait_for(lambda: ws.messages("general")[count:])
    assert posted[0]["text"] == f"Lunch: {place}?"
    return posted[0]["ts"]


async def count_in(ws: Workspace, ts: str, user: str) -> None:
    """Reply in the thread; wait until the app has answered there."""
    await ws.say(user, "general", "me too", thread_ts=ts)
    expected = f"<@{ws.user(user).id}> comes along"
    await ws.wait_for(lambda: ws.thread("general", ts)[-1]["text"] == expected)


async def test_a_command_leads_through_a_form_to_a_thread(ws: Workspace) -> None:
    ts = await ask_for_lunch(ws, "Canteen")
    await count_in(ws, ts, "alex")
    await count_in(ws, ts, "sam")
    assert len(ws.thread("general", ts)) == 5
    assert ws.messages("general")[-1]["reply_count"] == 4


async def test_what_the_app_refuses_stays_in_the_form(ws: Workspace) -> None:
    await ws.command("dana", "general", "/lunch")
    forms = await ws.wait_for(lambda: ws.views("dana"))
    answer = await ws.submit("dana", forms[0]["id"], typed(where__place="home"))
    assert answer == {"response_action": "errors", "errors": {"where": "Together, please."}}
    assert ws.views("dana")
    assert ws.messages("general") == []


@pytest.mark.parametrize("ws", ["socket"], indirect=True)
async def test_the_app_goes_on_after_slack_has_sent_its_socket_away(ws: Workspace) -> None:
    ts = await ask_for_lunch(ws, "Canteen")
    before = len(ws.calls.of("apps.connections.open"))
    await ws.disconnect("refresh_requested")
    await ws.wait_for(lambda: len(ws.calls.of("apps.connections.open")) > before)
    await ws.wait_for(lambda: ws.connected)
    await count_in(ws, ts, "alex")
    await ask_for_lunch(ws, "Pizza")


@pytest.mark.parametrize("ws", ["socket"], indirect=True)
async def test_the_app_goes_on_after_the_network_has_cut_its_socket(ws: Workspace) -> None:
    ts = await ask_for_lunch(ws, "Canteen")
    await ws.cut_sockets()
    assert not ws.connected
    await ws.wait_for(lambda: ws.connected, timeout=300)
    await count_in(ws, ts, "alex")
