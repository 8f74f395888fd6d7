"""Start-up settings: what is accepted, and the words for what is not."""

from dataclasses import astuple
from pathlib import Path

import pytest

from bot.settings import (
    BotSettings,
    LogLevel,
    Mode,
    default_mode,
    read_settings,
    slack_access,
    variables,
)
from bot.testing import UNHURRIED
from bot.timeouts import DEFAULT_TIMEOUTS
from core.errors import ConfigurationBroken
from core.use_cases.limits import Bounds
from slack_on_loopback import SlackPace

BOT, APP, SIGNING = "xoxb-1-abc", "xapp-1-abc", "0123456789abcdef0123456789abcdef"
TOKENS = {"slack_bot_token": BOT, "slack_app_token": APP, "slack_signing_secret": SIGNING}
NO_SCHEME = "it must begin with http:// or https:// and a host"
OAUTH = {
    "slack_client_id": "12.34",
    "slack_client_secret": SIGNING,
    "slack_signing_secret": SIGNING,
    "moot_token_keys": "one, two",
    "moot_public_url": "https://moot.example.com/",
}


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in variables():
        monkeypatch.delenv(name, raising=False)


def settings(**values: str) -> BotSettings:
    return BotSettings.model_validate(values)


def test_the_environment_wins_over_the_env_file_and_an_empty_variable_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ".env"
    text = "MOOT_PORT=4000\nMOOT_LOG_LEVEL=debug\nMOOT_NOTE_PER_DEBATE=7\nMOOT_PLUGIN_X=x\n"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("MOOT_PORT", "5000")
    monkeypatch.setenv("MOOT_CONFIG", "")
    monkeypatch.setenv("MOOT_NOTES_PER_DEBATE", "7")
    values = read_settings(file)
    assert (values.moot_port, values.moot_log_level) == (5000, LogLevel.DEBUG)
    assert (values.moot_host, values.moot_config) == ("127.0.0.1", None)
    assert values.bounds == Bounds(notes_per_debate=7)
    assert values.misspelt() == [
        "Moot has no variable MOOT_NOTE_PER_DEBATE. Did you mean MOOT_NOTES_PER_DEBATE?"
    ]


def test_a_value_that_no_program_takes_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("DOCS_TOKEN=secret\0value\nMOOT_PORT=4000\n", encoding="utf-8")
    with pytest.raises(ConfigurationBroken, match=r"^DOCS_TOKEN in .* has a NUL") as caught:
        read_settings(file)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "fault"),
    [
        ("MOOT_PORT", "abc", " must be a whole number"),
        ("MOOT_RETENTION_DAYS", "9999999999", " must be 36500 or less"),
        ("MOOT_LOG_LEVEL", "loud", " must be 'debug', 'info', 'warning' or 'error'"),
        ("MOOT_NOTES_PER_DEBATE", "0", " must be 1 or more"),
        (
            "MOOT_OPEN_WORKSPACES",
            "T012, acme",
            ': "acme" is no id of a workspace, like T0123456789',
        ),
        ("OPENAI_BASE_URL", "models.example/v1", f" cannot be used: {NO_SCHEME}"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", f" cannot be used: {NO_SCHEME}"),
    ],
)
def test_an_unusable_value_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, fault: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationBroken, match=f"^{variable}{fault}.$"):
        read_settings(None)


def test_the_mode_follows_the_credentials_and_only_its_own_are_kept() -> None:
    assert default_mode(settings(slack_signing_secret=SIGNING)) is Mode.HTTP
    assert default_mode(settings(**TOKENS)) is Mode.SOCKET
    assert default_mode(settings()) is Mode.SOCKET
    values = settings(**TOKENS)
    assert slack_access(values, Mode.SOCKET).signing_secret == ""
    assert slack_access(values, Mode.HTTP).signing_secret == SIGNING
    assert slack_access(values, Mode.HTTP).app_token == ""


@pytest.mark.parametrize(
    ("change", "mode", "named"),
    [
        *(
            ({"slack_bot_token": bad}, Mode.SOCKET, "SLACK_BOT_TOKEN has the wrong form")
            for bad in ("xoxp-1-abc", APP, "abc", "xoxb- 1")
        ),
        *(
            ({"slack_signing_secret": bad}, Mode.HTTP, "SLACK_SIGNING_SECRET")
            for bad in ("", "   ", "short", SIGNING.replace("f", "g"))
        ),
        ({"slack_app_token": ""}, Mode.SOCKET, "SLACK_APP_TOKEN is missing or empty"),
        ({"slack_bot_token": ""}, Mode.HTTP, "OAuth & Permissions"),
        ({"slack_api_url": "localhost:1"}, Mode.SOCKET, "SLACK_API_URL"),
    ],
)
def test_a_wrong_or_missing_token_is_named_without_being_shown(
    change: dict[str, str], mode: Mode, named: str
) -> None:
    with pytest.raises(ConfigurationBroken, match=named) as caught:
        slack_access(settings(**TOKENS | change), mode)
    assert not any(f" {value} " in str(caught.value) for value in change.values() if value.strip())


def test_secrets_never_show_in_the_settings_text() -> None:
    values = settings(slack_bot_token=BOT, openai_api_key="sk-verysecret", moot_token_keys="1a, 2b")
    assert BOT not in repr(values)
    assert set(values.secrets) == {BOT, "sk-verysecret", "1a, 2b", "1a", "2b"}


def test_plugins_read_their_own_variables_and_programs_keys_alone() -> None:
    values = settings()
    values.take_variables(
        {"MOOT_PLUGIN_URL": "here", "DOCS_KEY": "a-docs-key", "PIN_KEY": "12", "NOTE": "private"}
    )
    assert values.plugin_variable("MOOT_PLUGIN_URL") == "here"
    with pytest.raises(ConfigurationBroken, match="may only read MOOT_PLUGIN_"):
        values.plugin_variable("DOCS_KEY")
    assert values.for_program(("DOCS_KEY", "PIN_KEY", "NOTE")) == {"DOCS_KEY": "a-docs-key"}


def test_with_a_client_id_workspaces_install_the_app_themselves() -> None:
    values = slack_access(settings(**OAUTH), default_mode(settings(**OAUTH)))
    assert (values.bot_token, values.app_token, values.signing_secret) == ("", "", SIGNING)
    assert values.oauth
    assert values.oauth.token_keys == ("one", "two")
    assert values.oauth.install_url == "https://moot.example.com/slack/install"
    assert SIGNING not in repr(values.oauth)


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
def test_what_oauth_lacks_is_named(change: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationBroken, match=named):
        slack_access(settings(**OAUTH | change), Mode.HTTP)


def test_people_are_answered_before_slack_and_moot_health_give_up() -> None:
    times, slack_waits = DEFAULT_TIMEOUTS, SlackPace().ack_seconds
    assert times.answer < slack_waits == 3.0
    # The longest that is asked of Slack for one answer.
    assert times.membership + times.call <= times.answer
    assert times.thread + times.names < times.answer
    assert times.check < 5.0
    patient = zip(astuple(UNHURRIED), astuple(times), strict=True)
    assert all(ours >= 10 * default for ours, default in patient)
