"""Corners: what is rarely asked for, and must be answered as Slack does all the same."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import aiohttp
import pytest

from slack_on_loopback.config import DEFAULT_MANIFEST, WorkspaceConfig
from slack_on_loopback.errors import PersonRefusal
from slack_on_loopback.json_values import Json
from slack_on_loopback.workspace import Workspace, typed
from tests.bots import (
    PATIENT,
    Client,
    Page,
    Recorder,
    actions,
    button,
    error_of,
    modal,
)


def manifest_with(*scopes: str, **features: Any) -> Json:
    bot = [*DEFAULT_MANIFEST["oauth_config"]["scopes"]["bot"], *scopes]
    return {
        **DEFAULT_MANIFEST,
        "features": {**DEFAULT_MANIFEST["features"], **features},
        "oauth_config": {"scopes": {"bot": bot}},
    }


@pytest.fixture
def manifest() -> Mapping[str, Any]:
    """The app's; a test about another one names it."""
    return DEFAULT_MANIFEST


@pytest.fixture
def config(manifest: Mapping[str, Any]) -> WorkspaceConfig:
    return WorkspaceConfig(pace=PATIENT, manifest=manifest)


with_manifest = partial(pytest.mark.parametrize, "manifest")
READS_FILES = manifest_with("files:read")


async def test_a_post_may_name_its_channel(ws: Workspace, client: Client) -> None:
    assert (await client.chat_postMessage(channel="#general", text="x"))["ok"]


