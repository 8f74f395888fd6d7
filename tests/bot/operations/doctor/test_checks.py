"""What the doctor says about the database and its disk, and about a broken settings file."""

import asyncio
import base64
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bot.building import database_url, open_store
from bot.landing.build_receivers import build_receivers
from bot.operations.doctor.examine import (
    check_access,
    check_database,
    check_plugins,
    check_receivers,
    check_slack,
    examine,
)
from bot.operations.doctor.findings import CheckMark, as_text, exit_code
from bot.plugins import Plugin, PluginKind, Plugins, QueuedSink, run_sinks
from bot.settings import BotSettings, read_settings
from bot.testing import http_access, quick_workspace, socket_access
from core.clock import SystemClock
from core.debate.debate_events import DebateStarted
from core.debate.log import RecordedEvent, fold
from core.debate.state import Debate
from core.errors import ConfigurationBroken
from core.landing import LandingPlaces, RecordPlace
from core.testing import RecordingSink, a_setup, log_of
from slack_on_loopback import Workspace, run_workspace
from tests.bot.landing.office import open_office
from tests.bot.landing.test_webhooks import SECRET, a_webhook, open_shop, receiver
from tests.command_line import Ended, moot


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BotSettings:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOOT_DATABASE", str(tmp_path / "moot.db"))
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    return read_settings(None)


def made_by(version: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE moot_core_version SET version_num = ?", (version,))


def damaged(path: Path) -> None:
    content, page = path.read_bytes(), 4096
    path.write_bytes(content[: 2 * page] + b"\xff" * page + content[3 * page :])


def a_diary(path: Path) -> None:
    path.write_text("Dear diary, " * 500, encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "words", "code"),
    [
        (partial(made_by, "0001"), "the next start updates them", 0),
        (partial(made_by, "9999"), "newer Moot (at 9999)", 1),
        (a_diary, "not a database. Name another file, or move this one away.", 1),
        (damaged, "is damaged", 1),
    ],
)
async def test_errors_of_the_database_are_reported(
    environment: BotSettings, spoil: Callable[[Path], None], words: str, code: int
) -> None:
    async with open_store(environment.moot_database):
        pass
    spoil(Path(environment.moot_database))
    findings = await check_database(environment)

    assert words in as_text(findings)
    assert "→ Name another" not in as_text(findings)  # the text says what to do
    assert exit_code(findings) == code


async def test_a_database_in_use_is_looked_at_without_disturbing(environment: BotSettings) -> None:
    async with open_store(environment.moot_database) as store:
        findings = await check_database(environment)
        assert list(await store.unfinished_ids()) == []
    assert "can be opened and is undamaged" in as_text(findings)
    assert exit_code(findings) == 0

    async with open_store(environment.moot_database):
        Path(environment.moot_database).unlink()  # noqa: ASYNC240 - at once
        text = as_text(await check_database(environment))
    assert "✗ database moot.db: was deleted while Moot was using it" in text
    assert "does not exist yet" in as_text(await check_database(environment))


