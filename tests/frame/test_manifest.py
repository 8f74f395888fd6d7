"""The app manifest: accepted by Slack's own schema, with nothing that Moot does not need."""

import json
import re
from typing import Any

import jsonschema
import pytest
import yaml

from tests.frame.files import read

MANIFEST: dict[str, Any] = yaml.safe_load(read("manifest.yaml"))
AGENT: dict[str, Any] = yaml.safe_load(read("manifest.agent.yaml"))
SCHEMA: dict[str, Any] = json.loads(read("tests/frame/slack_schema/manifest.schema.1.0.0.json"))
COMMAND: dict[str, str] = MANIFEST["features"]["slash_commands"][0]
SHORTCUT: dict[str, str] = MANIFEST["features"]["shortcuts"][0]
DISPLAY: dict[str, str] = MANIFEST["display_information"]


def test_slack_accepts_the_manifests() -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(MANIFEST)
    jsonschema.Draft7Validator(SCHEMA).validate(AGENT)


def test_the_manifest_of_an_agent_differs_by_what_makes_it_one_only() -> None:
    assert AGENT["features"].pop("agent_view")["agent_description"]
    AGENT["oauth_config"]["scopes"]["bot"].remove("assistant:write")
    AGENT["settings"]["event_subscriptions"]["bot_events"].remove("agent_session_stopped")
    assert AGENT == MANIFEST


@pytest.mark.parametrize("section", ["features", "settings", "oauth_config", "display_information"])
def test_slack_would_refuse_an_unknown_key(section: str) -> None:
    misspelt = MANIFEST | {section: MANIFEST[section] | {"token_rotation": False}}
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid(misspelt)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        (DISPLAY["name"], 1, 35),
        (DISPLAY["description"], 1, 140),
        (DISPLAY["long_description"], 175, 4000),
        (COMMAND["command"], 2, 32),
        (COMMAND["description"], 1, 2000),
        (COMMAND["usage_hint"], 1, 1000),
        (SHORTCUT["name"], 1, 24),
        (SHORTCUT["description"], 1, 150),
        (SHORTCUT["callback_id"], 1, 255),
    ],
)
def test_texts_keep_to_slacks_lengths(text: str, least: int, most: int) -> None:
    assert least <= len(text) <= most


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("socket_mode_enabled", True),
        ("org_deploy_enabled", False),
        ("token_rotation_enabled", False),
        ("interactivity", {"is_enabled": True}),
    ],
)
def test_setting_is_as_the_bot_expects(setting: str, value: object) -> None:
    assert MANIFEST["settings"][setting] == value


def test_there_is_one_command_and_its_hint_names_every_word() -> None:
    assert [command["command"] for command in MANIFEST["features"]["slash_commands"]] == ["/debate"]
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


def test_moot_is_online_and_has_a_home() -> None:
    features = MANIFEST["features"]
    assert features["bot_user"] == {"display_name": "Moot", "always_online": True}
    assert features["app_home"]["home_tab_enabled"]
    assert features["app_home"]["messages_tab_enabled"]


def test_moot_asks_for_no_scope_of_a_person() -> None:
    assert set(MANIFEST["oauth_config"]["scopes"]) == {"bot"}


@pytest.mark.parametrize("scope", MANIFEST["oauth_config"]["scopes"]["bot"])
def test_scope_says_what_needs_it(scope: str) -> None:
    line = next(line for line in read("manifest.yaml").splitlines() if f"- {scope} " in f"{line} ")
    assert " # " in line


@pytest.mark.parametrize("name", ["manifest.yaml", "manifest.http.yaml", "manifest.agent.yaml"])
def test_the_guide_to_deploying_names_every_event(name: str) -> None:
    settings = yaml.safe_load(read(name))["settings"]
    chapter = read("docs/deploy.md").partition("## What Slack tells")[2]
    events = set(re.findall(r"`([a-z_.]+)`", chapter))
    assert set(settings["event_subscriptions"]["bot_events"]) <= events
