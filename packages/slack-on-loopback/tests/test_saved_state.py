"""A workspace that is saved and started again."""

import json
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from slack_on_loopback.config import WorkspaceConfig
from slack_on_loopback.workspace import Workspace, run_workspace
from tests.bots import error_of, slack_client


@pytest.fixture
def saved(config: WorkspaceConfig, tmp_path: Path) -> WorkspaceConfig:
    return replace(config, state_file=tmp_path / "deep" / "workspace.json")


async def test_everything_that_matters_survives(
    saved: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    async with run_workspace(saved) as ws:
        client = slack_client(ws.bot_token, base_url=ws.api_url, session=http)
        general = ws.channel("general").id
        metadata = {"event_type": "x", "event_payload": {"key": "k"}}
        answer = await client.chat_postMessage(channel=general, text="hi", metadata=metadata)
        await client.pins_add(channel=general, timestamp=answer["ts"])
        shared = await ws.share_file("dana", "general", "a.bin", b"\x00\xff")
        view = {"type": "home", "blocks": [{"type": "divider"}]}
        await client.views_publish(user_id=ws.user("dana").id, view=view)
        token = ws.bot_token
    async with run_workspace(saved) as again:
        assert [message["ts"] for message in again.messages("general")] == [
            answer["ts"],
            shared["ts"],
        ]
        assert again.messages("general")[0]["metadata"] == metadata
        assert again.pins("general") == [answer["ts"]]
        assert again.file(shared["files"][0]["id"]) == b"\x00\xff"
        assert again.home("dana") is not None
        assert again.bot_token == token
        later = await again.say("dana", "general", "next")
        assert later["ts"] > shared["ts"]


def test_a_file_of_an_earlier_version_is_read(saved: WorkspaceConfig) -> None:
    fresh = Workspace(saved)
    old = fresh.state.model_dump(mode="json")
    app, dana = old.pop("app"), fresh.user("dana").id
    old |= {"apps": {app["id"]: app}, "homes": {f"{app['id']}:{dana}": {"type": "home"}}}
    assert saved.state_file is not None
    saved.state_file.parent.mkdir()
    saved.state_file.write_text(json.dumps(old), "utf-8")
    again = Workspace(saved)
    assert again.app.bot_user == fresh.app.bot_user
    assert again.home("dana") == {"type": "home"}


async def test_it_is_saved_while_it_runs(saved: WorkspaceConfig) -> None:
    async with run_workspace(saved) as ws:
        await ws.say("dana", "general", "not lost")
        await ws.wait_for(lambda: not ws.runtime.dirty)
        crashed = Workspace(saved)
        assert [message["text"] for message in crashed.messages("general")] == ["not lost"]


async def test_fixed_tokens_can_be_given(
    saved: WorkspaceConfig, http: aiohttp.ClientSession
) -> None:
    async with run_workspace(saved) as ws:
        old = ws.bot_token
    settings = replace(saved, bot_token="xoxb-mine", app_token="xapp-mine", signing_secret="s3cret")
    async with run_workspace(settings) as ws:
        assert (ws.app_token, ws.signing_secret) == ("xapp-mine", "s3cret")
        mine = slack_client("xoxb-mine", base_url=ws.api_url, session=http)
        assert (await mine.auth_test())["ok"]
        other = slack_client(old, base_url=ws.api_url, session=http)
        assert await error_of(other.auth_test()) == "invalid_auth"


def test_tokens_differ_from_start_to_start() -> None:
    first, second = Workspace(), Workspace()
    assert first.bot_token != second.bot_token
    assert first.bot_token.startswith("xoxb-")
    assert first.app_token.startswith("xapp-")


async def test_a_wait_that_is_in_vain_ends(ws: Workspace) -> None:
    with pytest.raises(TimeoutError):
        await ws.wait_for(lambda: False, 0.05)


LUNCH = {
    "display_information": {"name": "Lunch"},
    "features": {
        "app_home": {"home_tab_enabled": True},
        "bot_user": {"display_name": "Lunch Bot"},
        "slash_commands": [{"command": "/lunch", "description": "What is for lunch"}],
    },
    "oauth_config": {"scopes": {"bot": ["chat:write", "commands"]}},
    "settings": {"socket_mode_enabled": True},
}


@pytest.mark.workspace(manifest=LUNCH)
def test_a_manifest_makes_the_app(config: WorkspaceConfig) -> None:
    ws = Workspace(config)
    assert ws.app.name == "Lunch"
    assert ws.user("lunch-bot").is_bot
    assert ws.app.scopes == ["chat:write", "commands"]
    assert [command["command"] for command in ws.app.commands] == ["/lunch"]
    assert ws.app.has_home
    assert ws.app.request_url == ""
