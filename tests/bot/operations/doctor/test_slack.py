"""What the doctor says about Slack, asked of the local workspace over real HTTP."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bot.operations.doctor.check_slack import check_access, check_slack
from bot.operations.doctor.findings import as_text, exit_code
from bot.settings import BotSettings
from bot.testing import http_access, quick_workspace, socket_access
from slack_on_loopback import Workspace, run_workspace


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
async def test_a_refused_token_is_told_and_never_shown(
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
        ("files:read", "– optional scope files:read: not granted: files that people attach are"),
    ],
)
async def test_a_scope_that_is_missing_is_named(
    workspace: Workspace, scope: str, words: str
) -> None:
    workspace.app.scopes = [item for item in workspace.app.scopes if item != scope]
    findings = await check_access(socket_access(workspace))

    assert words in as_text(findings)
    assert ("✓ scopes: " in as_text(findings)) is (scope == "files:read")


async def test_a_connection_that_breaks_is_told(workspace: Workspace) -> None:
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
