"""The calls that carry posts: one Slack method each, and the search for a post in doubt."""

import logging
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.ids import METADATA_EVENT
from bot.slack.outbox.outcomes import Rejected, outcome_of
from bot.slack.outbox.pace import CallKind
from bot.slack.payloads import Page, posted_ts
from bot.store.posts import PostRow

#: Seconds that Slack may take to answer before a call counts as lost.
CALL_SECONDS = 10
#: Seconds that an idle connection is kept: fewer than servers keep theirs, or a call may meet one
#: that is just being closed, and be in doubt.
IDLE_SECONDS = 5
_PAGE = 200
#: Slack's clock and ours may differ by this many seconds.
_CLOCK_MARGIN = 3600
#: Refusals that mean: it is as we want it already.
_DONE_ALREADY = frozenset({"already_pinned", "no_pin", "already_reacted", "no_reaction"})


@asynccontextmanager
async def slack_session() -> AsyncGenerator[aiohttp.ClientSession]:
    """Keep connections to Slack open between calls, for as long as the block lasts.

    Without it the SDK makes a connection for each call, and with Slack itself agrees on keys anew.
    Right before the bytes of a call go out, the deadline of `leaving_before` is looked at.
    """
    trace = aiohttp.TraceConfig()
    # aiohttp tells of head and body just before it writes them.
    trace.on_request_headers_sent.append(_check_deadline)
    trace.on_request_chunk_sent.append(_check_deadline)
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS)
    patience = aiohttp.ClientTimeout(total=CALL_SECONDS)
    # The SDK has read the environment's proxy, and names it with each call. With `trust_env`
    # aiohttp would look for it with each call, and for a password in ~/.netrc, in two threads.
    async with aiohttp.ClientSession(
        connector=connector, timeout=patience, trace_configs=[trace]
    ) as session:
        yield session


_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def leaving_before(deadline: float) -> Generator[None]:
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
    token: str, api_url: str, session: aiohttp.ClientSession | None = None
) -> AsyncWebClient:
    """Return the client that everything uses; with an empty token one that is nobody yet.

    It repeats nothing by itself: the SDK's silent retry of dropped connections doubles posts.
    """
    return AsyncWebClient(
        token=token or None,
        base_url=api_url,
        session=session,
        timeout=CALL_SECONDS,
        retry_handlers=[],
        # It has a level of its own (`bot/log.py`): for one without, the SDK puts each call and each
        # answer into words before it asks whether anybody wants them.
        logger=logging.getLogger("slack_sdk"),
    )


@dataclass(frozen=True)
class SlackMethod:
    """How one method of the outbox is carried out."""

    kind: CallKind
    #: Doing it twice does no harm.
    repeatable: bool
    call: Callable[["SlackCall"], Awaitable[str | None]]


@dataclass(frozen=True)
class SlackCall:
    """A row about to be sent, with the timestamps it depends on."""

    client: AsyncWebClient
    row: PostRow
    #: Timestamp of the root of its thread; None in the channel itself.
    thread_ts: str | None
    #: Timestamp of the message it changes, pins or reacts to.
    target_ts: str | None
    #: The workspace's own address, with a slash at its end.
    team_url: str

    @property
    def channel(self) -> str:
        """Where it goes."""
        return self.row.channel

    @property
    def payload(self) -> dict[str, Any]:
        """What the method is called with, without our own fields."""
        return {name: value for name, value in self.row.payload.items() if name not in OWN_FIELDS}


#: The method that is only for apps installed as an agent.
SESSION = "session"
#: Fields of a payload that are for the outbox, not for Slack.
OWN_FIELDS = frozenset({"target_key", "target_ts", "thread_ts"})


async def _post(call: SlackCall) -> str:
    metadata = {"event_type": METADATA_EVENT, "event_payload": {"key": call.row.key}}
    answer = await call.client.chat_postMessage(
        channel=call.channel,
        thread_ts=call.thread_ts,
        metadata=metadata,
        unfurl_links=False,
        unfurl_media=False,
        **call.payload,
    )
    return posted_ts(_body(answer))


