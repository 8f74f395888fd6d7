"""Canvases: documents beside the messages of a channel, with Slack's own rules."""

from pathlib import Path

import aiohttp
import pytest

from slack_on_loopback.config import BOT_SCOPES, DEFAULT_MANIFEST, WorkspaceConfig
from slack_on_loopback.workspace import Workspace, run_workspace
from tests.bots import PATIENT, Client, Page, error_of, refused, slack_client


def config_with(*scopes: str) -> WorkspaceConfig:
    wanted = [*BOT_SCOPES, *scopes]
    manifest = {**DEFAULT_MANIFEST, "oauth_config": {"scopes": {"bot": wanted}}}
    return WorkspaceConfig(pace=PATIENT, manifest=manifest)


@pytest.fixture
def config() -> WorkspaceConfig:
    return config_with("canvases:read", "canvases:write", "files:read")


def markdown(text: str) -> dict[str, str]:
    return {"type": "markdown", "markdown": text}


async def made(client: Client, ws: Workspace, text: str = "# Rules\n\nBe kind.") -> str:
    """Make a canvas in the channel general; return its id."""
    answer = await client.canvases_create(
        title="Rules", channel_id=ws.channel("general").id, document_content=markdown(text)
    )
    return answer["canvas_id"]


async def edit(
    client: Client, canvas: str, operation: str, text: str = "", *, section: str = ""
) -> None:
    change: dict[str, object] = {"operation": operation, "document_content": markdown(text)}
    if section:
        change["section_id"] = section
    await client.canvases_edit(canvas_id=canvas, changes=[change])


async def test_a_canvas_is_a_tab_of_its_channel_and_a_file(ws: Workspace, client: Client) -> None:
    canvas = await made(client, ws)
    [tab] = ws.canvases("general")
    assert (tab.id, tab.title, tab.markdown) == (canvas, "Rules", "# Rules\n\nBe kind.")
    info = await client.conversations_info(channel=ws.channel("general").id)
    [told] = info["channel"]["properties"]["tabs"]
    assert (told["type"], told["label"], told["data"]["file_id"]) == ("canvas", "Rules", canvas)
    about = (await client.files_info(file=canvas))["file"]
    assert (about["filetype"], about["title"], about["user"]) == ("quip", "Rules", ws.app.bot_user)


async def test_a_channel_has_one_canvas_of_its_own(ws: Workspace, client: Client) -> None:
    channel = ws.channel("general").id
    answer = await client.conversations_canvases_create(
        channel_id=channel, document_content=markdown("Hello.")
    )
    again = client.conversations_canvases_create(
        channel_id=channel, document_content=markdown("Hello again.")
    )
    assert await error_of(again) == "channel_canvas_already_exists"
    info = await client.conversations_info(channel=channel)
    assert info["channel"]["properties"]["canvas"]["file_id"] == answer["canvas_id"]
    await made(client, ws)
    assert len(ws.canvases("general")) == 2


async def test_sections_are_found_and_edited_one_at_a_time(ws: Workspace, client: Client) -> None:
    canvas = await made(client, ws, "# Rules\nBe kind.\n\n## More\n\nAsk.")
    rules = await client.canvases_sections_lookup(
        canvas_id=canvas, criteria={"section_types": ["h1"], "contains_text": "rules"}
    )
    [section] = rules["sections"]
    await edit(client, canvas, "insert_after", "Listen.", section=section["id"])
    await edit(client, canvas, "replace", "# House rules", section=section["id"])
    kind = await client.canvases_sections_lookup(
        canvas_id=canvas, criteria={"contains_text": "Be kind"}
    )
    await edit(client, canvas, "delete", section=kind["sections"][0]["id"])
    await edit(client, canvas, "insert_at_start", "Read this.")
    await edit(client, canvas, "insert_at_end", "Bye.")
    assert ws.canvases("general")[0].markdown == (
        "Read this.\n\n# House rules\n\nListen.\n\n## More\n\nAsk.\n\nBye."
    )
    await edit(client, canvas, "replace", "Anew.")
    assert ws.canvases("general")[0].markdown == "Anew."


