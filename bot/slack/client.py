"""The client of Slack's Web API and its HTTP connections."""

import logging
import math
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.payloads import Identity
from core.errors import MootError
from core.proxies import proxy_of

#: Timeout of a call, in seconds.
CALL_SECONDS = 10
#: Seconds for which an idle connection is kept. Shorter than on the server's side: if the server
#: closes a connection while a call is sent, nobody knows whether Slack got the call.
IDLE_SECONDS = 5


@asynccontextmanager
async def slack_session(seconds: float = CALL_SECONDS) -> AsyncGenerator[aiohttp.ClientSession]:
    """Keep connections to Slack open between calls while the block runs.

    Without a session the SDK opens a connection for each call, with a TLS handshake. All
    connections to Slack except Socket Mode's use this session, so `send_deadline` applies to all
    calls.
    """
    trace = aiohttp.TraceConfig()
    # aiohttp calls these hooks just before it writes the headers and the body.
    trace.on_request_headers_sent.append(_check_deadline)
    trace.on_request_chunk_sent.append(_check_deadline)
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS)
    timeout = aiohttp.ClientTimeout(total=seconds)
    # `slack_client` passes the proxy of the environment with each call. With `trust_env` aiohttp
    # would read the environment and ~/.netrc for each call, in two threads.
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, trace_configs=[trace]
    ) as session:
        yield session


_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def send_deadline(deadline: float) -> Generator[None]:
    """Send no byte of the calls in the block after this time of the monotonic clock.

    Checked right before the bytes are written: the process may be frozen before that, for example
    while it opens a connection, and another process may have sent the same post meanwhile.

    Raises:
        ConnectionError: The deadline has passed; nothing was sent.
    """
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


async def _check_deadline(*_: object) -> None:
    if time.monotonic() > _deadline.get():
        raise ConnectionError("this process stood still: another one may be sending it")


def slack_client(
    token: str,
    api_url: str,
    session: aiohttp.ClientSession | None = None,
    *,
    seconds: int = CALL_SECONDS,
) -> AsyncWebClient:
    """Return a client of the Web API; with an empty token, one that is not authenticated.

    It does not retry: the SDK's silent retry after a dropped connection doubles posts.
    """
    client = AsyncWebClient(
        token=token or None,
        base_url=api_url,
        session=session,
        timeout=seconds,
        retry_handlers=[],
        # Its level is set in `bot/log.py`. Without a level the SDK formats each request and each
        # response before it checks whether they are logged.
        logger=logging.getLogger("slack_sdk"),
    )
    # The SDK ignores NO_PROXY, and uses the proxy for loopback, too. aiohttp supports HTTP proxies
    # only.
    proxy = proxy_of(api_url)
    client.proxy = proxy if proxy.startswith("http") else None
    return client


class NotInstalled(MootError):
    """Moot has no token for a workspace: it was not installed there, or was removed."""


@dataclass(frozen=True)
class WorkspaceClient:
    client: AsyncWebClient
    identity: Identity


class WorkspaceClients(Protocol):
    """The clients of all workspaces with the bot. Methods may raise `StoreError`."""

    async def for_workspace(self, team_id: str) -> WorkspaceClient:
        """Return the client for a workspace.

        Raises:
            NotInstalled: Moot is not installed there.
            SlackApiError: Slack rejects the token.
            OSError: Slack cannot be reached.
        """
        ...

    async def teams(self) -> Sequence[str]:
        """Return the ids of all workspaces."""
        ...

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Delete the tokens of a workspace, or of an organisation if `team_id` is None."""
        ...


@dataclass(frozen=True)
class SingleWorkspaceClient:
    """The client of a bot whose token is in the settings."""

    workspace: WorkspaceClient

    async def for_workspace(self, team_id: str) -> WorkspaceClient:
        """Return the client for any id: events of a shared channel may have another one."""
        del team_id
        return self.workspace

    async def teams(self) -> Sequence[str]:
        return (self.workspace.identity.team_id,)

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Do nothing: the token is in the settings."""
