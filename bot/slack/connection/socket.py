"""Socket Mode: one WebSocket to Slack, which is watched because it can die without an error.

The SDK's own monitor can die with the connection (bolt-python issue 1529), so both are checked
here.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, cast

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.log import logger
from bot.slack.access import CONNECTION_ERRORS
from bot.slack.outcomes import REFUSED_TOKENS, Rejection, outcome_of
from bot.slack.payloads import Identity, body_of, code_of
from core.errors import ConfigurationBroken, MootError
from core.retry import RetryPolicy, retry

_log = logger(__name__)

#: Seconds between the SDK's pings.
PING_SECONDS = 10.0
#: Seconds between our checks, and failed checks in a row after which we connect again.
WATCH_SECONDS = 15.0
_FAILED_CHECKS = 2
_CLOSE_SECONDS = 2.0
_CONNECT_SECONDS = 30.0
_BOT_REJECTED = "Slack refuses SLACK_BOT_TOKEN; install the app anew and copy its token."
_SOCKET_REJECTED = (
    "Slack refuses SLACK_APP_TOKEN; it needs the scope connections:write, and Socket Mode must "
    "be on in the app's settings."
)

#: Retries at the start, so that a short outage of Slack does not end the process.
AT_START = RetryPolicy(tries=4, first_wait=1.0, longest_wait=4.0)
_ONCE = RetryPolicy(tries=1, first_wait=0.0, longest_wait=0.0)


async def identify(client: AsyncWebClient, retries: RetryPolicy = _ONCE) -> Identity:
    """Return the bot's identity for the client's token.

    Raises:
        ConfigurationBroken: Slack rejects the token.
        MootError: Slack cannot be reached.
    """
    call = lambda: client.auth_test()  # noqa: E731, PLW0108 - the SDK has no type for it
    return Identity.model_validate(await _answer(client, call, _BOT_REJECTED, retries))


async def open_socket(client: AsyncWebClient, app_token: str, retries: RetryPolicy = _ONCE) -> str:
    """Return the address of a new WebSocket; raises as `identify` does."""
    call = partial(client.apps_connections_open, app_token=app_token)
    return str((await _answer(client, call, _SOCKET_REJECTED, retries))["url"])


async def _answer(
    client: AsyncWebClient,
    call: Callable[[], Awaitable[AsyncSlackResponse]],
    rejection_text: str,
    retries: RetryPolicy,
) -> Mapping[str, Any]:
    async def ask() -> Mapping[str, Any]:
        try:
            return body_of(await call())
        except (SlackApiError, *CONNECTION_ERRORS) as error:
            code, outcome = code_of(error), outcome_of(error)
            if code in REFUSED_TOKENS or (code and isinstance(outcome, Rejection)):
                raise ConfigurationBroken(f"{rejection_text} ({code})") from None
            raise MootError(f"{outcome.reason} ({client.base_url}).") from None

    def again(error: MootError, wait: float) -> float | None:
        return None if isinstance(error, ConfigurationBroken) else wait

    return await retry(ask, retries, asyncio.sleep, on=MootError, again=again)


def _client_tasks(client: Any) -> set[asyncio.Future[Any]]:
    """The tasks of the SDK's client, which has no types for them."""
    tasks = (client.message_processor, client.current_session_monitor, client.message_receiver)
    return {task for task in tasks if task is not None}


class SocketGateway:
    def __init__(
        self, app: AsyncApp, app_token: str, *, watch_seconds: float = WATCH_SECONDS
    ) -> None:
        self._app = app
        self._app_token = app_token
        self._watch_seconds = watch_seconds
        self._handler: AsyncSocketModeHandler | None = None
        self._watch: asyncio.Task[None] | None = None
        #: Called after each new connection; events before it may have been missed.
        self.on_connected: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Connect; raises as `identify` does."""
        # Checked first: the SDK would retry a rejected token for ever.
        address = await open_socket(self._app.client, self._app_token, AT_START)
        quiet = logging.getLogger("slack_sdk.socket_mode")
        self._handler = AsyncSocketModeHandler(
            self._app, self._app_token, logger=quiet, ping_interval=PING_SECONDS
        )
        self._handler.client.proxy = self._app.client.proxy
        self._handler.client.wss_uri = address
        self._handler.client.message_listeners.append(self._on_message)
        await self._handler.connect_async()
        self._watch = asyncio.create_task(self._keep_connected(self._handler), name="socket-watch")

    async def is_connected(self) -> bool:
        return self._handler is not None and await self._handler.client.is_connected()

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._handler is None:
            return
        client = self._handler.client
        tasks = _client_tasks(client)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._handler.close_async(), _CLOSE_SECONDS)
        # The SDK waits for Slack to close the connection. If Slack does not, the SDK cancels none
        # of its tasks, and the task of its queue would run for ever.
        tasks |= _client_tasks(client)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.aiohttp_client_session.close()

    async def _on_message(self, _client: Any, message: dict[str, Any], _raw: str | None) -> None:
        if message.get("type") == "hello":
            self.on_connected()

    async def _keep_connected(self, handler: AsyncSocketModeHandler) -> None:
        failed_checks = 0
        while True:
            await asyncio.sleep(self._watch_seconds)
            monitor = cast("asyncio.Future[Any] | None", handler.client.current_session_monitor)
            is_alive = await self.is_connected() and monitor is not None and not monitor.done()
            failed_checks = 0 if is_alive else failed_checks + 1
            if failed_checks < _FAILED_CHECKS:
                continue
            _log.warning("the connection to Slack died silently, connecting anew")
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await handler.client.connect_to_new_endpoint(force=True)
            except Exception as error:  # noqa: BLE001 - the next check tries again
                _log.warning("not connected", reason=type(error).__name__)
