"""The client of Slack's Web API that everything uses, and its connections."""

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

#: Seconds that Slack may take to answer before a call counts as lost.
CALL_SECONDS = 10
#: Seconds that an idle connection is kept: fewer than servers keep theirs, or a call may meet one
#: that is just being closed, and be in doubt.
IDLE_SECONDS = 5


@asynccontextmanager
async def slack_session(seconds: float = CALL_SECONDS) -> AsyncGenerator[aiohttp.ClientSession]:
    """Keep connections to Slack open between calls, for as long as the block lasts.

    Without it the SDK makes a connection for each call, and agrees on keys anew. Every connection
    to Slack but Socket Mode's is made here, so that `send_deadline` holds for all.
    """
    trace = aiohttp.TraceConfig()
    # aiohttp tells of head and body just before it writes them.
    trace.on_request_headers_sent.append(_check_deadline)
    trace.on_request_chunk_sent.append(_check_deadline)
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS)
    timeout = aiohttp.ClientTimeout(total=seconds)
    # The SDK has read the environment's proxy, and names it with each call. With `trust_env`
    # aiohttp would look for it with each call, and for a password in ~/.netrc, in two threads.
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, trace_configs=[trace]
    ) as session:
        yield session


_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def send_deadline(deadline: float) -> Generator[None]:
    """Let no byte of a call in the block leave after this time of the steady clock.

    What happens before, such as making a connection, takes time in which a process may be frozen,
    and another one may have sent what is to be sent.
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
    """Return the client that everything uses; with an empty token one that is nobody yet.

    It repeats nothing by itself: the SDK's silent retry of dropped connections doubles posts.
    """
    client = AsyncWebClient(
        token=token or None,
        base_url=api_url,
        session=session,
        timeout=seconds,
        retry_handlers=[],
        # It has a level of its own (`bot/log.py`): for one without, the SDK puts each call and each
        # answer into words before it asks whether anybody wants them.
        logger=logging.getLogger("slack_sdk"),
    )
    # The SDK's own choice ignores NO_PROXY and loopback; aiohttp speaks to HTTP proxies only.
    proxy = proxy_of(api_url)
    client.proxy = proxy if proxy.startswith("http") else None
    return client


class NotInstalled(MootError):
    """Moot has no token for a workspace: it was never installed there, or was removed."""


@dataclass(frozen=True)
class WorkspaceClient:
    client: AsyncWebClient
    identity: Identity


class WorkspaceClients(Protocol):
    """The clients of all workspaces with the bot. Methods may raise `StoreError`."""

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the client for a workspace.

        Raises:
            NotInstalled: Moot is not installed there.
            SlackApiError: Slack refuses the token; an OSError if it cannot be reached.
        """
        ...

    async def teams(self) -> Sequence[str]:
        """Return the ids of all workspaces."""
        ...

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Forget the tokens of a workspace; of a whole organisation, if `team_id` is None."""
        ...


@dataclass(frozen=True)
class SingleWorkspaceClient:
    """The one client of a bot whose token is in the settings."""

    workspace: WorkspaceClient

    async def of(self, team_id: str) -> WorkspaceClient:
        """Return the only client: a channel shared with others may name another workspace."""
        del team_id
        return self.workspace

    async def teams(self) -> Sequence[str]:
        return (self.workspace.identity.team_id,)

    async def leave(self, enterprise_id: str | None, team_id: str | None) -> None:
        """Do nothing: the token is in the settings."""
