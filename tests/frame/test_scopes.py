"""The manifest asks for what the bot's code uses, and for nothing else."""

from typing import Any

import pytest
import yaml

from tests.frame.files import read
from tests.frame.slack_use import EVENT_SCOPES, METHOD_SCOPES, slack_use, slack_use_of

MANIFEST: dict[str, Any] = yaml.safe_load(read("manifest.yaml"))
SCOPES = set(MANIFEST["oauth_config"]["scopes"]["bot"])
EVENTS = set(MANIFEST["settings"]["event_subscriptions"]["bot_events"])
COMMANDS = {command["command"] for command in MANIFEST["features"]["slash_commands"]}
SHORTCUTS = {shortcut["callback_id"] for shortcut in MANIFEST["features"]["shortcuts"]}

#: What only an app installed as an agent has: manifest.agent.yaml.
OF_AGENTS = {"assistant:write", "agent_session_stopped"}


def test_every_method_the_bot_calls_has_its_scopes_written_down() -> None:
    assert sorted(slack_use().methods - METHOD_SCOPES.keys()) == []


def test_every_event_the_bot_hears_has_its_scopes_written_down() -> None:
    assert sorted(slack_use().events - EVENT_SCOPES.keys()) == []


def test_every_listener_is_registered_under_a_written_name() -> None:
    assert slack_use().unnamed == []


def test_no_scope_is_missing() -> None:
    assert sorted(slack_use().scopes - SCOPES - OF_AGENTS) == []


def test_no_scope_is_asked_for_in_vain() -> None:
    assert sorted(SCOPES - slack_use().scopes) == []


def test_the_manifest_subscribes_to_what_the_bot_listens_to() -> None:
    assert slack_use().manifest_events - OF_AGENTS == EVENTS


def test_the_manifest_has_the_commands_the_bot_answers() -> None:
    assert slack_use().commands == COMMANDS


def test_the_manifest_has_the_shortcuts_the_bot_answers() -> None:
    assert slack_use().shortcuts == SHORTCUTS


@pytest.mark.parametrize(
    ("source", "scopes"),
    [
        ("await client.chat_postMessage(channel=c)", {"chat:write"}),
        ("await client.api_call('pins.add')", {"pins:write"}),
        ("METHOD = 'chat.update'", {"chat:write"}),
        ("post = client.reactions_add", {"reactions:write"}),
        ("client.chat_postMessage(icon_emoji=i)", {"chat:write", "chat:write.customize"}),
        ("body['icon_emoji'] = i", {"chat:write.customize"}),
        ("app.command('/debate')(answer)", {"commands"}),
        ("app.shortcut({'type': 'x', 'callback_id': 'y'})(answer)", {"commands"}),
        ("app.event('message')(hear)", {"channels:history", "groups:history"}),
        ("self.app.event({'type': 'app_mention'})(hear)", {"app_mentions:read"}),
        ("client.views_open(view=v)", set[str]()),
        ("log.event('message')", set[str]()),
    ],
)
def test_use_is_read_from_code(source: str, scopes: set[str]) -> None:
    assert slack_use_of(source).scopes == scopes
