"""The first call of each row: claim → call → settle, and the search for a row in doubt."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bot.log import logger
from bot.queue.outgoing import NO_CLIENT, Outgoing, RenderedPosts, digest, with_grace
from bot.queue.rows import UNKNOWN, PostRow, PostState
from bot.queue.slack_calls import (
    ALONE,
    UNDER,
    UNREPEATABLE,
    SlackCall,
    edit,
    find_post,
    send,
)
from bot.slack.client import NotInstalled
from bot.slack.limits import UPDATE_TEXT
from bot.slack.outcomes import PLACE_GONE, Outcome, Rejection, Retry, outcome_of
from core.errors import DebateUnknown, LogBroken, StoreError

_log = logger(__name__)

_NO_ROOT = Rejection("the message it belongs to was never posted", "root_missing")
_FAILS = Rejection("Slack keeps failing with it.", "keeps_failing")
#: What a bare text lacks.
_EXTRAS = frozenset({"blocks", "username", "icon_emoji", "files"})
_MOST_CHARACTERS = UPDATE_TEXT - 100


@dataclass
class FirstCalls:
    outgoing: Outgoing
    #: Debates that a backup brought back: what they post may be in Slack already.
    restored: frozenset[str] = frozenset()
    #: The row next in line of each lane, and since when it has been.
    fronts: dict[str, tuple[str, float]] = field(default_factory=dict[str, tuple[str, float]])

    def __post_init__(self) -> None:
        #: Keys of posts that go out as bare text, as Slack refused or failed with the rest of them.
        self._bare = set[str]()

    async def step(self, lane: str) -> float | None:
        """Bring a lane's next row a step further; see `bot.queue.outbox.Step`."""
        row = await self.outgoing.posts.next_for(lane)
        if row is None:
            self.fronts.pop(lane, None)
            return None
        if self.fronts.get(lane, ("",))[0] != row.key:
            self.fronts[lane] = (row.key, time.monotonic())
        if row.due_in > 0:
            return row.due_in
        is_restored = row.debate_id in self.restored and not row.attempts
        is_in_doubt = row.state is PostState.SENDING or is_restored
        try:
            if is_in_doubt and row.method in UNREPEATABLE:
                return await self._reconcile(lane, row)
            return self.outgoing.limits.seconds_left(lane) or await self._send(lane, row)
        except NotInstalled as error:
            return await self._refuse(row, Rejection(str(error), "not_installed"))
        except NO_CLIENT as error:
            # Nothing was sent, so the call may come later.
            self.outgoing.hold(lane, outcome_of(error))
            return self.outgoing.limits.seconds_left(lane)

    async def _send(self, lane: str, row: PostRow) -> float:
        if row.thread_key and row.root_ts is None:
            if row.root_state not in {PostState.WAITING, PostState.SENDING}:
                return await self._refuse(row, _NO_ROOT)
            return await self._put_off(row)
        try:
            rendered = await self._rendered_posts(row)
            # The message of ours that it reacts to, or that its files hang on.
            key = row.payload.get("target_key")
            target = await self.outgoing.posts.row_by_key(key) if key else None
            beneath = await self._shown_by(row, target)
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - a fault of ours: this row alone waits, not what stands behind it
            _log.exception("cannot be shown", post=row.key)
            if self.outgoing.fails_since(row.key) > self.outgoing.pace.fails:
                return await self._refuse(row, _FAILS)
            return await self._put_off(row, self.outgoing.count_failure(row.key))
        if rendered is None:
            await self.outgoing.posts.fail(row, "There is nothing to show any more.")
            return 0.0
        return await self._send_rendered(lane, row, rendered, target, beneath=beneath)

    async def _send_rendered(
        self,
        lane: str,
        row: PostRow,
        rendered: RenderedPosts,
        target: PostRow | None,
        *,
        beneath: Mapping[str, Any],
    ) -> float:
        outgoing = self.outgoing
        workspace = await outgoing.clients.of(row.workspace)
        content = {**row.payload, **rendered.contents[row.key]}
        content, is_early = await outgoing.with_addresses(
            row, content, workspace.identity.url, rendered.seq
        )
        if is_early and not row.post:
            return await self._put_off(row)
        is_bare = row.key in self._bare
        call = SlackCall(
            client=workspace.client,
            row=replace(row, method="post") if is_bare else row,
            content=_bare(content) if is_bare else {**content, **beneath},
            target_ts=target.ts if target else None,
        )
        # With links to posts that are not sent yet, the content is not the newest state.
        rendered_content = {name: content[name] for name in rendered.contents[row.key]}
        state = (0 if is_early else rendered.seq, digest(rendered_content)) if row.post else None
        if state and is_bare:
            state = (UNKNOWN, None)  # an edit adds the rest, where Slack takes it
        return await with_grace(self._call(lane, call, state))

    async def _call(
        self, lane: str, call: SlackCall, version: tuple[int, str | None] | None
    ) -> float:
        outgoing, posts = self.outgoing, self.outgoing.posts
        began = time.monotonic()
        row = await posts.claim(call.row, outgoing.leases.owner)
        if row is None:
            return await self._lost(lane)
        row = replace(row, root_ts=call.row.root_ts, method=call.row.method)
        lease = began + outgoing.pace.lease_of(row.method)
        deadline = min(lease, outgoing.leases.deadline(lane))
        outgoing.limits.count_call(lane)
        try:
            ts = await outgoing.carry_out(replace(call, row=row), send, deadline)
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            return await self._handle_failure(lane, row, call.content, outcome_of(error))
        outgoing.forget_failures(lane, row.key)
        self._bare.discard(row.key)
        if UNDER in call.content:  # it may show an older state now
            await posts.distrust(row.payload["target_key"])
            outgoing.wake(f"edit/{row.workspace}")
        await self._settle_sent(row, ts, version)
        return 0.0

    async def _settle_sent(
        self, row: PostRow, ts: str | None, version: tuple[int, str | None] | None
    ) -> None:
        await self.outgoing.posts.settle(row, PostState.SENT, ts=ts, version=version)
        if row.post:  # its edits, its pin and its session waited for it
            for kind in ("edit", "pin"):
                self.outgoing.wake(f"{kind}/{row.workspace}")

    async def _handle_failure(
        self,
        lane: str,
        row: PostRow,
        content: Mapping[str, Any],
        outcome: Outcome,
    ) -> float:
        outgoing, posts, words = self.outgoing, self.outgoing.posts, outcome.words
        outgoing.on_error(type(outcome).__name__)
        _log.warning("not sent", post=row.key, reason=words)
        if isinstance(outcome, Rejection):
            if outcome.code in PLACE_GONE or not self._strip(row, content):
                return await self._refuse(row, outcome)
            await posts.settle(row, PostState.WAITING, error=words)
        elif isinstance(outcome, Retry):
            outgoing.hold(lane, outcome)
            await posts.settle(row, PostState.WAITING, error=words)
        elif row.method in UNREPEATABLE:
            outgoing.count_failure(row.key)
            grace = outgoing.pace.grace_of(row.method)
            await posts.settle(row, PostState.SENDING, error=words, after=grace)
        elif outgoing.fails_since(row.key) > outgoing.pace.fails:
            return await self._refuse(row, _FAILS)
        else:
            pause = outgoing.count_failure(row.key)
            await posts.settle(row, PostState.WAITING, error=words, after=pause)
        return 0.0

    def _strip(self, row: PostRow, content: Mapping[str, Any]) -> bool:
        """Send it as bare text from now on; False: it is, or has nothing else."""
        if row.key in self._bare or not _EXTRAS & content.keys():
            return False
        if row.method != "post" and ALONE not in content:
            return False
        self._bare.add(row.key)
        self.outgoing.forget_failures(row.key)
        return True

    async def _reconcile(self, lane: str, row: PostRow) -> float:
        """Look in Slack for a post in doubt; send it again only if it has not arrived."""
        outgoing, posts, pace = self.outgoing, self.outgoing.posts, self.outgoing.pace
        remaining = pace.grace_of(row.method) - row.attempt_age
        # A negative age: the clock was set back, so that the time of the attempt is unknown.
        is_dated = row.attempted_at is not None and row.attempt_age >= 0
        if row.state is PostState.SENDING and is_dated and remaining > 0:
            return await self._put_off(row, remaining)
        workspace = await outgoing.clients.of(row.workspace)
        looks = f"look/{row.workspace}"
        if wait := outgoing.limits.seconds_left(looks):
            return await self._put_off(row, wait)
        claimed = await posts.claim(row, outgoing.leases.owner)
        if claimed is None:
            return await self._lost(lane)
        since = row.attempted_at if is_dated and row.state is PostState.SENDING else None
        if row.debate_id in self.restored:
            since = None  # posted before the backup
        row = replace(claimed, root_ts=row.root_ts)
        call = SlackCall(client=workspace.client, row=row, content=row.payload)
        outgoing.limits.count_call(looks)
        try:
            ts = await find_post(call, since)
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            return await self._not_found_out(row, outcome_of(error))
        _log.info("was in doubt", post=row.key, arrived=ts is not None)
        if ts is None:
            if outgoing.fails_since(row.key) > pace.fails and not self._strip(row, {"blocks": ()}):
                return await self._refuse(row, _FAILS)
            await posts.settle(row, PostState.WAITING, error="It had not arrived.")
            return 0.0
        await self._renew_restored(call, ts, workspace.identity.url)
        outgoing.forget_failures(row.key)
        # Nobody knows which state of a living one went out.
        await self._settle_sent(row, ts, (UNKNOWN, None) if row.post else None)
        return 0.0

    async def _renew_restored(self, call: SlackCall, ts: str, team_url: str) -> None:
        """Have a message from before a restore say what the log says now."""
        row = call.row
        if row.debate_id not in self.restored or row.method != "post" or row.post:
            return
        content, _ = await self.outgoing.with_addresses(row, row.payload, team_url, 0)
        self.outgoing.limits.count_call(f"edit/{row.workspace}")
        try:
            await edit(replace(call, row=replace(row, ts=ts), content=content))
        except Exception as error:  # noqa: BLE001 - it is there, and is not sent again
            _log.warning("not edited", post=row.key, reason=outcome_of(error).words)

    async def _not_found_out(self, row: PostRow, outcome: Outcome) -> float:
        """Slack did not let us look: look later, or send it again where it never will.

        A post that comes twice is worse than none only until nobody can tell: then it is sent.
        """
        outgoing, posts = self.outgoing, self.outgoing.posts
        _log.warning("cannot look for a post", post=row.key, reason=outcome.words)
        if isinstance(outcome, Rejection):
            if outcome.code in PLACE_GONE:
                return await self._refuse(row, outcome)
            await posts.settle(row, PostState.WAITING, error=outcome.words)
            return 0.0
        pause = outcome.after if isinstance(outcome, Retry) else None
        pause = pause or outgoing.count_failure(f"look/{row.key}")
        if isinstance(outcome, Retry):
            outgoing.limits.hold(f"look/{row.workspace}", pause)
        await posts.settle(row, PostState.SENDING, error=outcome.words, after=pause)
        return 0.0

    async def _rendered_posts(self, row: PostRow) -> RenderedPosts | None:
        """What a living post shows now; of another one nothing is made."""
        if not row.post:
            return RenderedPosts(seq=0, contents={row.key: {}})
        try:
            rendered = await self.outgoing.render([row])
        except (DebateUnknown, LogBroken) as error:
            _log.warning("cannot be shown", post=row.key, reason=str(error))
            return None
        return rendered if row.key in rendered.contents else None

    async def _shown_by(self, row: PostRow, target: PostRow | None) -> Mapping[str, Any]:
        """What the post shows now that a row's files hang on; nothing where there is none."""
        if row.method != "upload" or not target or not target.ts:
            return {}
        if (rendered := await self._rendered_posts(target)) is None:
            return {}
        url = (await self.outgoing.clients.of(row.workspace)).identity.url
        content, _ = await self.outgoing.with_addresses(
            target, rendered.contents[target.key], url, rendered.seq
        )
        return {UNDER: content["text"], "blocks": content.get("blocks")} if content else {}

    async def _put_off(self, row: PostRow, seconds: float | None = None) -> float:
        """Have a row wait; usually for as long as the first pause."""
        pause = self.outgoing.pace.first_pause if seconds is None else seconds
        await self.outgoing.posts.put_off(row, pause)
        return 0.0

    async def _lost(self, lane: str) -> float:
        """Another process changed the row first: see whether the lane is still ours."""
        await self.outgoing.leases.confirm(lane)
        return 0.0

    async def _refuse(self, row: PostRow, refusal: Rejection) -> float:
        """Give a row up, so that what stands behind it goes on."""
        _log.warning("refused", post=row.key, reason=refusal.words, code=refusal.code)
        await self.outgoing.on_refused(row, refusal)
        self._bare.discard(row.key)
        self.outgoing.forget_failures(row.key)
        if row.state is PostState.SENDING and row.owner == self.outgoing.leases.owner:
            await self.outgoing.posts.settle(row, PostState.FAILED, error=refusal.words)
        else:
            await self.outgoing.posts.fail(row, refusal.words)
        return 0.0


def _bare(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The text of a content, without parts that Slack may refuse."""
    rest = {name: value for name, value in content.items() if name not in _EXTRAS}
    text = rest.pop(ALONE, rest.get("text", ""))
    return {**rest, "text": str(text)[:_MOST_CHARACTERS]}
