"""Parts shared by first calls and edits: links, older blocks, failures, deadlines."""

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.log import logger
from bot.queue.rate_limits import Pace, RateLimits
from bot.queue.rows import PostRow, Posts, PostState
from bot.queue.slack_calls import SESSION, SlackCall
from bot.slack.blocks import REFUSAL, without_newer
from bot.slack.client import WorkspaceClients, send_deadline
from bot.slack.ids import address_keys, fill_addresses
from bot.slack.outcomes import Outcome, Rejection, Retry
from bot.slack.payloads import refusal_of
from bot.store.leases import Leases
from core.errors import ConfigurationBroken, DebateUnknown, LogBroken, StoreError
from core.redaction import without_secrets
from core.values import Recent

_log = logger(__name__)
T = TypeVar("T")

#: Seconds that a running call may take when the queue stops, before it is left in doubt.
STOP_SECONDS = 3.0
#: Errors if there is no client, or Slack did not say who the bot is.
NO_CLIENT = (SlackApiError, OSError, aiohttp.ClientError, ConfigurationBroken)
_MOST_KNOWN = 1000
#: States of rows that are not sent yet.
IS_UNSENT = frozenset({PostState.WAITING, PostState.SENDING})


@dataclass(frozen=True, kw_only=True)
class RenderedPosts:
    #: The number of the newest event that the contents include.
    seq: int
    #: Content by key.
    contents: Mapping[str, Mapping[str, Any]]


Render = Callable[[Sequence[PostRow]], Awaitable[RenderedPosts]]


async def _nobody(row: PostRow, refusal: Rejection) -> None: ...


def _ignore(kind: str) -> None: ...


@dataclass
class Outgoing:
    posts: Posts
    leases: Leases
    clients: WorkspaceClients
    #: Renders living posts of one debate from its log.
    render: Render
    pace: Pace = field(default_factory=Pace)
    #: Called for every row that Slack refuses for good, before it is given up, perhaps twice. The
    #: row of an edit is *sent*.
    on_refused: Callable[[PostRow, Rejection], Awaitable[None]] = _nobody
    #: Called for every failed call, with "Retry", "Unknown" or "Rejection".
    on_error: Callable[[str], None] = _ignore
    #: Called for lanes with new work.
    wake: Callable[[str], None] = _ignore

    def __post_init__(self) -> None:
        self.limits = RateLimits(self.pace)
        #: For failing rows and lanes: the time of the first failure, and the count.
        self._failing = Recent[str, tuple[float, int]](_MOST_KNOWN)
        #: Workspaces that refused newer blocks since the start.
        self._without_newer_blocks = set[str]()

    def count_failure(self, name: str) -> float:
        """Count a consecutive failure; return the seconds to wait."""
        since, times = self._failing.get(name, (time.monotonic(), 0))
        self._failing[name] = since, times + 1
        return self.pace.after_errors(times + 1)

    def keeps_failing(self, name: str) -> bool:
        since, _ = self._failing.get(name, (time.monotonic(), 0))
        return time.monotonic() - since > self.pace.fails

    def forget_failures(self, *names: str) -> None:
        for name in names:
            self._failing.pop(name, None)

    def hold(self, lane: str, outcome: Outcome) -> None:
        """Pause a lane for as long as Slack asks, else longer after each failure."""
        after = outcome.after if isinstance(outcome, Retry) else None
        self.limits.hold(lane, self.count_failure(lane) if after is None else after)

    async def rendered(self, rows: Sequence[PostRow]) -> RenderedPosts | None:
        """Render living posts of one debate; None: they wait, or were given up."""
        if not rows:
            return RenderedPosts(seq=0, contents={})
        try:
            return await self.render(rows)
        except (DebateUnknown, LogBroken) as error:
            for row in rows:
                await self.posts.fail(row, str(error))
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - a fault of Moot: only these rows wait
            _log.exception("cannot be shown", post=rows[0].key)
            pause = self.count_failure(rows[0].key)
            for row in rows:
                await self.posts.put_off(row, pause)
        return None

    async def with_addresses(
        self, row: PostRow, content: Mapping[str, Any], team_url: str, seq: int
    ) -> tuple[Mapping[str, Any], bool]:
        """Redact the content and fill in addresses of posts; for a missing one, its channel's.

        Files are not changed, because they contain no such links.

        Args:
            row: The row to send or edit.
            content: With links as `bot.slack.ids.address_of` writes them.
            team_url: The workspace's own address, with a slash at its end.
            seq: The number of the newest event in a living post's content.

        Returns:
            The content, and whether a post that it links to is still to be sent.
        """
        content = without_secrets(content)
        text = json.dumps({name: value for name, value in content.items() if name != "files"})
        keys = address_keys(text)
        if not keys:
            return content, False
        rows = await self.posts.rows_with_keys(list(keys))
        threads = [post.thread_key for post in rows.values() if post.thread_key]
        roots = await self.posts.rows_with_keys(threads)
        channel = f"{team_url}archives/{row.channel}"

        def address(key: str) -> str:
            post = rows.get(key)
            if post is None or post.ts is None:
                return channel
            root = roots.get(post.thread_key or "")
            thread = f"?thread_ts={root.ts}&cid={row.channel}" if root else ""
            return f"{channel}/p{post.ts.replace('.', '')}{thread}"

        addresses = {key: address(key) for key in keys}
        is_early = any(_is_coming(row, key, rows.get(key), seq) for key in keys)
        return {**content, **json.loads(fill_addresses(text, addresses))}, is_early

    async def carry_out(
        self, call: SlackCall, make: Callable[[SlackCall], Awaitable[T]], deadline: float
    ) -> T:
        """Make a call; if the workspace refuses newer blocks, with older ones in their place.

        Nothing is sent after the deadline. Raises all errors of the SDK.
        """
        workspace = call.row.workspace
        older = without_newer(call.content) if call.row.method != SESSION else call.content
        has_newer = older is not call.content

        async def attempt(content: Mapping[str, Any]) -> T:
            with send_deadline(deadline):
                return await make(replace(call, content=content))

        is_refused = workspace in self._without_newer_blocks
        if not has_newer or not is_refused:
            try:
                return await attempt(call.content)
            except SlackApiError as error:
                if not has_newer or refusal_of(error.response).error != REFUSAL:
                    raise
        answer = await attempt(older)
        if not is_refused:
            _log.warning("newer blocks are not taken", workspace=workspace)
            self._without_newer_blocks.add(workspace)
        return answer


async def with_grace(work: Coroutine[None, None, T]) -> T:
    """If cancelled, let a running call and its record finish for a few seconds."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), STOP_SECONDS)
        raise


def digest(content: Mapping[str, Any]) -> str:
    """A hash of a content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _is_coming(row: PostRow, key: str, linked: PostRow | None, seq: int) -> bool:
    """Whether a post that a row links to is still to be sent."""
    if linked is None:
        # The log is ahead of the queue.
        return bool(row.post) and key.startswith(f"{row.debate_id}/") and row.wanted_seq < seq
    # A first call cannot wait for a later row, but an edit can.
    is_before = linked.id < row.id or row.state is PostState.SENT
    return linked.state in IS_UNSENT and is_before
