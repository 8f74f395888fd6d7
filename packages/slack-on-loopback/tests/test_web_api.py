"""Calls of the Web API: tokens, scopes, encodings, errors, as Slack's own client sees them."""

import inspect
import json
from typing import Any

import aiohttp
import pytest

from slack_on_loopback.arguments import TAKEN
from slack_on_loopback.json_values import Json
from slack_on_loopback.web_api import METHODS
from slack_on_loopback.workspace import Workspace
from tests.bots import Client, error_of, manifest_of, refused, text_section


async def test_tokens_say_who_calls(ws: Workspace, http: aiohttp.ClientSession) -> None:
    async def answer(method: str, bearer: str = "", **body: str) -> Json:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        async with http.post(f"{ws.api_url}{method}", headers=headers, data=body) as response:
            return await response.json()

    assert (await answer("auth.test"))["error"] == "not_authed"
    assert (await answer("auth.test", "xoxb-wrong"))["error"] == "invalid_auth"
    assert (await answer("auth.test", ws.app_token))["error"] == "not_allowed_token_type"
    assert (await answer("apps.connections.open", ws.bot_token))[
        "error"
    ] == "not_allowed_token_type"
    who = await answer("auth.test", token=ws.bot_token)
    assert (who["user_id"], who["bot_id"]) == (ws.app.bot_user, ws.app.bot_id)
    assert ws.calls.of("auth.test", "ok")[0].args == {}
    ws.revoke_token()
    assert (await answer("auth.test", ws.bot_token))["error"] == "token_revoked"
    ws.restore_token()
    assert (await answer("auth.test", ws.bot_token))["ok"]


@pytest.mark.workspace(manifest=manifest_of(without={"pins:write", "groups:history"}))
async def test_a_missing_scope_is_named(ws: Workspace, client: Client) -> None:
    channel = await ws.channel_action("dana", "invite", channel="security-review", member="echo")
    answer = await refused(client.pins_add(channel=channel.id, timestamp="1.0"))
    assert (answer["error"], answer["needed"]) == ("missing_scope", "pins:write")
    assert "chat:write" in answer["provided"].split(",")
    # That of a private channel is its own.
    answer = await refused(client.conversations_history(channel=channel.id))
    assert (answer["error"], answer["needed"]) == ("missing_scope", "groups:history")


def encodings(ws: Workspace) -> dict[str, dict[str, Any]]:
    values: Json = {"channel": ws.channel("general").id, "text": "hi"}
    blocks = [text_section("hi")]
    as_text = {**values, "blocks": json.dumps(blocks)}
    return {
        "json": {"json": {**values, "blocks": blocks}},
        "json_with_strings": {"json": as_text},
        "form": {"data": as_text},
        "query": {"params": as_text},
    }


@pytest.mark.parametrize("verb", ["GET", "POST"])
@pytest.mark.parametrize("encoding", ["json", "json_with_strings", "form", "query"])
async def test_every_encoding_of_arguments_is_understood(
    ws: Workspace, http: aiohttp.ClientSession, verb: str, encoding: str
) -> None:
    headers = {"Authorization": f"Bearer {ws.bot_token}"}
    url = f"{ws.api_url}chat.postMessage"
    async with http.request(verb, url, headers=headers, **encodings(ws)[encoding]) as answer:
        body = await answer.json()
    assert body["ok"], body
    assert ws.messages("general")[0]["blocks"][0]["text"]["text"] == "hi"


@pytest.mark.parametrize(("body", "error"), [("{", "invalid_json"), ("[1]", "json_not_object")])
async def test_broken_json_is_refused(
    ws: Workspace, http: aiohttp.ClientSession, body: str, error: str
) -> None:
    headers = {"Authorization": f"Bearer {ws.bot_token}", "Content-Type": "application/json"}
    async with http.post(f"{ws.api_url}auth.test", data=body, headers=headers) as answer:
        assert answer.status == 200
        assert (await answer.json())["error"] == error


async def test_every_call_is_logged_with_its_outcome(ws: Workspace, client: Client) -> None:
    await client.auth_test()
    await error_of(client.chat_postMessage(channel="C404", text="x"))
    assert [(entry.method, entry.outcome) for entry in ws.calls.entries] == [
        ("auth.test", "ok"),
        ("chat.postMessage", "channel_not_found"),
    ]
    assert ws.calls.entries[1].args["text"] == "x"


async def test_another_web_page_may_not_call_the_workspace(
    ws: Workspace, http: aiohttp.ClientSession
) -> None:
    url = f"{ws.url}page/api/state"
    async with http.get(url, headers={"Origin": "https://evil.example"}) as answer:
        assert answer.status == 403
    async with http.get(url, headers={"Host": "evil.example"}) as answer:
        assert answer.status == 403
    async with http.get(url, headers={"Origin": ws.url.rstrip("/")}) as answer:
        assert answer.status == 200


async def test_arguments_that_a_method_does_not_know_are_refused(
    ws: Workspace, client: Client
) -> None:
    sent = await client.chat_postMessage(channel=ws.channel("general").id, text="hi")
    edit = {"channel": sent["channel"], "ts": sent["ts"], "text": "ho", "team_id": "T0"}
    wrong = client.api_call("chat.update", json={**edit, "username": "x", "icon_emoji": ":x:"})
    answer = await refused(wrong)
    assert answer["error"] == "invalid_arguments"
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] no such argument: icon_emoji [json-pointer:/icon_emoji]",
        "[ERROR] no such argument: username [json-pointer:/username]",
    ]
    assert (await client.api_call("chat.update", json=edit))["ok"]  # clients of Bolt send team_id


#: What the SDK can send, but nothing is done with here.
NOT_TAKEN = {"attachments", "channels", "icon_url", "include_num_members", "markdown_text"}


def test_each_method_says_what_it_takes_and_takes_what_the_sdk_sends(client: Client) -> None:
    assert TAKEN.keys() == METHODS.keys()
    for method, arguments in TAKEN.items():
        call = getattr(client, method.replace(".", "_"), None)
        sent = inspect.signature(call).parameters.keys() if call else set[str]()
        assert sent - arguments <= {"kwargs", "app_token", *NOT_TAKEN}, method
