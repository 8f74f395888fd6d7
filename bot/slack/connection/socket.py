"""Socket Mode: one WebSocket to Slack, watched, because it can die without an error.

Source: https://docs.slack.dev/apis/events-api/using-socket-mode. The SDK's monitor has been seen to
die with the connection (bolt-python issue 1529), so we check both ourselves.
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
#: Seconds between our own looks, and how many bad ones in a row make a new connection.
WATCH_SECONDS = 15.0
_BAD_LOOKS = 2
_CLOSE_SECONDS = 2.0
_CONNECT_SECONDS = 30.0
_WE_ARE_REFUSED = "Slack refuses SLACK_BOT_TOKEN; install the app anew and copy its token."
_SOCKET_REFUSED = (
    "Slack refuses SLACK_APP_TOKEN; it needs the scope connections:write, and Socket Mode must "
    "be on in the app's settings."
)

#: At the start Slack may be away for a moment: one failed call does not end the process.
AT_START = RetryPolicy(tries=4, first_wait=1.0, longest_wait=4.0)
_ONCE = RetryPolicy(tries=1, first_wait=0.0, longest_wait=0.0)


async def identify(client: AsyncWebClient, retries: RetryPolicy = _ONCE) -> Identity:
    """Return who the bot is with this token; `ConfigurationBroken` where Slack refuses that."""
    call = lambda: client.auth_test()  # noqa: E731, PLW0108 - the SDK leaves its type open
    return Identity.model_validate(await _answer(client, call, _WE_ARE_REFUSED, retries))


async def open_socket(client: AsyncWebClient, app_token: str, retries: RetryPolicy = _ONCE) -> str:
    """Return the address of a new WebSocket; raises as `identify` does."""
    call = partial(client.apps_connections_open, app_token=app_token)
    return str((await _answer(client, call, _SOCKET_REFUSED, retries))["url"])


async def _answer(
    client: AsyncWebClient,
    call: Callable[[], Awaitable[AsyncSlackResponse]],
    refused: str,
    retries: RetryPolicy,
) -> Mapping[str, Any]:
    async def ask() -> Mapping[str, Any]:
        try:
            return body_of(await call())
        except (SlackApiError, *CONNECTION_ERRORS) as error:
            code, outcome = code_of(error), outcome_of(error)
            if code in REFUSED_TOKENS or (code and isinstance(outcome, Rejection)):
                raise ConfigurationBroken(f"{refused} ({code})") from None
            raise MootError(f"{client.base_url} cannot be reached: {outcome.reason}.") from None

    def again(error: MootError, wait: float) -> float | None:
        return None if isinstance(error, ConfigurationBroken) else wait

    return await retry(ask, retries, asyncio.sleep, on=MootError, again=again)


def _tasks_of(client: Any) -> set[asyncio.Future[Any]]:
    """The tasks that the SDK's client runs; it leaves their types open."""
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
        #: Called after each new connection: events may have been missed before it.
        self.on_connected: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Connect; raises as `identify` does."""
        # The SDK would try a refused token for ever.
        address = await open_socket(self._app.client, self._app_token, AT_START)
        quiet = logging.getLogger("slack_sdk.socket_mode")
        self._handler = AsyncSocketModeHandler(
            self._app, self._app_token, logger=quiet, ping_interval=PING_SECONDS
        )
        self._handler.client.proxy = self._app.client.proxy
        self._handler.client.wss_uri = address
        self._handler.client.message_listeners.append(self._hear_hello)
        await self._handler.connect_async()
        self._watch = asyncio.create_task(self._look_after(self._handler), name="socket-watch")

    async def is_connected(self) -> bool:
        return self._handler is not None and await self._handler.client.is_connected()

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._handler is None:
            return
        client = self._handler.client
        tasks = _tasks_of(client)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._handler.close_async(), _CLOSE_SECONDS)
        # The SDK waits for the end of Slack's side first. When that does not come, it cancels
        # nothing, and its queue's task would wait for ever.
        tasks |= _tasks_of(client)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.aiohttp_client_session.close()

    async def _hear_hello(self, _client: Any, message: dict[str, Any], _raw: str | None) -> None:
        if message.get("type") == "hello":
            self.on_connected()

    async def _look_after(self, handler: AsyncSocketModeHandler) -> None:
        bad_looks = 0
        while True:
            await asyncio.sleep(self._watch_seconds)
            monitor = cast("asyncio.Future[Any] | None", handler.client.current_session_monitor)
            is_alive = await self.is_connected() and monitor is not None and not monitor.done()
            bad_looks = 0 if is_alive else bad_looks + 1
            if bad_looks < _BAD_LOOKS:
                continue
            _log.warning("the connection to Slack died silently, connecting anew")
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await handler.client.connect_to_new_endpoint(force=True)
            except Exception as error:  # noqa: BLE001 - whatever it was, the next look tries again
                _log.warning("not connected", reason=type(error).__name__)
