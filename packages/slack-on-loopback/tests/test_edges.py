"""Corners: what is rarely asked for, and must be answered as Slack does all the same."""

from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from slack_on_loopback.config import DEFAULT_MANIFEST, WorkspaceConfig
from slack_on_loopback.errors import PersonRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.workspace import Workspace, run_workspace, typed
from tests.bots import (
    Client,
    Page,
    actions,
    bolt_app,
    button,
    error_of,
    modal,
    on_socket,
    slack_client,
    text_input,
)


def manifest_with(*scopes: str, **features: Any) -> Json:
    bot = [*DEFAULT_MANIFEST["oauth_config"]["scopes"]["bot"], *scopes]
    return {
        **DEFAULT_MANIFEST,
        "features": {**DEFAULT_MANIFEST["features"], **features},
        "oauth_config": {"scopes": {"bot": bot}},
    }


async def test_a_post_may_name_its_channel(ws: Workspace, client: Client) -> None:
    assert (await client.chat_postMessage(channel="#general", text="x"))["ok"]


async def test_attachments_are_kept_until_they_are_emptied(ws: Workspace, client: Client) -> None:
    channel = ws.channel("general").id
    attached = [{"fallback": "f", "blocks": [actions(button())]}]
    ts = (await client.chat_postMessage(channel=channel, text="x", attachments=attached))["ts"]
    await client.chat_update(channel=channel, ts=ts, text="y")
    assert ws.messages("general")[0]["attachments"][0]["fallback"] == "f"
    await client.chat_update(channel=channel, ts=ts, text="y", attachments=[])
    assert "attachments" not in ws.messages("general")[0]


async def test_a_click_on_an_attached_button_works(ws: Workspace, client: Client) -> None:
    channel = ws.channel("general").id
    attached = [{"fallback": "f", "blocks": [actions(button())]}]
    message = await client.chat_postMessage(channel=channel, text="x", attachments=attached)
    bodies: list[Json] = []
    app = bolt_app(ws, client)

    @app.action("go")
    async def clicked(ack: Any, body: Json) -> None:
        await ack()
        bodies.append(body)

    async with on_socket(ws, app):
        await ws.click("dana", channel, message["ts"], "go")
    assert bodies[0]["actions"][0]["value"] == "v1"


async def test_an_ephemeral_click_lacks_the_message(ws: Workspace, client: Client) -> None:
    bodies: list[Json] = []
    app = bolt_app(ws, client)

    @app.action("go")
    async def clicked(ack: Any, body: Json) -> None:
        await ack()
        bodies.append(body)

    general, dana = ws.channel("general").id, ws.user("dana").id
    async with on_socket(ws, app):
        await client.chat_postEphemeral(
            channel=general, user=dana, text="x", blocks=[actions(button())]
        )
        await ws.click("dana", general, ws.ephemeral("dana")[0]["ts"], "go")
    assert "message" not in bodies[0]
    assert bodies[0]["container"]["is_ephemeral"]


