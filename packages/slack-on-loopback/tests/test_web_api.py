"""Calls of the Web API: tokens, scopes, encodings, errors, as Slack's own client sees them."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from slack_on_loopback.arguments import TAKEN
from slack_on_loopback.config import BOT_SCOPES, DEFAULT_MANIFEST, WorkspaceConfig
from slack_on_loopback.json_values import Json
from slack_on_loopback.web_api import METHODS
from slack_on_loopback.workspace import Workspace, run_workspace
from tests.bots import Client, error_of, refused, slack_client, text_section


def manifest_without(*scopes: str) -> Mapping[str, Any]:
    remaining = [scope for scope in BOT_SCOPES if scope not in scopes]
    return {**DEFAULT_MANIFEST, "oauth_config": {"scopes": {"bot": remaining}}}


async def test_auth_test_says_who_the_bot_is(ws: Workspace, client: Client) -> None:
    answer = await client.auth_test()
    assert answer["user_id"] == ws.app.bot_user
    assert answer["bot_id"] == ws.app.bot_id
    assert answer["team"] == "Riverside"


@pytest.mark.parametrize(("token", "error"), [(None, "not_authed"), ("xoxb-wrong", "invalid_auth")])
async def test_a_missing_or_wrong_token_is_refused(
    ws: Workspace, http: aiohttp.ClientSession, token: str | None, error: str
) -> None:
    client = slack_client(token, base_url=ws.api_url, session=http)
    assert await error_of(client.auth_test()) == error


async def test_a_revoked_token_is_refused(ws: Workspace, client: Client) -> None:
    ws.revoke_token()
    assert await error_of(client.auth_test()) == "token_revoked"
    ws.restore_token()
    assert (await client.auth_test())["ok"]


async def test_each_kind_of_token_has_its_methods(ws: Workspace, client: Client) -> None:
    by_app = client.api_call("auth.test", headers={"Authorization": f"Bearer {ws.app_token}"})
    by_bot = client.apps_connections_open(app_token=ws.bot_token)
    assert await error_of(by_app) == "not_allowed_token_type"
    assert await error_of(by_bot) == "not_allowed_token_type"


async def test_a_missing_scope_is_named(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    async with run_workspace(replace(config, manifest=manifest_without("pins:write"))) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
        answer = await refused(client.pins_add(channel=ws.channel("general").id, timestamp="1.0"))
    assert answer["error"] == "missing_scope"
    assert answer["needed"] == "pins:write"
    assert "chat:write" in answer["provided"].split(",")


async def test_the_scope_of_a_private_channel_is_its_own(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    async with run_workspace(replace(config, manifest=manifest_without("groups:history"))) as ws:
        channel = await ws.channel_action(
            "dana", "invite", channel="security-review", member="echo"
        )
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
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


async def test_the_token_may_be_an_argument(ws: Workspace, http: aiohttp.ClientSession) -> None:
    async with http.post(f"{ws.api_url}auth.test", data={"token": ws.bot_token}) as answer:
        assert (await answer.json())["ok"]
    assert ws.calls.of("auth.test")[0].args == {}


@pytest.mark.parametrize(("body", "error"), [("{", "invalid_json"), ("[1]", "json_not_object")])
async def test_broken_json_is_refused(
    ws: Workspace, http: aiohttp.ClientSession, body: str, error: str
) -> None:
    headers = {"Authorization": f"Bearer {ws.bot_token}", "Content-Type": "application/json"}
    async with http.post(f"{ws.api_url}auth.test", data=body, headers=headers) as answer:
        assert answer.status == 200
        assert (await answer.json())["error"] == error


async def test_a_refusal_says_which_block_is_wrong(ws: Workspace, client: Client) -> None:
    call = client.chat_postMessage(
        channel=ws.channel("general").id, text="x", blocks=[text_section("x" * 3001)]
    )
    answer = await refused(call)
    assert answer["error"] == "invalid_blocks"
    assert "/blocks/0/text/text" in answer["response_metadata"]["messages"][0]


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


async def test_who_is_who(ws: Workspace, client: Client) -> None:
    dana = (await client.users_info(user=ws.user("dana").id))["user"]
    assert (dana["real_name"], dana["is_bot"]) == ("Dana", False)


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