async def test_attachments_are_kept_until_they_are_emptied_and_their_buttons_work(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    channel = ws.channel("general").id
    attached = [{"fallback": "f", "blocks": [actions(button())]}]
    ts = (await client.chat_postMessage(channel=channel, text="x", attachments=attached))["ts"]
    await client.chat_update(channel=channel, ts=ts, text="y")
    assert ws.messages("general")[0]["attachments"][0]["fallback"] == "f"
    await ws.click("dana", channel, ts, "go")
    assert bot.last["actions"][0]["value"] == "v1"
    await client.chat_update(channel=channel, ts=ts, text="y", attachments=[])
    assert "attachments" not in ws.messages("general")[0]


async def test_an_ephemeral_click_lacks_the_message(
    ws: Workspace, client: Client, bot: Recorder
) -> None:
    general, dana = ws.channel("general").id, ws.user("dana").id
    await client.chat_postEphemeral(
        channel=general, user=dana, text="x", blocks=[actions(button())]
    )
    await ws.click("dana", general, ws.ephemeral("dana")[0]["ts"], "go")
    assert "message" not in bot.last
    assert bot.last["container"]["is_ephemeral"]


@with_manifest([manifest_with(app_home={"home_tab_enabled": True, "messages_tab_enabled": False})])
async def test_direct_messages_follow_the_manifest(ws: Workspace, client: Client) -> None:
    sent = client.chat_postMessage(channel=ws.user("dana").id, text="x")
    assert await error_of(sent) == "messages_tab_disabled"


@with_manifest(
    [manifest_with(app_home={"messages_tab_enabled": True, "messages_tab_read_only_enabled": True})]
)
async def test_a_read_only_messages_tab_takes_no_messages(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    dana = Page(ws, http, "dana")
    channel = (await client.chat_postMessage(channel=dana.user, text="x"))["channel"]
    refused = await dana.post("say", channel=channel, text="hello")
    assert refused["error"] == "messages_tab_read_only"


@with_manifest([manifest_with(slash_commands=[{"command": "/echo", "description": "d"}])])
async def test_a_command_escapes_mentions_only_when_asked_to(ws: Workspace, bot: Recorder) -> None:
    await ws.command("dana", "general", "/echo", "ask @alex & co")
    assert bot.last["text"] == "ask @alex &amp; co"


@with_manifest(
    [
        {
            **DEFAULT_MANIFEST,
            "settings": {**DEFAULT_MANIFEST["settings"], "interactivity": {"is_enabled": False}},
        }
    ]
)
async def test_interactivity_can_be_off(ws: Workspace, client: Client) -> None:
    blocks = [actions(button())]
    message = await client.chat_postMessage(channel="general", text="x", blocks=blocks)
    with pytest.raises(PersonRefusal, match="not_interactive"):
        await ws.click("dana", "general", message["ts"], "go")


@with_manifest([READS_FILES])
async def test_files_can_be_looked_up_by_who_may_see_them(ws: Workspace, client: Client) -> None:
    open_file = await ws.share_file("dana", "general", "a.md", b"# a", text="look")
    secret = await ws.share_file("dana", "security-review", "b.md", b"# b")
    answer = await client.files_info(file=open_file["files"][0]["id"])
    assert answer["file"]["preview"] == "# a"
    hidden = client.files_info(file=secret["files"][0]["id"])
    assert await error_of(hidden) == "file_not_found"
    assert open_file["files"][0]["channels"] == [ws.channel("general").id]
    assert secret["files"][0]["groups"] == [ws.channel("security-review").id]


@with_manifest([READS_FILES, DEFAULT_MANIFEST], ids=["with the scope", "without"])
async def test_an_app_reads_a_file_with_its_token_and_nobody_without(
    ws: Workspace, http: aiohttp.ClientSession, manifest: Mapping[str, Any]
) -> None:
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
            return answer.status, await answer.read() if answer.status == 200 else b""

    whole = (200, b"# a") if manifest is READS_FILES else (302, b"")
    assert await get(file["url_private"], ws.bot_token) == whole
    assert await get(file["url_private_download"], ws.bot_token) == whole
    assert (await get(file["url_private"], "xoxb-else"))[0] == 302
    assert (await get(secret["files"][0]["url_private"], ws.bot_token))[0] == 302


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


async def test_what_a_response_url_takes(
    ws: Workspace, bot: Recorder, http: aiohttp.ClientSession
) -> None:
    root = (await ws.say("dana", "general", "root"))["ts"]
    await ws.command("dana", "general", "/echo")
    thread = {"text": "here", "response_type": "in_channel", "thread_ts": root}
    errors: list[str | None] = []
    for body in (
        {},
        {"text": "x", "blocks": [{"type": "nothing"}]},
        {"text": "x", "thread_ts": "1.000000"},
        {"replace_original": True, "text": "x"},
        thread,
    ):
        async with http.post(bot.last["response_url"], json=body) as answer:
            errors.append((await answer.json()).get("error"))
            assert answer.status == (400 if errors[-1] else 200)
    assert errors == ["no_text", "invalid_blocks", "thread_not_found", None, None]
    assert [message["text"] for message in ws.thread("general", root)] == ["root", "here"]


async def test_a_bad_answer_to_a_command_is_told_and_logged(ws: Workspace, bot: Recorder) -> None:
    bot.acks["command"] = {"text": "x", "blocks": [{"type": "nothing"}]}
    with pytest.raises(PersonRefusal, match="invalid_response"):
        await ws.command("dana", "general", "/echo")
    assert ws.calls.of("ack:slash_commands", "invalid_blocks")


async def test_the_page_can_use_shortcuts_and_forms(
    ws: Workspace, client: Client, bot: Recorder, http: aiohttp.ClientSession
) -> None:
    dana = Page(ws, http, "dana")
    message = await ws.say("alex", "general", "A or B?")
    where = {"channel": message["channel"], "message_ts": message["ts"]}
    assert (await dana.post("shortcut", callback_id="echo_this", **where))["ok"]
    view = (await client.views_open(trigger_id=bot.last["trigger_id"], view=modal()))["view"]
    assert (await dana.post("view/close", view_id=view["id"]))["ok"]
    assert ws.views("dana") == []


async def test_general_stays(ws: Workspace, http: aiohttp.ClientSession) -> None:
    dana = Page(ws, http, "dana")
    refused = await dana.post("channels", action="archive", channel=ws.channel("general").id)
    assert refused["error"] == "cant_archive_general"


async def test_a_view_must_be_json(ws: Workspace, client: Client, bot: Recorder) -> None:
    await ws.command("dana", "general", "/echo")
    trigger = bot.last["trigger_id"]
    no_view = client.api_call("views.open", json={"trigger_id": trigger, "view": "{"})
    assert await error_of(no_view) == "invalid_arguments"


def test_form_values_have_a_short_way_to_write_them() -> None:
    assert typed(q__text="why", q__more="x", r__text="y") == {
        "q": {"text": {"value": "why"}, "more": {"value": "x"}},
        "r": {"text": {"value": "y"}},
    }
