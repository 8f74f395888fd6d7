"""The app manifest: valid by Slack's schema, with exactly the scopes and events in use."""

import json
import re
from typing import Any

import jsonschema
import pytest
import yaml

from tests.frame.files import read
from tests.frame.slack_use import EVENT_SCOPES, METHOD_SCOPES, slack_use, slack_use_of

MANIFEST: dict[str, Any] = yaml.safe_load(read("manifest.yaml"))
AGENT: dict[str, Any] = yaml.safe_load(read("manifest.agent.yaml"))
SCHEMA: dict[str, Any] = json.loads(read("tests/frame/slack_schema/manifest.schema.1.0.0.json"))
COMMAND: dict[str, str] = MANIFEST["features"]["slash_commands"][0]
SCOPES = set(MANIFEST["oauth_config"]["scopes"]["bot"])
#: Scopes and events of an app installed as an agent only: manifest.agent.yaml.
OF_AGENTS = {"assistant:write", "agent_session_stopped"}


def test_slack_accepts_the_manifests() -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(MANIFEST)
    jsonschema.Draft7Validator(SCHEMA).validate(AGENT)


def test_the_manifest_of_an_agent_differs_by_what_makes_it_one_only() -> None:
    assert AGENT["features"].pop("agent_view")["agent_description"]
    AGENT["oauth_config"]["scopes"]["bot"].remove("assistant:write")
    AGENT["settings"]["event_subscriptions"]["bot_events"].remove("agent_session_stopped")
    assert AGENT == MANIFEST


def test_settings_and_features_are_as_the_bot_expects() -> None:
    expected = {
        "socket_mode_enabled": True,
        "org_deploy_enabled": False,
        "token_rotation_enabled": False,
        "interactivity": {"is_enabled": True},
    }
    assert expected.items() <= MANIFEST["settings"].items()
    features = MANIFEST["features"]
    assert features["bot_user"] == {"display_name": "Moot", "always_online": True}
    assert features["app_home"]["home_tab_enabled"]
    assert features["app_home"]["messages_tab_enabled"]
    assert set(MANIFEST["oauth_config"]["scopes"]) == {"bot"}, "none of a person"


def test_the_commands_hint_names_every_word() -> None:
    assert COMMAND["usage_hint"].split(" | ") == [
        "<question>",
        "help",
        "list",
        "show ID",
        "stop ID",
        "search WORDS",
        "settings",
        "doctor",
    ]


def test_each_scope_says_what_needs_it() -> None:
    lines = read("manifest.yaml").splitlines()
    for scope in SCOPES:
        assert " # " in next(line for line in lines if f"- {scope} " in f"{line} "), scope


@pytest.mark.parametrize("name", ["manifest.yaml", "manifest.http.yaml", "manifest.agent.yaml"])
def test_the_guide_to_deploying_names_every_event(name: str) -> None:
    settings = yaml.safe_load(read(name))["settings"]
    chapter = read("docs/deploy.md").partition("## Events from Slack")[2]
    events = set(re.findall(r"`([a-z_.]+)`", chapter))
    assert set(settings["event_subscriptions"]["bot_events"]) <= events


def test_everything_the_bot_uses_of_slack_has_its_scopes_written_down() -> None:
    use = slack_use()
    assert sorted(use.methods - METHOD_SCOPES.keys()) == []
    assert sorted(use.named("event") - EVENT_SCOPES.keys()) == []
    assert "" not in {name for _, name in use.listeners}, "write its name where it is registered"


def test_the_manifest_asks_for_what_the_bot_uses_and_for_nothing_else() -> None:
    use, features = slack_use(), MANIFEST["features"]
    assert use.scopes - OF_AGENTS == SCOPES
    events = MANIFEST["settings"]["event_subscriptions"]["bot_events"]
    assert use.manifest_events - OF_AGENTS == set(events)
    assert use.named("command") == {command["command"] for command in features["slash_commands"]}
    assert use.shortcuts == {shortcut["callback_id"] for shortcut in features["shortcuts"]}


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