async def _update(call: SlackCall) -> None:
    await call.client.chat_update(channel=call.channel, ts=call.target_ts or "", **call.payload)


async def _pin(call: SlackCall) -> None:
    await call.client.pins_add(channel=call.channel, timestamp=call.target_ts)


async def _unpin(call: SlackCall) -> None:
    await call.client.pins_remove(channel=call.channel, timestamp=call.target_ts)


async def _react(call: SlackCall) -> None:
    await call.client.reactions_add(
        channel=call.channel, timestamp=call.target_ts or "", **call.payload
    )


async def _ephemeral(call: SlackCall) -> None:
    await call.client.chat_postEphemeral(
        channel=call.channel, thread_ts=call.thread_ts, **call.payload
    )


async def _upload(call: SlackCall) -> None:
    """Share files in the thread with one message: three calls and more, the last one counts.

    Source: https://docs.slack.dev/messaging/working-with-files
    """
    await call.client.files_upload_v2(
        channel=call.channel,
        thread_ts=call.thread_ts,
        initial_comment=call.payload["text"],
        file_uploads=[{**file, "title": file["filename"]} for file in call.payload["files"]],
    )


async def _session(call: SlackCall) -> None:
    """Say how the work in a thread goes; the first time that makes the session, with its title."""
    await call.client.agents_sessions_setStatus(
        channel_id=call.channel, thread_ts=call.thread_ts, **call.payload
    )


WAYS: Mapping[str, SlackMethod] = {
    "post": SlackMethod(CallKind.POST, repeatable=False, call=_post),
    "update": SlackMethod(CallKind.EDIT, repeatable=True, call=_update),
    "pin": SlackMethod(CallKind.PIN, repeatable=True, call=_pin),
    "unpin": SlackMethod(CallKind.PIN, repeatable=True, call=_unpin),
    "react": SlackMethod(CallKind.REACT, repeatable=True, call=_react),
    SESSION: SlackMethod(CallKind.EDIT, repeatable=True, call=_session),
    "ephemeral": SlackMethod(CallKind.POST, repeatable=True, call=_ephemeral),
    "upload": SlackMethod(CallKind.POST, repeatable=False, call=_upload),
}


async def carry_out(call: SlackCall) -> str | None:
    """Make the call; return the timestamp of a new message.

    Raises:
        Exception: Whatever the SDK raises; `outcome_of` says what it means.
    """
    try:
        return await WAYS[call.row.method].call(call)
    except SlackApiError as error:
        outcome = outcome_of(error)
        if isinstance(outcome, Rejected) and outcome.code in _DONE_ALREADY:
            return None
        raise


async def find_post(call: SlackCall) -> str | None:
    """Look in Slack for the message that carries the row's key or files; return its timestamp.

    Looks in the thread, or in the channel for what begins one.

    Raises:
        Exception: Whatever the SDK raises.
    """
    attempted = call.row.attempted_at
    oldest = str(attempted.timestamp() - _CLOCK_MARGIN) if attempted else "0"
    names = {file["filename"] for file in call.payload.get("files", ())}
    wanted: dict[str, Any] = {
        "channel": call.channel,
        "oldest": oldest,
        "limit": _PAGE,
        "include_all_metadata": True,
    }
    while True:
        if call.thread_ts is None:
            answer = await call.client.conversations_history(**wanted)
        else:
            answer = await call.client.conversations_replies(ts=call.thread_ts, **wanted)
        page = Page.model_validate(_body(answer))
        for found in page.messages:
            if found.key == call.row.key or names & set(found.file_names):
                return found.ts
        if not page.next_cursor:
            return None
        wanted["cursor"] = page.next_cursor


def _body(answer: Any) -> Mapping[str, Any]:
    """The JSON object of an answer."""
    return answer.data
