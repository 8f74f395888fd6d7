"""Checks of Slack: tokens, and scopes against the manifest."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.operations.doctor.findings import Finding, bad, good, skip
from bot.settings import BotSettings, SlackAccess, mode_of, slack_access
from bot.slack.access import UNREACHED
from bot.slack.client import slack_client
from bot.slack.install.tokens import Cipher
from bot.slack.manifest import manifest
from bot.slack.payloads import Identity, refusal_of
from core.errors import ConfigurationBroken

_SECONDS = 5
#: In the manifest, each needed for one thing only: with it, without it, and what to do.
_OPTIONAL = {
    "files:read": (
        "files that people attach are read as evidence",
        "files that people attach are not read, and who attached one is told",
        "To have them read, paste manifest.yaml into the app's settings.",
    ),
}
#: Slack gives it to apps that are agents: manifest.agent.yaml.
_OF_AGENTS = "assistant:write"
_BOT, _APP = "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"


async def check_slack(environment: BotSettings) -> Sequence[Finding]:
    tokens = (
        environment.slack_bot_token,
        environment.slack_app_token,
        environment.slack_signing_secret,
    )
    if not any(token.get_secret_value().strip() for token in tokens):
        return [skip("Slack", "no tokens are set", "Only `moot run` needs them: see .env.example.")]
    try:
        access = slack_access(environment, mode_of(environment))
    except ConfigurationBroken as error:
        return [bad("Slack", str(error), is_configuration=True)]
    if (oauth := access.oauth) is None:
        return await check_access(access)
    # Whether workspaces can install the app; whose tokens there are is in the database.
    try:
        Cipher(oauth.token_keys)
    except ConfigurationBroken as error:
        return [bad("MOOT_TOKEN_KEYS", str(error), is_configuration=True)]
    remedy = f"Install Moot at {oauth.install_url}"
    return [
        good("MOOT_TOKEN_KEYS", f"{len(oauth.token_keys)} usable; tokens are encrypted"),
        skip("Slack", "every workspace has its own token", remedy),
    ]


async def check_access(access: SlackAccess) -> Sequence[Finding]:
    client = slack_client(access.bot_token, access.api_url, seconds=_SECONDS)
    try:
        answer = await client.auth_test()
    except (SlackApiError, *UNREACHED) as error:
        return [_refused_or_lost(_BOT, error, "Install the app anew and copy its bot token.")]
    identity = Identity.model_validate(answer.data)
    # Answers carry the token's scopes: https://docs.slack.dev/authentication/tokens
    headers = cast("Mapping[str, Any]", answer.headers)  # aiohttp's: a name's case does not matter
    granted = {scope.strip() for scope in str(headers.get("x-oauth-scopes", "")).split(",")} - {""}
    named = set(manifest()["oauth_config"]["scopes"]["bot"])
    required_scopes = named - _OPTIONAL.keys()
    missing, unneeded = sorted(required_scopes - granted), sorted(granted - named - {_OF_AGENTS})
    more = f"; not needed: {', '.join(unneeded)}" if unneeded else ""
    scopes = good("scopes", f"all {len(required_scopes)} that are needed are granted{more}")
    if missing:
        remedy = "Paste manifest.yaml into the app's settings (App Manifest), then install it anew."
        words = f"missing: {', '.join(missing)}"
        scopes = bad("scopes", words, remedy, is_configuration=True)
    # Without an optional scope all else is well.
    optional = [
        good(f"optional scope {scope}", f"granted: {with_it}")
        if scope in granted
        else skip(f"optional scope {scope}", f"not granted: {without}", remedy)
        for scope, (with_it, without, remedy) in _OPTIONAL.items()
    ]
    return [
        good(_BOT, f"accepted by {identity.team} ({access.api_url})"),
        scopes,
        *optional,
        await _socket(client, access),
    ]


async def _socket(client: AsyncWebClient, access: SlackAccess) -> Finding:
    if not access.app_token:
        return skip(_APP, "HTTP mode: Slack comes to us, no socket is opened")
    # In the header, never in the address; the client's own token is another one.
    headers = {"Authorization": f"Bearer {access.app_token}"}
    try:
        await client.api_call("apps.connections.open", headers=headers)
    except (SlackApiError, *UNREACHED) as error:
        remedy = "It needs the scope connections:write, and Socket Mode must be on for the app."
        return _refused_or_lost(_APP, error, remedy)
    return good(_APP, "accepted; Socket Mode is on")


def _refused_or_lost(what: str, error: Exception, remedy: str) -> Finding:
    if isinstance(error, SlackApiError):
        reason = refusal_of(error.response).error or "no reason given"
        return bad(what, f"Slack refuses it ({reason})", remedy, is_configuration=True)
    words = f"Slack does not answer ({type(error).__name__})"
    return bad(what, words, "Check the network, then try again.")
