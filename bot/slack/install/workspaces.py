"""Installations: one workspace with its token in the settings, or many that use OAuth."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from slack_bolt.authorization import AuthorizeResult
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot.settings import INSTALL_PATH, REDIRECT_PATH, SLACK_API_URL, OAuthAccess, SlackAccess
from bot.slack.client import (
    SingleWorkspaceClient,
    WorkspaceClient,
    WorkspaceClients,
    slack_client,
    slack_session,
)
from bot.slack.connection.http import quiet_logger
from bot.slack.connection.socket import AT_START, identify
from bot.slack.install.tokens import Cipher, Tokens, token_tables
from bot.slack.manifest import manifest
from bot.slack.origins import installation_of
from bot.store.records import Organisations, deleting_daily
from core.clock import SystemClock
from core.errors import ConfigurationBroken


@dataclass(frozen=True, kw_only=True)
class Installation:
    #: For the log: the name of the workspace, or "many workspaces".
    name: str
    clients: WorkspaceClients
    #: The client that Bolt copies for each request.
    client: AsyncWebClient
    #: Bolt's `authorize`: finds the token for a request. Never calls Slack, see `Tokens.authorize`.
    authorize: Callable[..., Awaitable[Any]]
    #: Middleware for every request, before the listeners; None: not needed.
    middleware: Callable[..., Awaitable[None]] | None = None
    #: The OAuth flow to install the app in more workspaces; None: there is one workspace.
    installing: AsyncOAuthFlow | None = None


@asynccontextmanager
async def one_workspace(access: SlackAccess) -> AsyncGenerator[Installation]:
    """Use the one workspace whose token is in the settings; raises as `identify` does."""
    async with slack_session() as session:
        client = slack_client(access.bot_token, access.api_url, session)
        identity = await identify(client, AT_START)
        # Bolt's own `authorize` calls Slack at the first request; if that fails, Bolt acknowledges
        # the request without running a listener, and the request is lost.
        result = AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            team=identity.team,
            url=identity.url,
            bot_id=identity.bot_id,
            bot_user_id=identity.user_id,
            bot_token=access.bot_token,
        )

        async def authorize() -> AuthorizeResult:
            return result

        clients = SingleWorkspaceClient(WorkspaceClient(client, identity))
        yield Installation(name=identity.team, clients=clients, client=client, authorize=authorize)


@asynccontextmanager
async def many_workspaces(
    access: SlackAccess, organisations: Organisations, url: str
) -> AsyncGenerator[Installation]:
    """Serve all workspaces that install the app; `ConfigurationBroken` for a bad token key."""
    if access.oauth is None:
        raise ConfigurationBroken("Many workspaces need SLACK_CLIENT_ID.")
    oauth, cipher = access.oauth, Cipher(access.oauth.token_keys)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(slack_session())
        anonymous = slack_client("", access.api_url, session)
        tokens_in = partial(
            Tokens,
            oauth.client_id,
            organisations=organisations,
            cipher=cipher,
            rotator=AsyncTokenRotator(
                client_id=oauth.client_id, client_secret=oauth.client_secret, client=anonymous
            ),
            client=lambda token: slack_client(token, access.api_url, session),
        )
        tokens, states = await stack.enter_async_context(token_tables(url, tokens_in))
        await stack.enter_async_context(deleting_daily(states, SystemClock(), age=timedelta()))

        # A function, because Bolt would pass an argument for a method's `self`.
        async def authorize(
            enterprise_id: str | None, team_id: str | None
        ) -> AuthorizeResult | None:
            return await tokens.authorize(enterprise_id, team_id)

        async def record_organisation(
            body: dict[str, Any], next_: Callable[[], Awaitable[None]]
        ) -> None:
            origin = installation_of(body)
            if origin.workspace and origin.organisation:
                await organisations.note(origin.workspace, origin.organisation)
            await next_()

        settings = _settings(access.api_url, oauth, tokens, states)
        yield Installation(
            name="many workspaces",
            clients=tokens,
            client=anonymous,
            authorize=authorize,
            middleware=record_organisation,
            installing=AsyncOAuthFlow(client=anonymous, settings=settings, logger=quiet_logger()),
        )


def _settings(
    api_url: str, oauth: OAuthAccess, tokens: Tokens, states: AsyncOAuthStateStore
) -> AsyncOAuthSettings:
    # None means the SDK's default, Slack itself.
    authorization_url = None
    if api_url != SLACK_API_URL:
        authorization_url = f"{api_url.rstrip('/').removesuffix('/api')}/oauth/v2/authorize"
    return AsyncOAuthSettings(
        client_id=oauth.client_id,
        client_secret=oauth.client_secret,
        scopes=manifest()["oauth_config"]["scopes"]["bot"],
        redirect_uri=oauth.redirect_url,
        install_path=INSTALL_PATH,
        redirect_uri_path=REDIRECT_PATH,
        authorization_url=authorization_url,
        installation_store=tokens,
        installation_store_bot_only=True,
        state_store=states,
    )