async def test_direct_messages_follow_the_manifest(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    tab = {"home_tab_enabled": True, "messages_tab_enabled": False}
    async with run_workspace(replace(config, manifest=manifest_with(app_home=tab))) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
        dana = ws.user("dana").id
        assert await error_of(client.chat_postMessage(channel=dana, text="x")) == (
            "messages_tab_disabled"
        )


async def test_a_read_only_messages_tab_takes_no_messages(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    tab = {"messages_tab_enabled": True, "messages_tab_read_only_enabled": True}
    async with run_workspace(replace(config, manifest=manifest_with(app_home=tab))) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
        dana = Page(ws, http, "dana")
        channel = (await client.chat_postMessage(channel=dana.user, text="x"))["channel"]
        refused = await dana.post("say", channel=channel, text="hello")
        assert refused["error"] == "messages_tab_read_only"


async def test_a_command_escapes_mentions_only_when_asked_to(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    commands = [{"command": "/echo", "description": "d"}]
    manifest = manifest_with(slash_commands=commands)
    async with run_workspace(replace(config, manifest=manifest)) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
        app, texts = bolt_app(ws, client), list[str]()

        @app.command("/echo")
        async def start(ack: Any, command: Json) -> None:
            await ack()
            texts.append(command["text"])

        async with on_socket(ws, app):
            await ws.command("dana", "general", "/echo", "ask @alex & co")
    assert texts == ["ask @alex &amp; co"]


async def test_interactivity_can_be_off(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    settings = {**DEFAULT_MANIFEST["settings"], "interactivity": {"is_enabled": False}}
    manifest = {**DEFAULT_MANIFEST, "settings": settings}
    async with run_workspace(replace(config, manifest=manifest)) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
        blocks = [actions(button())]
        message = await client.chat_postMessage(channel="general", text="x", blocks=blocks)
        with pytest.raises(PersonRefusal, match="not_interactive"):
            await ws.click("dana", "general", message["ts"], "go")


async def test_files_can_be_looked_up_by_who_may_see_them(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    async with run_workspace(replace(config, manifest=manifest_with("files:read"))) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
        open_file = await ws.share_file("dana", "general", "a.md", b"# a", text="look")
        secret = await ws.share_file("dana", "security-review", "b.md", b"# b")
        answer = await client.files_info(file=open_file["files"][0]["id"])
        assert answer["file"]["preview"] == "# a"
        hidden = client.files_info(file=secret["files"][0]["id"])
        assert await error_of(hidden) == "file_not_found"
        assert open_file["files"][0]["channels"] == [ws.channel("general").id]
        assert secret["files"][0]["groups"] == [ws.channel("security-review").id]


async def test_an_app_reads_a_file_with_its_token_and_nobody_without(
    config: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    async with run_workspace(replace(config, manifest=manifest_with("files:read"))) as ws:
        root = await ws.say("dana", "general", "look")
        shared = await ws.share_file(
            "dana", "general", "a b.md", b"# a", text="here", thread_ts=root["ts"]
        )
        secret = await ws.share_file("dana", "security-review", "b.md", b"# b")
        file = shared["files"][0]
        assert ws.thread("general", root["ts"])[1]["files"][0]["id"] == file["id"]

        async def get(url: str, token: str) -> tuple[int, bytes]:
            headers = {"Authorization": f"Bearer {token}"}
            async with http.get(url, headers=headers, allow_redirects=False) as answer:
                return answer.status, await answer.read()

        assert await get(file["url_private"], ws.bot_token) == (200, b"# a")
        assert await get(file["url_private_download"], ws.bot_token) == (200, b"# a")
        assert (await get(file["url_private"], "xoxb-else"))[0] == 302
        assert (await get(secret["files"][0]["url_private"], ws.bot_token))[0] == 302
    async with run_workspace(config) as ws:
        shared = await ws.share_file("dana", "general", "a.md", b"# a")
        assert (await get(shared["files"][0]["url_private"], ws.bot_token))[0] == 302


async def test_an_upload_may_be_multipart_and_comes_once(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    begun = await client.files_getUploadURLExternal(filename="a.txt", length=5)
    form = aiohttp.FormData()
    form.add_field("file", b"hello", filename="a.txt")
    async with http.post(begun["upload_url"], data=form) as answer:
        assert await answer.text() == "OK - 5"
    async with http.post(begun["upload_url"], data=b"again") as answer:
        assert answer.status == 404
    assert ws.file(begun["file_id"]) == b"hello"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "no_text"),
        ({"text": "x", "blocks": [{"type": "nothing"}]}, "invalid_blocks"),
        ({"text": "x", "thread_ts": "1.000000"}, "thread_not_found"),
        ({"replace_original": True, "text": "x"}, None),
    ],
)
async def test_what_a_response_url_takes(
    ws: Workspace, client: Client, http: aiohttp.ClientSession, *, body: Json, error: str | None
) -> None:
    app, urls = bolt_app(ws, client), list[str]()

    @app.command("/echo")
    async def start(ack: Any, command: Json) -> None:
        await ack()
        urls.append(command["response_url"])

    async with on_socket(ws, app):
        await ws.command("dana", "general", "/echo")
    async with http.post(urls[0], json=body) as answer:
        reply = await answer.json()
    assert reply.get("error") == error
    assert answer.status == (200 if error is None else 400)


async def test_a_response_can_answer_in_a_thread(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    app, urls = bolt_app(ws, client), list[str]()

    @app.command("/echo")
    async def start(ack: Any, command: Json) -> None:
        await ack()
        urls.append(command["response_url"])

    root = (await ws.say("dana", "general", "root"))["ts"]
    async with on_socket(ws, app):
        await ws.command("dana", "general", "/echo")
    answer = {"text": "here", "response_type": "in_channel", "thread_ts": root}
    async with http.post(urls[0], json=answer) as posted:
        assert posted.status == 200
    assert [message["text"] for message in ws.thread("general", root)] == ["root", "here"]


async def test_a_bad_answer_to_a_command_is_told_and_logged(ws: Workspace, client: Client) -> None:
    app = bolt_app(ws, client)

    @app.command("/echo")
    async def start(ack: Any) -> None:
        await ack(text="x", blocks=[{"type": "nothing"}])

    async with on_socket(ws, app):
        with pytest.raises(PersonRefusal, match="invalid_response"):
            await ws.command("dana", "general", "/echo")
    assert ws.calls.of("ack:slash_commands", "invalid_blocks")


async def test_the_page_can_use_shortcuts_options_and_forms(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    app, dana = bolt_app(ws, client), Page(ws, http, "dana")
    offered = [{"text": {"type": "plain_text", "text": "one"}, "value": "1"}]
    block = {**text_input("e"), "element": {"type": "external_select", "action_id": "ext"}}

    @app.shortcut("echo_this")
    async def use(ack: Any, shortcut: Json) -> None:
        await ack()
        view = modal(block, notify_on_close=True)
        await client.views_open(trigger_id=shortcut["trigger_id"], view=view)

    @app.options("ext")
    async def offer(ack: Any) -> None:
        await ack(options=offered)

    @app.view_closed("form")
    async def closed(ack: Any) -> None:
        await ack()

    message = await ws.say("alex", "general", "A or B?")
    where = {"channel": message["channel"], "message_ts": message["ts"]}
    async with on_socket(ws, app):
        assert (await dana.post("shortcut", callback_id="echo_this", **where))["ok"]
        view = (await ws.wait_for(lambda: ws.views("dana")))[0]
        place = {"view_id": view["id"], "block_id": "e", "action_id": "ext"}
        assert (await dana.post("options", **place, value="o"))["options"] == offered
        assert (await dana.post("view/close", view_id=view["id"]))["ok"]
    assert ws.views("dana") == []


async def test_the_record_of_deliveries_is_on_http(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    app = bolt_app(ws, client)

    @app.event("message")
    async def hear() -> None:
        """Take it, or Bolt acknowledges nothing."""

    async with on_socket(ws, app):
        await ws.say("dana", "general", "x")
        await ws.wait_for(lambda: ws.deliveries)
        for kind in ("cut_sockets", "disconnect"):
            async with http.post(f"{ws.url}control/faults", json={"kind": kind}) as answer:
                assert (await answer.json())["ok"]
    async with http.get(f"{ws.url}control/deliveries") as answer:
        listed = (await answer.json())["deliveries"]
    assert (listed[0]["kind"], listed[0]["name"], listed[0]["attempt"]) == (
        "events_api",
        "message",
        0,
    )


async def test_an_uninstalled_app_can_be_told_over_http(
    ws: Workspace, http: aiohttp.ClientSession
) -> None:
    async with http.post(f"{ws.url}control/faults", json={"kind": "uninstall"}) as answer:
        assert (await answer.json())["ok"]
    with pytest.raises(PersonRefusal, match="unknown_command"):
        await ws.command("dana", "general", "/echo", "x")


async def test_general_stays(ws: Workspace, http: aiohttp.ClientSession) -> None:
    dana = Page(ws, http, "dana")
    refused = await dana.post("channels", action="archive", channel=ws.channel("general").id)
    assert refused["error"] == "cant_archive_general"


async def test_views_need_a_trigger_of_a_form_to_be_pushed(ws: Workspace, client: Client) -> None:
    app, triggers = bolt_app(ws, client), list[str]()

    @app.command("/echo")
    async def start(ack: Any, command: Json) -> None:
        await ack()
        triggers.append(command["trigger_id"])

    async with on_socket(ws, app):
        await ws.command("dana", "general", "/echo")
        push = client.views_push(trigger_id=triggers[0], view=modal())
        assert await error_of(push) == "invalid_trigger_id"
        no_view = client.api_call("views.open", json={"trigger_id": triggers[0], "view": "{"})
        assert await error_of(no_view) == "invalid_arguments"


def test_form_values_have_a_short_way_to_write_them() -> None:
    assert typed(q__text="why", q__more="x", r__text="y") == {
        "q": {"text": {"value": "why"}, "more": {"value": "x"}},
        "r": {"text": {"value": "y"}},
    }
