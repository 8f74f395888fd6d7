"""What first calls and edits share: content with true links, older blocks, calls that end."""

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

#: Seconds that a call in hand may take when the queue stops, before it is left in doubt.
STOP_SECONDS = 3.0
#: What says that the client could not be had, or Slack could not be asked who we are.
NO_CLIENT = (SlackApiError, OSError, aiohttp.ClientError, ConfigurationBroken)
_MOST_KNOWN = 1000
#: Its row is on its way.
IS_UNSENT = frozenset({PostState.WAITING, PostState.SENDING})


@dataclass(frozen=True, kw_only=True)
class RenderedPosts:
    #: The number of the event up to which they do.
    seq: int
    #: Content by key.
    contents: Mapping[str, Mapping[str, Any]]


Render = Callable[[Sequence[PostRow]], Awaitable[RenderedPosts]]


async def _nobody(row: PostRow, refusal: Rejection) -> None: ...


def _ignore(kind: str) -> None: ...


async def _render_nothing(rows: Sequence[PostRow]) -> RenderedPosts:  # noqa: ARG001 - as a real one
    return RenderedPosts(seq=0, contents={})


@dataclass
class Outgoing:
    posts: Posts
    leases: Leases
    clients: WorkspaceClients
    pace: Pace = field(default_factory=Pace)
    #: Makes the content of living posts of one debate from its log.
    render: Render = _render_nothing
    #: Told of every row that Slack refuses for good, before the row is given up: maybe twice. The
    #: row of an edit is *sent*.
    on_refused: Callable[[PostRow, Rejection], Awaitable[None]] = _nobody
    #: Told of every call that Slack did not take: "Retry", "Unknown" or "Rejected".
    on_error: Callable[[str], None] = _ignore
    #: Told of lanes in which there is something to do.
    wake: Callable[[str], None] = _ignore

    def __post_init__(self) -> None:
        self.limits = RateLimits(self.pace)
        #: Of rows and lanes that fail: since when, and how often.
        self._failing = Recent[str, tuple[float, int]](_MOST_KNOWN)
        #: Workspaces that refused newer blocks since the start.
        self._without_newer_blocks = set[str]()

    def count_failure(self, name: str) -> float:
        """Count a failure in a row; return how long to wait."""
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
        """Let nothing of the lane go for as long as Slack asks, or longer each time."""
        after = outcome.after if isinstance(outcome, Retry) else None
        self.limits.hold(lane, self.count_failure(lane) if after is None else after)

    async def rendered(self, rows: Sequence[PostRow]) -> RenderedPosts | None:
        """What these living posts of one debate show; None: they wait, or were given up."""
        if not rows:
            return RenderedPosts(seq=0, contents={})
        try:
            return await self.render(rows)
        except (DebateUnknown, LogBroken) as error:
            for row in rows:
                await self.posts.fail(row, str(error))
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - a fault of ours: these rows wait, not all of the workspace
            _log.exception("cannot be shown", post=rows[0].key)
            pause = self.count_failure(rows[0].key)
            for row in rows:
                await self.posts.put_off(row, pause)
        return None

    async def with_addresses(
        self, row: PostRow, content: Mapping[str, Any], team_url: str, seq: int
    ) -> tuple[Mapping[str, Any], bool]:
        """Redact the content and fill in addresses of posts; for a missing one, its channel's.

        Files are not changed: they hold texts of people and models, without such links.

        Args:
            row: What is sent or edited.
            content: With links as `bot.slack.ids.address_of` writes them.
            team_url: The workspace's own address, with a slash at its end.
            seq: Up to which event of its debate a living post's content is made.

        Returns:
            The content; and whether a post that it links to is on its way still.
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
        """Make a call, with older blocks in the place of those that Slack does not take there.

        No byte of it leaves after the deadline. Whatever the SDK raises is raised.
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
    """Let a call in hand, and its note, end by itself for a few seconds when we are to stop."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), STOP_SECONDS)
        raise


def digest(content: Mapping[str, Any]) -> str:
    """What tells one content from another."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _is_coming(row: PostRow, key: str, linked: PostRow | None, seq: int) -> bool:
    """Whether a post that a row links to will be there soon."""
    if linked is None:
        # The log is ahead of what was queued of it.
        return bool(row.post) and key.startswith(f"{row.debate_id}/") and row.wanted_seq < seq
    # What stands behind a row in its lane cannot be waited for, but by an edit.
    is_before = linked.id < row.id or row.state is PostState.SENT
    return linked.state in IS_UNSENT and is_before