async def test_a_lock_held_by_another_program_is_reported(environment: BotSettings) -> None:
    async with open_store(environment.moot_database):
        pass
    with closing(sqlite3.connect(environment.moot_database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        text = as_text(await check_database(environment))
        other.execute("ROLLBACK")

    assert "✗ database moot.db: is locked by another program" in text
    assert "can be opened and is undamaged" in as_text(await check_database(environment))


async def test_a_broken_settings_file_is_the_first_line_and_a_matter_of_configuration(
    environment: BotSettings, tmp_path: Path
) -> None:
    file = tmp_path / "moot.yaml"
    file.write_text("debate: {roundz: 3}\n", encoding="utf-8")
    findings = await examine(environment, file)

    assert findings[0].mark is CheckMark.BAD
    assert "roundz is no setting" in findings[0].found
    assert exit_code(findings) == 4


LOG = log_of([DebateStarted(setup=a_setup())])


class Failing(RecordingSink):
    """Takes nothing."""

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        del debate, recorded
        raise KeyError("what people wrote")


def test_each_plugin_is_listed_with_its_package_and_errors() -> None:
    plugins = (
        Plugin(kind=PluginKind.ROLE, name="wcag", package="moot-wcag 1.0"),
        Plugin(kind=PluginKind.SINK, name="log", package="moot-log 2", fault="OSError: full"),
        Plugin(kind=PluginKind.FORMAT, name="duel", package="moot-duel 3", is_allowed=False),
    )

    assert as_text(check_plugins(Plugins(entries=plugins))).splitlines() == [
        "✓ role wcag of moot-wcag 1.0: is used",
        "✗ sink log of moot-log 2: left out: OSError: full",
        "    → Set what it needs, or update or uninstall the package; then restart.",
        "– format duel of moot-duel 3: not allowed by MOOT_PLUGINS",
    ]


async def test_a_failing_sink_is_reported_without_the_text_of_its_error() -> None:
    sink, full = QueuedSink("a", Failing()), QueuedSink("b", RecordingSink(), room=1)

    async def lines() -> list[str]:
        async with run_sinks([sink]):
            await sink.publish(fold(LOG), LOG[0])
            await sink.drain()
        return as_text(check_plugins(Plugins(sinks=(sink,)))).splitlines()

    assert await lines() == ["✗ sink a: failed: it raised KeyError; the log has the details"]
    for _ in range(3):
        await full.publish(fold(LOG), LOG[0])
    assert as_text(check_plugins(Plugins(sinks=(full,)))) == (
        "✗ sink b: is too slow: it missed 2 events"
    )


@pytest.fixture
async def workspace() -> AsyncIterator[Workspace]:
    async with run_workspace(quick_workspace()) as running:
        yield running


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bot_token": "xoxb-0000-wrong-token"}, "✗ SLACK_BOT_TOKEN: Slack refuses it (invalid_"),
        ({"app_token": "xapp-1-A0-0-wrong"}, "It needs the scope connections:write"),
    ],
)
async def test_a_refused_token_is_reported_and_never_shown(
    workspace: Workspace, change: dict[str, str], words: str
) -> None:
    findings = await check_access(replace(socket_access(workspace), **change))

    assert words in as_text(findings)
    assert not any(token in as_text(findings) for token in ("xoxb-", "xapp-"))
    assert exit_code(findings) == 4


async def test_in_http_mode_no_socket_is_asked_for(workspace: Workspace) -> None:
    text = as_text(await check_access(http_access(workspace)))
    assert "– SLACK_APP_TOKEN: HTTP mode" in text


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("pins:write", "✗ scopes: missing: pins:write"),
        ("files:read", "– optional scope files:read: not granted: attached files are not read"),
    ],
)
async def test_a_scope_that_is_missing_is_named(
    workspace: Workspace, scope: str, words: str
) -> None:
    workspace.app.scopes = [item for item in workspace.app.scopes if item != scope]
    findings = await check_access(socket_access(workspace))

    assert words in as_text(findings)
    assert ("✓ scopes: " in as_text(findings)) is (scope == "files:read")


async def test_a_broken_connection_is_reported(workspace: Workspace) -> None:
    workspace.faults.drop_before("auth.test")
    (finding,) = await check_access(socket_access(workspace))
    assert as_text([finding]).startswith("✗ SLACK_BOT_TOKEN: Slack does not answer")


KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()


@pytest.mark.parametrize(("keys", "is_well"), [(KEY, True), ("a", False)])
async def test_with_oauth_the_keys_are_checked_and_the_install_page_named(
    keys: str, *, is_well: bool
) -> None:
    oauth = {
        "slack_client_id": "12.34",
        "slack_client_secret": "0123456789abcdef" * 2,
        "slack_signing_secret": "0123456789abcdef" * 2,
        "moot_public_url": "https://moot.example.com",
        "moot_token_keys": keys,
    }
    text = as_text(await check_slack(BotSettings.model_validate(oauth)))
    assert ("https://moot.example.com/slack/install" in text) is is_well
    assert ("A key in MOOT_TOKEN_KEYS cannot be used" in text) is not is_well


