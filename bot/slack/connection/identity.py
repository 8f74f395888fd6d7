"""Ask Slack at the start whether it accepts the tokens, and who the bot is."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.access import UNREACHED
from bot.slack.outcomes import REFUSED_TOKENS, Rejected, outcome_of
from bot.slack.payloads import Identity, SocketAddress, refusal_of
from core.errors import ConfigurationBroken, MootError
from core.retry import RetryPolicy, retry

_WE_ARE_REFUSED = "Slack refuses SLACK_BOT_TOKEN; install the app anew and copy its token."
_SOCKET_REFUSED = (
    "Slack refuses SLACK_APP_TOKEN; it needs the scope connections:write, and Socket Mode must "
    "be on in the app's settings."
)

#: At the start Slack may be away for a moment: one failed call does not end the process.
AT_START = RetryPolicy(tries=4, first_wait=1.0, longest_wait=4.0)
_ONCE = RetryPolicy(tries=1, first_wait=0.0, longest_wait=0.0)


async def identify(client: AsyncWebClient, retries: RetryPolicy = _ONCE) -> Identity:
    """Return who the bot is with this token.

    Raises:
        ConfigurationBroken: Slack refuses the token.
        MootError: Slack cannot be reached.
    """

    async def ask() -> Any:
        call = lambda: client.auth_test()  # noqa: E731, PLW0108 - the SDK leaves its type open
        return await _asked(client, call, _WE_ARE_REFUSED)

    return Identity.model_validate(await _tried(ask, retries))


async def open_socket(client: AsyncWebClient, app_token: str, retries: RetryPolicy = _ONCE) -> str:
    """Return the address of a new WebSocket.

    Raises:
        ConfigurationBroken: Slack refuses the app token.
        MootError: Slack cannot be reached.
    """

    async def ask() -> Any:
        return await _asked(
            client, lambda: client.apps_connections_open(app_token=app_token), _SOCKET_REFUSED
        )

    return SocketAddress.model_validate(await _tried(ask, retries)).url


async def _tried(ask: Callable[[], Awaitable[Any]], retries: RetryPolicy) -> Any:
    """Return the answer of one of several tries; a refused token is tried once."""
    return await retry(
        ask,
        retries,
        asyncio.sleep,
        on=MootError,
        again=lambda error, wait: None if isinstance(error, ConfigurationBroken) else wait,
    )


async def _asked(client: AsyncWebClient, call: Callable[[], Awaitable[Any]], refused: str) -> Any:
    """Return the body of an answer."""
    try:
        return (await call()).data
    except (SlackApiError, *UNREACHED) as error:
        code = refusal_of(error.response).error if isinstance(error, SlackApiError) else ""
        outcome = outcome_of(error)
        if code and (isinstance(outcome, Rejected) or code in REFUSED_TOKENS):
            raise ConfigurationBroken(f"{refused} ({code})") from None
        words = outcome.words
        raise MootError(f"{client.base_url} cannot be reached: {words}.") from None
