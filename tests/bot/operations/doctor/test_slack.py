"""What the doctor says about Slack, asked of the local workspace over real HTTP."""

import base64
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from bot.operations.doctor.check_slack import check_access, check_slack
from bot.operations.doctor.findings import CheckMark, Finding, as_text, exit_code
from bot.settings import BotSettings
from bot.testing import http_access, quick_workspace, socket_access
from slack_on_loopback import Workspace, run_workspace


@pytest.fixture
async def workspace() -> AsyncIterator[Workspace]:
    async with run_workspace(quick_workspace()) as running:
        yield running


def marks(findings: Sequence[Finding]) -> dict[str, CheckMark]:
    return {finding.what: finding.mark for finding in findings}


async def test_a_refused_token_is_told_and_never_shown(workspace: Workspace) -> None:
    access = replace(socket_access(workspace), bot_token="xoxb-0000-wrong-token")
    findings = await check_access(access)

    assert marks(findings) == {"SLACK_BOT_TOKEN": CheckMark.BAD}
    assert "invalid_auth" in as_text(findings)
    assert "xoxb" not in as_text(findings)
    assert exit_code(findings) == 4


async def test_a_refused_app_token_is_told(workspace: Workspace) -> None:
    access = replace(socket_access(workspace), app_token="xapp-1-A0-0-wrong")
    findings = await check_access(access)

    assert marks(findings)["SLACK_APP_TOKEN"] is CheckMark.BAD
    assert "connections:write" in as_text(findings)
    assert "xapp-" not in as_text(findings)


async def test_in_http_mode_no_socket_is_asked_for(workspace: Workspace) -> None:
    marks_by_name = marks(await check_access(http_access(workspace)))

    assert marks_by_name["SLACK_APP_TOKEN"] is CheckMark.SKIPPED


async def test_a_scope_that_is_missing_is_named(workspace: Workspace) -> None:
    app = workspace.app
    app.scopes = [scope for scope in app.scopes if scope != "pins:write"]
    findings = await check_access(socket_access(workspace))

    assert marks(findings)["scopes"] is CheckMark.BAD
    assert "missing: pins:write" in as_text(findings)


@pytest.mark.parametrize(
    ("scope", "without"),
    [
        ("files:read", "files that people attach are not read"),
    ],
)
async def test_without_an_optional_scope_all_else_is_well(
    workspace: Workspace, scope: str, without: str
) -> None:
    app = workspace.app
    app.scopes = [item for item in app.scopes if item != scope]
    findings = await check_access(socket_access(workspace))

    assert marks(findings)["scopes"] is CheckMark.GOOD
    assert marks(findings)[f"optional scope {scope}"] is CheckMark.SKIPPED
    assert f"{scope}: not granted: {without}" in as_text(findings)


async def test_a_connection_that_breaks_is_told(workspace: Workspace) -> None:
    workspace.faults.drop_before("auth.test")
    findings = await check_access(socket_access(workspace))

    assert marks(findings) == {"SLACK_BOT_TOKEN": CheckMark.BAD}
    assert "does not answer" in as_text(findings)


KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
OAUTH = {
    "slack_client_id": "12.34",
    "slack_client_secret": "0123456789abcdef" * 2,
    "slack_signing_secret": "0123456789abcdef" * 2,
    "moot_public_url": "https://moot.example.com",
}


@pytest.mark.parametrize(("keys", "is_well"), [(KEY, True), ("a", False)])
async def test_with_oauth_the_keys_are_checked_and_the_install_page_named(
    keys: str, *, is_well: bool
) -> None:
    environment = BotSettings.model_validate({**OAUTH, "moot_token_keys": keys})
    findings = await check_slack(environment)
    text = as_text(findings)
    assert ("https://moot.example.com/slack/install" in text) is is_well
    assert ("A key in MOOT_TOKEN_KEYS cannot be used" in text) is not is_well
