"""The queues: one per channel, in order, until everything is in Slack or refused for good."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import NamedTuple, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.log import logger
from bot.running.keyed_tasks import KeepsTasks, KeyedTasks
from bot.slack.clients import NotInstalled, WorkspaceClients
from bot.slack.ids import addressed, fill_in
from bot.slack.mrkdwn.newer_blocks import REFUSAL, newer_in, without
from bot.slack.outbox.methods import (
    SESSION,
    WAYS,
    SlackCall,
    SlackMethod,
    carry_out,
    find_post,
    leaving_before,
)
from bot.slack.outbox.outcomes import NOT_FOR_THIS_APP, Rejected, Retry, Unknown, outcome_of
from bot.slack.outbox.pace import CallKind, Pace, Turnstile
from bot.slack.payloads import refusal_of
from bot.store.holders import ChannelLost
from bot.store.newer_blocks import NewerBlocks
from bot.store.posts import Channel, NewPost, PostRow, Posts, PostState
from core.errors import ConfigurationBroken, StoreDown
from core.ports import Clock
from core.recent import Recent

_log = logger(__name__)
T = TypeVar("T")

#: Seconds that a call in hand may take when the outbox stops, before it is left in doubt.
STOP_PATIENCE = 3.0
#: Seconds after which a post that waits looks whether something more urgent has come.
LOOK_SECONDS = 0.5
_MOST_KNOWN = 1000
#: Who began a session: must be in the channel when it is made
#: (https://docs.slack.dev/reference/methods/agents.sessions.setStatus).
_STARTER = "initiator_user_id"
_STARTER_GONE = "user_not_in_channel"
_NO_ROOT = "the message it belongs to was never posted"


class _RootMissing(Exception):
    """What the row depends on is not in Slack and never will be."""


class _AttemptEnded(NamedTuple):
    """A step that noted what became of its post: sent, or refused for good."""

    #: What was next in line of the channel then, maybe the same post; None: nothing.
    next: PostRow | None


async def _nobody(row: PostRow, refusal: Rejected) -> None:
    """Tell nobody."""


def _ignore(kind: str) -> None:
    """Count nothing."""


@dataclass
class Outbox:
    """Sends what is in the table of posts. `post` and `replace` may be called from anywhere."""

    posts: Posts
    clients: WorkspaceClients
    clock: Clock
    #: Drawn anew at every start; with a number, written on every row before it is sent.
    process_token: str
    pace: Pace = field(default_factory=Pace)
    #: Told of every row that Slack refuses for good, before the row is given up: maybe twice.
    on_refused: Callable[[PostRow, Rejected], Awaitable[None]] = _nobody

    #: Debates that a backup brought back: what they post may be in Slack already.
    restored: frozenset[str] = frozenset()
    #: Told of every call that Slack did not take: "Later", "Unknown" or "Never".
    on_error: Callable[[str], None] = _ignore
    #: Which workspaces refused newer blocks; None: it is found out with each post.
    newer_blocks: NewerBlocks | None = None
    #: Makes what keeps the channels' queues going: in this process, or shared with others.
    supervise: Callable[[Callable[[Channel], Awaitable[None]]], KeepsTasks[Channel]] = KeyedTasks

    def __post_init__(self) -> None:
        self._turnstile = Turnstile(self.pace)
        self._channels = self.supervise(self._serve)
        self._serves = count(1)
        #: What channels were served by last, where that has ended as it should.
        self._tokens = Recent[Channel, str](_MOST_KNOWN)
        #: The post next in line of each channel, and since when it has been.
        self._fronts: dict[Channel, tuple[str, float]] = {}
        #: Timestamps of posts that others depend on, by key.
        self._known = Recent[str, str](_MOST_KNOWN)
        self._taking_up = KeyedTasks[str](self._take_up)
        #: Workspaces in which the app is no agent, as Slack said since the start.
        self._without_sessions: set[str] = set()

    @property
    def age(self) -> float:
        """Seconds that the post next in line has waited at most, here."""
        return max((time.monotonic() - since for _, since in self._fronts.values()), default=0.0)

    async def start(self) -> None:
        """Go on with what an earlier process left; keeps trying while the database is down."""
        self._taking_up.wake("unsent posts")

    async def close(self) -> None:
        """Stop after the calls in hand; the rest goes out next time."""
        await self._taking_up.close(1)
        await self._channels.close(STOP_PATIENCE + 1)

    async def post(self, posts: Sequence[NewPost]) -> None:
        """Queue posts in this order, all or none; those known already are left alone.

        Raises:
            StoreDown: The database failed; nothing was queued.
        """
        await self.posts.enqueue(posts)
        self._wake(posts)

    async def replace(self, post: NewPost) -> None:
        """Queue an edit of which only the newest state matters; none that would not be sent.

        Raises:
            StoreDown: The database failed; nothing was queued.
        """
        if post.method == SESSION and post.workspace in self._without_sessions:
            return
        await self.posts.replace_or_enqueue(post)
        self._wake([post])

    def _wake(self, posts: Sequence[NewPost]) -> None:
        for post in posts:
            self._channels.wake(Channel(post.workspace, post.channel))

    async def look_for_work(self) -> None:
        """Wake every channel with something to send.

        Raises:
            StoreDown: The database failed.
        """
        for channel in await self.posts.channels_with_work():
            self._channels.wake(channel)

    async def _take_up(self, _: str) -> None:
        await self.look_for_work()

    async def _serve(self, channel: Channel) -> None:
        """Send what waits, unless another process takes the channel over."""
        # A token whose serve has ended is nobody's: to hold a channel by it again changes no row,
        # and flushes no disk.
        token = self._tokens.pop(channel, "") or f"{self.process_token}/{next(self._serves)}"
        row, errors = await self.posts.hold(channel, token), 0
        try:
            while row is not None:
                if self._fronts.get(channel, ("",))[0] != row.key:
                    self._fronts[channel] = (row.key, time.monotonic())
                step = await self._step(replace(row, process_token=token), errors)
                errors = 0 if step else errors + 1
                row = (
                    step.next
                    if isinstance(step, _AttemptEnded)
                    else await self.posts.next_for(channel)
                )
            self._tokens[channel] = token
        except ChannelLost as error:
            _log.warning("let go", reason=str(error))
        finally:
            self._fronts.pop(channel, None)

    async def _step(self, row: PostRow, errors: int) -> bool | _AttemptEnded:
        """Bring a channel's first row a step further. False: in vain; ended: what is next in it."""
        way = WAYS.get(row.method)
        if way is None:
            return await self._refuse(
                row, Rejected(f"unknown method {row.method}", "unknown_method")
            )
        if not await self._is_due(row):
            return True
        if row.method == SESSION and row.workspace in self._without_sessions:
            return _AttemptEnded(await self.posts.mark_sent(row))
        try:
            call = await self._call(row)
        except _RootMissing:
            return await self._refuse(row, Rejected(_NO_ROOT, "root_missing"))
        except NotInstalled as error:
            return await self._refuse(row, Rejected(str(error), "not_installed"))
        except (SlackApiError, OSError, aiohttp.ClientError, ConfigurationBroken) as error:
            # Who we are there could not be asked: nothing was sent, so the call may come later.
            outcome = outcome_of(error)
            later = outcome if isinstance(outcome, Retry) else Retry(outcome.words)
            await self._postpone(row, later, way, errors)
            return False
        is_restored = row.debate_id in self.restored and not row.attempts
        if not way.repeatable and (row.state is PostState.SENDING or is_restored):
            return await self._reconcile(call, errors)
        if not await self._has_turn(way.kind, row):
            return True
        return await _unhurried(self._send(call, way, errors))

    async def _is_due(self, row: PostRow) -> bool:
        """Wait until it may be sent; False if something more urgent has come meanwhile."""
        left = _seconds_until(row.not_before, self.clock, self.pace.longest_pause)
        while left > 0:
            await self._wait(min(left, LOOK_SECONDS))
            left -= LOOK_SECONDS
            if left > 0 and await self._is_overtaken(row):
                return False
        return True

    async def _has_turn(self, kind: CallKind, row: PostRow) -> bool:
        """Wait for Slack's pace; False if something more urgent has come meanwhile.

        Posts share one line in a channel, so one of them gains nothing by overtaking another. Pins
        and edits wait for the whole workspace, which can take long.
        """
        channel = _channel_of(row)
        while (left := self._turnstile.left(kind, channel, time.monotonic())) > 0:
            await self._wait(min(left, LOOK_SECONDS))
            is_long = left > LOOK_SECONDS and kind is not CallKind.POST
            if is_long and await self._is_overtaken(row):
                return False
        self._turnstile.passed(kind, channel, time.monotonic())
        return True

    async def _is_overtaken(self, row: PostRow) -> bool:
        first = await self.posts.next_for(_channel_of(row))
        return first is not None and first.key != row.key

    async def _send(self, call: SlackCall, way: SlackMethod, errors: int) -> bool | _AttemptEnded:
        # Taken before the mark: whoever takes the channel over looks for this post later.
        deadline = time.monotonic() + self.pace.lease_of(call.row.method)
        row = await self.posts.mark_sending(
            call.row.key, call.row.process_token or self.process_token, self.clock.now()
        )
        # The addresses of posts of ours; of one that is not there, its channel's.
        # Files hold what people and models wrote, as they wrote it: no link in them is ours.
        shown = {name: value for name, value in row.payload.items() if name != "files"}
        text = json.dumps(shown)
        found = {
            key: await self._address(call.team_url, row.channel, key) for key in addressed(text)
        }
        linked = row
        if found:
            linked = replace(row, payload={**row.payload, **json.loads(fill_in(text, found))})
        if time.monotonic() > deadline:
            return False  # it is in doubt: another process may be sending it
        self._turnstile.passed(way.kind, _channel_of(row), time.monotonic())
        try:
            with leaving_before(deadline):
                ts = await self._carry_out(replace(call, row=linked))
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            outcome = outcome_of(error)
            self.on_error(type(outcome).__name__)
            if isinstance(outcome, Rejected):
                return await self._refuse(row, outcome)
            _log.warning("not sent", post=row.key, reason=outcome.words)
            if isinstance(outcome, Retry) or way.repeatable:
                await self._postpone(row, outcome, way, errors)
            return False
        return _AttemptEnded(await self.posts.mark_sent(row, ts))

    async def _carry_out(self, call: SlackCall) -> str | None:
        """Make the call, with older blocks in the place of those that Slack does not take there.

        Raises:
            Exception: Whatever the SDK raises.
        """
        row = call.row
        if row.method == SESSION:
            return await self._set_session(call)
        newer = newer_in(row.payload)
        if newer and not await self._are_newer_refused(row.workspace):
            try:
                return await carry_out(call)
            except SlackApiError as error:
                if refusal_of(error.response).error != REFUSAL:
                    raise
            _log.warning("newer blocks are not taken", workspace=row.workspace, types=sorted(newer))
            await self._note_newer(row.workspace, self.clock.now())
        older = without(row.payload, newer) if newer else row.payload
        try:
            return await carry_out(replace(call, row=replace(row, payload=older)))
        except SlackApiError as error:
            if newer and refusal_of(error.response).error == REFUSAL:
                await self._note_newer(row.workspace, None)  # it was something else
            raise

    async def _set_session(self, call: SlackCall) -> None:
        """Say how the work in a thread goes, where the app is installed as an agent.

        Where it is not, board and thread say the same, and Slack is asked again after a start.
        """
        row = call.row
        while True:
            try:
                await carry_out(replace(call, row=row))
            except SlackApiError as error:
                outcome = outcome_of(error)
                if not isinstance(outcome, Rejected):
                    raise
                if outcome.code == _STARTER_GONE and _STARTER in row.payload:
                    # Who asked has left the channel: the session then is nobody's.
                    left = {name: row.payload[name] for name in row.payload if name != _STARTER}
                    row = replace(row, payload=left)
                    continue
                _log.info("no session", workspace=row.workspace, code=outcome.code)
                if outcome.code in NOT_FOR_THIS_APP:
                    self._without_sessions.add(row.workspace)
            return

    async def _are_newer_refused(self, workspace: str) -> bool:
        if self.newer_blocks:
            with suppress(StoreDown):  # then Slack says it
                return await self.newer_blocks.are_refused(workspace, self.clock.now())
        return False

    async def _note_newer(self, workspace: str, at: datetime | None) -> None:
        if self.newer_blocks:
            with suppress(StoreDown):  # then it is found out with the next post
                await self.newer_blocks.note(workspace, at)

    async def _postpone(
        self, row: PostRow, outcome: Retry | Unknown, way: SlackMethod, errors: int
    ) -> None:
        asked = outcome.after if isinstance(outcome, Retry) else None
        seconds = self.pace.after_errors(errors) if asked is None else asked
        self._turnstile.hold(way.kind, _channel_of(row), time.monotonic() + seconds)
        due = self.clock.now() + timedelta(seconds=seconds)
        await self.posts.postpone(row, due, outcome.words)

    async def _reconcile(self, call: SlackCall, errors: int) -> bool | _AttemptEnded:
        """Find out whether a post in doubt arrived; send it again only if it did not."""
        row, now = call.row, self.clock.now()
        grace = self.pace.grace_of(row.method, errors)
        # Not longer than it can be: the clock may have been set back.
        due = (row.attempted_at or now) + timedelta(seconds=grace)
        await self._wait(_seconds_until(due, self.clock, grace))
        if row.attempted_at and row.attempted_at > now:
            # The clock was set back since then: nobody knows when it was, so look everywhere.
            call = replace(call, row=replace(row, attempted_at=None))
        channel = _channel_of(row)
        while True:
            await self._wait(self._turnstile.reserve(CallKind.LOOK, channel, time.monotonic()))
            if not self._turnstile.is_held(CallKind.LOOK, channel, time.monotonic()):
                break
        try:
            ts = await find_post(call)
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            # Slack did not let us look: try later, or send again where it never will. A post that
            # comes twice is worse than none only until nobody can tell: then it is sent.
            outcome = outcome_of(error)
            _log.warning("cannot look for a post", post=row.key, reason=outcome.words)
            if isinstance(outcome, Rejected):
                await self._free(row, outcome.words)
                return True
            after = outcome.after if isinstance(outcome, Retry) else None
            await self.clock.sleep(after or self.pace.first_pause)
            return False
        _log.info("was in doubt", post=row.key, arrived=ts is not None)
        if ts is None and row.state is PostState.WAITING:
            return await _unhurried(self._send(call, WAYS[row.method], errors))
        if ts is None:
            await self._free(row, "it had not arrived")
            return True
        ended = _AttemptEnded(await self.posts.mark_sent(row, ts))
        if row.state is PostState.WAITING and row.method == "post":
            # From before a restore: it is to say what the log says now.
            shown = {name: row.payload[name] for name in ("text", "blocks") if name in row.payload}
            await self.replace(
                NewPost(
                    key=f"{row.key}/restored",
                    workspace=row.workspace,
                    channel=row.channel,
                    method="update",
                    payload={**shown, "target_key": row.key},
                    debate_id=row.debate_id,
                    thread_key=row.thread_key,
                )
            )
        return ended

    async def _free(self, row: PostRow, words: str) -> None:
        """Let it be sent again at once."""
        await self.posts.postpone(row, self.clock.now(), words)

    async def _refuse(self, row: PostRow, refusal: Rejected) -> _AttemptEnded:
        _log.warning("refused", post=row.key, reason=refusal.words, code=refusal.code)
        await self.on_refused(row, refusal)
        return _AttemptEnded(await self.posts.mark_failed(row, refusal.words))

    async def _call(self, row: PostRow) -> SlackCall:
        """Find the timestamps a row depends on."""
        known = row.payload.get("thread_ts")  # a thread of people's own
        thread_ts = await self._ts_of(row.thread_key) if row.thread_key else known
        target_key = row.payload.get("target_key")
        target_ts = await self._ts_of(target_key) if target_key else row.payload.get("target_ts")
        workspace = await self.clients.of(row.workspace)
        return SlackCall(workspace.client, row, thread_ts, target_ts, workspace.identity.url)

    async def _address(self, team_url: str, channel: str, key: str) -> str:
        found = await self.posts.row_by_key(key)
        if found is None or found.ts is None:
            return f"{team_url}archives/{channel}"
        address = f"{team_url}archives/{channel}/p{found.ts.replace('.', '')}"
        root = await self.posts.row_by_key(found.thread_key) if found.thread_key else None
        return f"{address}?thread_ts={root.ts}&cid={channel}" if root else address

    async def _ts_of(self, key: str) -> str:
        """What a post got when it was sent is its own for ever."""
        if key not in self._known:
            found = await self.posts.row_by_key(key)
            if found is None or found.ts is None:
                raise _RootMissing
            self._known[key] = found.ts
        return self._known[key]

    async def _wait(self, seconds: float) -> None:
        if seconds > 0:
            await self.clock.sleep(seconds)


def _seconds_until(due: datetime | None, clock: Clock, most: float) -> float:
    """Seconds until then, and not more than such a wait can be: the clock may be set back.

    A longer one that Slack asked for is kept by the turnstile, or Slack asks again.
    """
    return 0.0 if due is None else min((due - clock.now()).total_seconds(), most)


def _channel_of(row: PostRow) -> Channel:
    return Channel(row.workspace, row.channel)


async def _unhurried(work: Coroutine[None, None, T]) -> T:
    """Let a call in hand end by itself when we are told to stop, for a few seconds."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), STOP_PATIENCE)
        raise
