"""Start-up settings: what is accepted, and the words for what is not."""

from pathlib import Path

import pytest

from bot.settings import (
    BotSettings,
    LogLevel,
    Mode,
    mode_of,
    read_settings,
    slack_access,
    variables,
)
from core.errors import ConfigurationBroken
from core.use_cases.limits import Bounds

BOT, APP, SIGNING = "xoxb-1-abc", "xapp-1-abc", "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch):
    for name in variables():
        monkeypatch.delenv(name, raising=False)


def settings(**values: str) -> BotSettings:
    return BotSettings.model_validate(values)


def test_defaults_listen_on_loopback_only():
    values = read_settings(None)
    assert values.moot_host == "127.0.0.1"
    assert values.moot_database == "moot.db"


def test_the_environment_wins_over_the_env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / ".env"
    file.write_text("MOOT_PORT=4000\nMOOT_LOG_LEVEL=debug\n", encoding="utf-8")
    monkeypatch.setenv("MOOT_PORT", "5000")
    values = read_settings(file)
    assert (values.moot_port, values.moot_log_level) == (5000, LogLevel.DEBUG)


def test_a_value_that_no_program_takes_is_refused_by_its_name(tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("DOCS_TOKEN=secret\0value\nMOOT_PORT=4000\n", encoding="utf-8")
    with pytest.raises(ConfigurationBroken, match=r"^DOCS_TOKEN in .* has a NUL") as caught:
        read_settings(file)
    assert "secret" not in str(caught.value)


def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOOT_PORT", "")
    monkeypatch.setenv("MOOT_CONFIG", "")
    values = read_settings(None)
    assert (values.moot_port, values.moot_config) == (3000, None)


@pytest.mark.parametrize(
    ("variable", "value", "must"),
    [
        ("MOOT_PORT", "abc", "be a whole number"),
        ("MOOT_PORT", "70000", "be 65535 or less"),
        ("MOOT_RETENTION_DAYS", "9999999999", "be 36500 or less"),
        ("MOOT_LOG_LEVEL", "loud", "be 'debug', 'info', 'warning' or 'error'"),
        ("MOOT_NOTES_PER_DEBATE", "0", "be 1 or more"),
    ],
)
def test_an_unusable_value_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, must: str
):
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationBroken, match=f"^{variable} must {must}.$"):
        read_settings(None)


def test_bounds_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOOT_NOTES_PER_DEBATE", "7")
    assert read_settings(None).bounds == Bounds(notes_per_debate=7)


def test_good_tokens_pass_and_only_the_modes_own_are_kept():
    values = settings(slack_bot_token=BOT, slack_app_token=APP, slack_signing_secret=SIGNING)
    assert slack_access(values, Mode.SOCKET).signing_secret == ""
    assert slack_access(values, Mode.HTTP).signing_secret == SIGNING


def test_all_missing_tokens_are_named_at_once_with_where_to_find_them():
    with pytest.raises(ConfigurationBroken) as caught:
        slack_access(settings(), Mode.SOCKET)
    words = str(caught.value)
    assert "SLACK_BOT_TOKEN is missing or empty" in words
    assert "SLACK_APP_TOKEN is missing or empty" in words
    assert "OAuth & Permissions" in words


@pytest.mark.parametrize("bad", ["xoxp-1-abc", "xapp-1-abc", "abc", "xoxb- 1"])
def test_a_wrongly_shaped_token_is_refused_without_being_shown(bad: str):
    with pytest.raises(ConfigurationBroken) as caught:
        slack_access(settings(slack_bot_token=bad, slack_app_token=APP), Mode.SOCKET)
    assert "SLACK_BOT_TOKEN has the wrong form" in str(caught.value)
    assert f" {bad} " not in str(caught.value)


@pytest.mark.parametrize("bad", ["", "   ", "short", SIGNING.replace("f", "g")])
def test_http_mode_refuses_to_start_without_a_real_signing_secret(bad: str):
    with pytest.raises(ConfigurationBroken, match="SLACK_SIGNING_SECRET"):
        slack_access(settings(slack_bot_token=BOT, slack_signing_secret=bad), Mode.HTTP)


def test_a_strange_api_address_is_refused():
    values = settings(slack_bot_token=BOT, slack_app_token=APP, slack_api_url="localhost:1")
    with pytest.raises(ConfigurationBroken, match="SLACK_API_URL"):
        slack_access(values, Mode.SOCKET)


def test_the_mode_follows_the_credentials():
    assert mode_of(settings(slack_signing_secret=SIGNING)) is Mode.HTTP
    assert mode_of(settings(slack_signing_secret=SIGNING, slack_app_token=APP)) is Mode.SOCKET
    assert mode_of(settings()) is Mode.SOCKET


def test_secrets_never_show_in_the_settings_text():
    values = settings(slack_bot_token=BOT, openai_api_key="sk-verysecret")
    assert BOT not in repr(values)
    assert values.secrets == (BOT, "sk-verysecret")


OAUTH = {
    "slack_client_id": "12.34",
    "slack_client_secret": SIGNING,
    "slack_signing_secret": SIGNING,
    "moot_token_keys": "one, two",
    "moot_public_url": "https://moot.example.com/",
}


def test_with_a_client_id_workspaces_install_the_app_themselves():
    values = slack_access(settings(**OAUTH), mode_of(settings(**OAUTH)))
    assert (values.bot_token, values.app_token, values.signing_secret) == ("", "", SIGNING)
    assert values.oauth
    assert values.oauth.token_keys == ("one", "two")
    assert values.oauth.install_url == "https://moot.example.com/slack/install"
    assert SIGNING not in repr(values.oauth)


def test_each_key_for_tokens_is_a_secret_of_its_own():
    assert {"one", "two"} <= set(settings(**OAUTH).secrets)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"slack_client_id": "moot"}, "SLACK_CLIENT_ID has the wrong form"),
        ({"slack_client_secret": ""}, "SLACK_CLIENT_SECRET is missing or empty"),
        ({"slack_signing_secret": ""}, "SLACK_SIGNING_SECRET is missing or empty"),
        ({"slack_bot_token": BOT}, "Leave one of the two empty"),
        ({"slack_app_token": APP}, "leave SLACK_APP_TOKEN empty"),
        ({"moot_public_url": "http://moot.example.com"}, "MOOT_PUBLIC_URL"),
        ({"moot_public_url": ""}, "MOOT_PUBLIC_URL"),
    ],
)
def test_what_oauth_lacks_is_named(change: dict[str, str], named: str):
    with pytest.raises(ConfigurationBroken, match=named):
        slack_access(settings(**{**OAUTH, **change}), Mode.HTTP)
