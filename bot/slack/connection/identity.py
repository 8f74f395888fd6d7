"""Ask Slack at the start whether it accepts the tokens, and who the bot is."""

from collections.abc import Awaitable
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.access import UNREACHED
from bot.slack.outcomes import REFUSED_TOKENS, Rejected, outcome_of
from bot.slack.payloads import Identity, SocketAddress, refusal_of
from core.errors import ConfigurationBroken, MootError

_WE_ARE_REFUSED = "Slack refuses SLACK_BOT_TOKEN; install the app anew and copy its token."
_SOCKET_REFUSED = (
    "Slack refuses SLACK_APP_TOKEN; it needs the scope connections:write, and Socket Mode must "
    "be on in the app's settings."
)


async def identify(client: AsyncWebClient) -> Identity:
    """Return who the bot is with this token.

    Raises:
        ConfigurationBroken: Slack refuses the token.
        MootError: Slack cannot be reached.
    """
    return Identity.model_validate(await _asked(client, client.auth_test(), _WE_ARE_REFUSED))


async def open_socket(client: AsyncWebClient, app_token: str) -> str:
    """Return the address of a new WebSocket.

    Raises:
        ConfigurationBroken: Slack refuses the app token.
        MootError: Slack cannot be reached.
    """
    call = client.apps_connections_open(app_token=app_token)
    return SocketAddress.model_validate(await _asked(client, call, _SOCKET_REFUSED)).url


async def _asked(client: AsyncWebClient, call: Awaitable[Any], refused: str) -> Any:
    """Return the body of an answer."""
    try:
        return (await call).data
    except (SlackApiError, *UNREACHED) as error:
        code = refusal_of(error.response).error if isinstance(error, SlackApiError) else ""
        outcome = outcome_of(error)
        if code and (isinstance(outcome, Rejected) or code in REFUSED_TOKENS):
            raise ConfigurationBroken(f"{refused} ({code})") from None
        words = outcome.words
        raise MootError(f"{client.base_url} cannot be reached: {words}.") from None