async def test_two_changes_in_a_call_and_a_section_that_is_gone_are_refused(
    ws: Workspace, client: Client
) -> None:
    canvas = await made(client, ws)
    change = {"operation": "insert_at_end", "document_content": markdown("x")}
    two = client.canvases_edit(canvas_id=canvas, changes=[change, change])
    assert await error_of(two) == "invalid_arguments"
    gone = await refused(edit(client, canvas, "replace", "x", section="temp:C:gone"))
    assert gone["error"] == "canvas_editing_failed"
    assert "temp:C:gone" in gone["detail"]
    assert await error_of(edit(client, canvas, "delete")) == "invalid_arguments"
    assert await error_of(edit(client, canvas, "mix", "x")) == "invalid_arguments"
    assert ws.canvases("general")[0].markdown == "# Rules\n\nBe kind."


async def test_access_is_the_owners_to_give(ws: Workspace, client: Client) -> None:
    canvas, channel = await made(client, ws), ws.channel("general").id
    await client.canvases_access_set(canvas_id=canvas, access_level="read", channel_ids=[channel])
    assert ws.canvases("general")[0].channels == {channel: "read"}
    both = client.canvases_access_set(
        canvas_id=canvas, access_level="read", channel_ids=[channel], user_ids=[ws.user("dana").id]
    )
    assert await error_of(both) == "invalid_parameters"
    owner = client.canvases_access_set(
        canvas_id=canvas, access_level="owner", channel_ids=[channel]
    )
    assert await error_of(owner) == "invalid_arguments"
    await client.canvases_access_set(
        canvas_id=canvas, access_level="owner", user_ids=[ws.user("dana").id]
    )
    assert await error_of(edit(client, canvas, "replace", "Mine.")) == "restricted_action"
    assert await error_of(client.canvases_delete(canvas_id=canvas)) == "restricted_action"


async def test_what_is_deleted_or_was_never_there_is_not_found(
    ws: Workspace, client: Client
) -> None:
    canvas = await made(client, ws)
    await client.canvases_delete(canvas_id=canvas)
    assert ws.canvases("general") == []
    assert await error_of(edit(client, canvas, "replace", "x")) == "canvas_not_found"
    private = client.canvases_create(title="x", channel_id=ws.channel("security-review").id)
    assert await error_of(private) == "channel_not_found"


async def test_more_than_a_canvas_takes_is_refused(ws: Workspace, client: Client) -> None:
    half = "x" * 600_000
    canvas = await made(client, ws, half)
    assert await error_of(edit(client, canvas, "insert_at_end", half)) == "canvas_editing_failed"
    assert ws.canvases("general")[0].markdown == half
    await edit(client, canvas, "replace", half.upper())
    assert ws.canvases("general")[0].markdown == half.upper()


async def test_without_the_scope_there_is_no_canvas(http: aiohttp.ClientSession) -> None:
    async with run_workspace(config_with()) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http, retry_handlers=[])
        answer = await refused(made(client, ws))
        assert (answer["error"], answer["needed"]) == ("missing_scope", "canvases:write")


async def test_the_page_lists_canvases_of_a_channel_and_shows_them_to_those_who_see_it(
    ws: Workspace, client: Client, http: aiohttp.ClientSession
) -> None:
    canvas = await made(client, ws)
    dana = Page(ws, http, "dana")
    listed = {one["name"]: one for one in (await dana.get("state"))["channels"]}
    assert listed["general"]["canvases"] == [{"id": canvas, "title": "Rules"}]
    assert listed["random"]["canvases"] == []
    assert (await dana.get(f"canvases/{canvas}"))["markdown"] == "# Rules\n\nBe kind."
    assert (await dana.get("canvases/F0"))["error"] == "no_canvas"


async def test_canvases_outlast_a_restart(config: WorkspaceConfig, tmp_path: Path) -> None:
    saved = WorkspaceConfig(
        pace=PATIENT, manifest=config.manifest, state_file=tmp_path / "state.json"
    )
    async with run_workspace(saved) as ws, aiohttp.ClientSession() as session:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=session)
        await made(client, ws)
    async with run_workspace(saved) as ws:
        assert ws.canvases("general")[0].markdown == "# Rules\n\nBe kind."