FILE = """
landing:
  records:
    - {{name: files, folder: "{folder}"}}
  webhooks:
    - {{name: shop, url: "{url}", secret_variable: SHOP_SECRET, private_address: true}}
"""


async def run(*words: str, folder: Path, **variables: str) -> Ended:
    env = {"MOOT_DATABASE": str(folder / "moot.db"), "MOOT_PORT": "1", **variables}
    return await asyncio.to_thread(moot, *words, folder=folder, env=env)


async def test_the_doctor_names_what_did_not_land(
    tmp_path: Path,
) -> None:
    settings = tmp_path / "moot.yaml"
    location = database_url(str(tmp_path / "moot.db"))
    async with open_shop() as shop:
        settings.write_text(FILE.format(folder=tmp_path, url=shop.url))
        variables = {"MOOT_CONFIG": str(settings), "SHOP_SECRET": SECRET}
        async with open_office([receiver(a_webhook(shop.url))], location) as office:
            shop.codes = [500] * 8 + [410]
            await office.debated()
            await office.until("dead")
            while (await office.landings.backlog(1)).closed == {}:
                await office.until("failed")
        doctor = await run("doctor", "--json", folder=tmp_path, **variables)

    findings = {load["what"]: load for load in json.loads(doctor.stdout)["findings"]}
    assert findings["receiver files"]["found"] == "can be written"
    assert findings["receiver shop"]["mark"] == "bad"
    assert "Nothing more is sent to it" in findings["receiver shop"]["found"]
    assert findings["landings"]["found"].startswith("1 dead letter")
    assert "/debate doctor retry" in findings["landings"]["remedy"]
    assert "answered with the code 500" in findings["dead letter 1 to shop"]["found"]
    assert "kept-from-people" not in doctor.stdout


async def test_an_unreachable_receiver_is_reported(tmp_path: Path) -> None:
    async with open_shop() as shop:
        there = receiver(a_webhook(shop.url))
        [good] = await check_receivers([there])
    [bad] = await check_receivers([there])

    assert (good.mark, good.found) == (CheckMark.GOOD, "can be reached")
    assert bad.mark is CheckMark.BAD
    assert "cannot be reached" in bad.found
    assert shop.seen == []


@pytest.mark.parametrize(
    ("webhook", "words"),
    [
        ({"url": "http://shop.example.com/"}, "unencrypted"),
        ({"url": "http://127.0.0.1/", "private_address": False}, "private_address: true"),
        ({"url": "https://169.254.169.254/"}, "credentials"),
        ({"secret_variable": "OTHER_SECRET"}, "OTHER_SECRET is not set"),
        ({"old_secret_variable": "BAD_SECRET"}, "BAD_SECRET is not a secret"),
    ],
)
def test_what_cannot_be_used_is_named_at_the_start(webhook: dict[str, object], words: str) -> None:
    environment = BotSettings()
    environment.take_variables({"SHOP_SECRET": SECRET, "BAD_SECRET": "a-bad-secret"})
    places = LandingPlaces(
        webhooks=(a_webhook("https://shop.example.com/").model_copy(update=webhook),)
    )
    with pytest.raises(ConfigurationBroken, match=f"The webhook shop: .*{words}") as refused:
        build_receivers(places, environment, SystemClock())
    assert "a-bad-secret" not in str(refused.value)


def test_a_token_that_is_not_set_is_named_at_the_start() -> None:
    place = RecordPlace(
        name="adr", repository="https://git.example.com/a.git", token_variable="ADR_TOKEN"
    )
    with pytest.raises(ConfigurationBroken, match="The records adr: ADR_TOKEN is not set"):
        build_receivers(LandingPlaces(records=(place,)), BotSettings(), SystemClock())
