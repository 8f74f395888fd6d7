"""Calls of Slack: the first call of a row, edits of living posts, searches for posts in doubt."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.log import logger
from bot.queue.outgoing import IS_UNSENT, NO_CLIENT, Outgoing, RenderedPosts, digest, with_grace
from bot.queue.rows import UNKNOWN, PostRow, PostState, Version
from bot.queue.slack_calls import (
    ALONE,
    SESSION,
    UNDER,
    UNREPEATABLE,
    SlackCall,
    edit,
    find_post,
    send,
)
from bot.slack.client import NotInstalled
from bot.slack.limits import UPDATE_TEXT
from bot.slack.outcomes import NOT_FOR_THIS_APP, PLACE_GONE, Outcome, Rejection, Retry, outcome_of

_log = logger(__name__)

_NO_ROOT = Rejection("the message it belongs to was never posted", "root_missing")
_FAILS = Rejection("It keeps failing.", "keeps_failing")
#: Parts of a message that bare text does not have.
_EXTRAS = frozenset({"blocks", "username", "icon_emoji", "files"})
_MOST_CHARACTERS = UPDATE_TEXT - 100


@dataclass
class FirstCalls:
    outgoing: Outgoing
    #: Debates restored from a backup, whose posts may be in Slack already.
    restored: frozenset[str] = frozenset()
    #: The next row of each lane, and the time since when it is next.
    fronts: dict[str, tuple[str, float]] = field(default_factory=dict[str, tuple[str, float]])

    def __post_init__(self) -> None:
        #: Keys of posts that are sent as bare text, because Slack refuses their other parts.
        self._bare = set[str]()

    async def step(self, lane: str) -> float | None:
        """Process a lane's next row; see `bot.queue.outbox.Step`."""
        outgoing = self.outgoing
        row = await outgoing.posts.next_for(lane)
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
                await self._reconcile(lane, row)
            elif wait := outgoing.limits.seconds_left(lane):
                return wait
            else:
                await self._send(lane, row)
        except NotInstalled as error:
            await self._refuse(row, Rejection(str(error), "not_installed"))
        except NO_CLIENT as error:
            # Nothing was sent, so the call may come later.
            outgoing.hold(lane, outcome_of(error))
            return outgoing.limits.seconds_left(lane)
        return 0.0

    async def _send(self, lane: str, row: PostRow) -> None:
        outgoing, posts = self.outgoing, self.outgoing.posts
        if row.thread_key and row.root_ts is None:
            if row.root_state in IS_UNSENT:
                await posts.put_off(row, outgoing.pace.first_pause)
            else:
                await self._refuse(row, _NO_ROOT)
            return
        # The bot's message that it reacts to, or that its files are attached to.
        key = row.payload.get("target_key")
        target = await posts.row_by_key(key) if key else None
        rendered = await outgoing.rendered([row] if row.post else [])
        if rendered is None:
            if outgoing.keeps_failing(row.key):  # so that later rows do not wait for ever
                await self._refuse(row, _FAILS)
            return
        if row.method == "upload" and target and target.ts and target.post:
            # If that message cannot be rendered, the files are sent on their own.
            rendered = await outgoing.rendered([target]) or rendered
        call, version = await self._made_call(row, target, rendered)
        if call is None:
            await posts.put_off(row, outgoing.pace.first_pause)
            return
        await with_grace(self._call(lane, call, version))

    async def _made_call(
        self, row: PostRow, target: PostRow | None, rendered: RenderedPosts
    ) -> tuple[SlackCall | None, Version | None]:
        """The call, and the version of a living post; None: a post that it links to is not sent."""
        outgoing, seq = self.outgoing, rendered.seq
        workspace = await outgoing.clients.for_workspace(row.workspace)
        url, shown = workspace.identity.url, rendered.contents.get(row.key, {})
        content, is_early = await outgoing.with_addresses(row, {**row.payload, **shown}, url, seq)
        version: Version | None = None
        if row.post:
            # With links to posts that are not sent yet, the content is not the newest state.
            version = (0 if is_early else seq), digest({name: content[name] for name in shown})
        elif is_early:
            return None, None
        if row.key in self._bare:
            row, content = replace(row, method="post"), _bare(content)
            version = (UNKNOWN, None) if version else None  # an edit adds the other parts
        elif target and target.key in rendered.contents:
            beneath = rendered.contents[target.key]
            beneath, _ = await outgoing.with_addresses(target, beneath, url, seq)
            content = {**content, UNDER: beneath["text"], "blocks": beneath.get("blocks")}
        ts = target.ts if target else None
        return SlackCall(workspace.client, row, content, target_ts=ts), version

    async def _call(self, lane: str, call: SlackCall, version: Version | None) -> None:
        outgoing, posts = self.outgoing, self.outgoing.posts
        began = time.monotonic()
        row = await posts.claim(call.row, outgoing.leases.owner)
        if row is None:
            await outgoing.leases.confirm(lane)
            return
        row = replace(row, root_ts=call.row.root_ts, method=call.row.method)
        lease = began + outgoing.pace.lease_of(row.method)
        deadline = min(lease, outgoing.leases.deadline(lane))
        outgoing.limits.count_call(lane)
        try:
            ts = await outgoing.carry_out(replace(call, row=row), send, deadline)
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            await self._handle_failure(lane, row, call.content, outcome_of(error))
            return
        outgoing.forget_failures(lane)
        if UNDER in call.content:  # the message may show an older state now
            await posts.distrust(row.payload["target_key"])
            outgoing.wake(f"edit/{row.workspace}")
        await self._settle_sent(row, ts, version)

    async def _settle_sent(self, row: PostRow, ts: str | None, version: Version | None) -> None:
        self._bare.discard(row.key)
        self.outgoing.forget_failures(row.key)
        await self.outgoing.posts.settle(row, PostState.SENT, ts=ts, version=version)
        if row.post:  # its edits, pin and session waited for the first call
            for kind in ("edit", "pin"):
                self.outgoing.wake(f"{kind}/{row.workspace}")

    async def _handle_failure(
        self, lane: str, row: PostRow, content: Mapping[str, Any], outcome: Outcome
    ) -> None:
        outgoing, posts, words = self.outgoing, self.outgoing.posts, outcome.reason
        outgoing.on_error(type(outcome).__name__)
        _log.warning("not sent", post=row.key, reason=words)
        if isinstance(outcome, Rejection):
            if outcome.code in PLACE_GONE or not self._strip(row, content):
                await self._refuse(row, outcome)
            else:
                await posts.settle(row, PostState.WAITING, error=words)
        elif isinstance(outcome, Retry):
            outgoing.hold(lane, outcome)
            await posts.settle(row, PostState.WAITING, error=words)
        elif row.method in UNREPEATABLE:
            outgoing.count_failure(row.key)
            grace = outgoing.pace.grace_of(row.method)
            await posts.settle(row, PostState.SENDING, error=words, after=grace)
        elif outgoing.keeps_failing(row.key):
            await self._refuse(row, _FAILS)
        else:
            pause = outgoing.count_failure(row.key)
            await posts.settle(row, PostState.WAITING, error=words, after=pause)

    def _strip(self, row: PostRow, content: Mapping[str, Any]) -> bool:
        """Send a post as bare text from now on; False if it is bare text already."""
        has_text = row.method == "post" or ALONE in content
        if row.key in self._bare or not has_text or not _EXTRAS & content.keys():
            return False
        self._bare.add(row.key)
        self.outgoing.forget_failures(row.key)
        return True

    async def _reconcile(self, lane: str, row: PostRow) -> None:
        """Search Slack for a post in doubt; send it again only if it has not arrived."""
        outgoing, posts = self.outgoing, self.outgoing.posts
        # If the clock was set back, the age is negative and the time of the attempt unknown.
        is_dated = row.state is PostState.SENDING and row.attempt_age >= 0
        remaining = outgoing.pace.grace_of(row.method) - row.attempt_age
        looks = f"look/{row.workspace}"
        wait = remaining if is_dated and remaining > 0 else outgoing.limits.seconds_left(looks)
        if wait:
            await posts.put_off(row, wait)
            return
        workspace = await outgoing.clients.for_workspace(row.workspace)
        claimed = await posts.claim(row, outgoing.leases.owner)
        if claimed is None:
            await outgoing.leases.confirm(lane)
            return
        # A restored debate posted it before the backup.
        since = row.attempted_at if is_dated and row.debate_id not in self.restored else None
        row = replace(claimed, root_ts=row.root_ts)
        call = SlackCall(workspace.client, row, row.payload)
        outgoing.limits.count_call(looks)
        try:
            ts = await find_post(call, since)
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            await self._handle_failed_look(row, outcome_of(error))
            return
        outgoing.forget_failures(looks, f"look/{row.key}")
        _log.info("was in doubt", post=row.key, arrived=ts is not None)
        if ts is not None:
            await self._renew_restored(call, ts, workspace.identity.url)
            # Unknown, because any state of a living post may have been sent.
            await self._settle_sent(row, ts, (UNKNOWN, None) if row.post else None)
        elif outgoing.keeps_failing(row.key) and not self._strip(row, {"blocks": ()}):
            await self._refuse(row, _FAILS)
        else:
            await posts.settle(row, PostState.WAITING, error="It had not arrived.")

    async def _renew_restored(self, call: SlackCall, ts: str, team_url: str) -> None:
        """Edit a message from before a restore to the content in the restored log."""
        row = call.row
        if row.debate_id not in self.restored or row.method != "post" or row.post:
            return
        content, _ = await self.outgoing.with_addresses(row, call.content, team_url, 0)
        self.outgoing.limits.count_call(f"edit/{row.workspace}")
        try:
            await edit(replace(call, row=replace(row, ts=ts), content=content))
        except Exception as error:  # noqa: BLE001 - the message is in Slack, so it is not sent again
            _log.warning("not edited", post=row.key, reason=outcome_of(error).reason)

    async def _handle_failed_look(self, row: PostRow, outcome: Outcome) -> None:
        """Search again later. If Slack refuses the search for good, send the post again.

        If the place is gone, give the post up.
        """
        outgoing, posts = self.outgoing, self.outgoing.posts
        _log.warning("cannot look for a post", post=row.key, reason=outcome.reason)
        if isinstance(outcome, Rejection) and outcome.code in PLACE_GONE:
            await self._refuse(row, outcome)
        elif isinstance(outcome, Rejection):
            await posts.settle(row, PostState.WAITING, error=outcome.reason)
        else:
            looks = f"look/{row.workspace}"
            if isinstance(outcome, Retry):
                outgoing.hold(looks, outcome)
            pause = outgoing.limits.seconds_left(looks)
            pause = max(pause, outgoing.count_failure(f"look/{row.key}"))
            await posts.settle(row, PostState.SENDING, error=outcome.reason, after=pause)

    async def _refuse(self, row: PostRow, refusal: Rejection) -> None:
        """Give up a row, so that later rows are sent."""
        outgoing = self.outgoing
        _log.warning("refused", post=row.key, reason=refusal.reason, code=refusal.code)
        await outgoing.on_refused(row, refusal)
        self._bare.discard(row.key)
        outgoing.forget_failures(row.key)
        if row.state is PostState.SENDING and row.owner == outgoing.leases.owner:
            await outgoing.posts.settle(row, PostState.FAILED, error=refusal.reason)
        else:
            await outgoing.posts.fail(row, refusal.reason)


def _bare(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The text of a content, without parts that Slack may refuse."""
    fields = {name: value for name, value in content.items() if name not in _EXTRAS}
    text = fields.pop(ALONE, fields.get("text", ""))
    return {**fields, "text": str(text)[:_MOST_CHARACTERS]}


#: Refusals for a message that can never be edited again.
MESSAGE_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})


@dataclass
class Edits:
    outgoing: Outgoing

    async def step(self, lane: str) -> float | None:
        """Edit living posts of one debate; see `bot.queue.outbox.Step`.

        Nothing is rendered while the lane waits for its rate limit.
        """
        outgoing, min_pause = self.outgoing, self.outgoing.pace.rest
        if wait := outgoing.limits.seconds_left(lane):
            return wait
        rows = await outgoing.posts.stale(lane, min_pause)
        if not rows:
            due = await outgoing.posts.edit_due_in(lane, min_pause)
            return None if due is None else max(due, 0.01)
        try:
            await self._edit_first(lane, rows)
        except NotInstalled as error:
            await self._refuse(rows[0], Rejection(str(error), "not_installed"), 0, None)
        except NO_CLIENT as error:
            # Nothing was sent, so the call may come later.
            outcome = outcome_of(error)
            outgoing.hold(lane, outcome)
            _log.warning("not edited", post=rows[0].key, reason=outcome.reason)
        return 0.0

    async def _edit_first(self, lane: str, rows: Sequence[PostRow]) -> None:
        """Edit the first post whose content changed, and record those before it as up to date."""
        outgoing = self.outgoing
        rendered = await outgoing.rendered(rows)
        if rendered is None:
            return
        workspace = await outgoing.clients.for_workspace(rows[0].workspace)
        url, seq = workspace.identity.url, rendered.seq
        unchanged = list[PostRow]()
        for row in rows:
            shown = rendered.contents[row.key]
            content, is_early = await outgoing.with_addresses(row, shown, url, seq)
            if is_early:
                await outgoing.posts.put_off(row, outgoing.pace.first_pause)
            elif digest(content) == row.shown_hash:
                unchanged.append(row)
            else:
                call = SlackCall(workspace.client, row, content)
                await with_grace(self._edit(lane, call, seq))
                break
        if unchanged and not await outgoing.posts.note_unchanged(
            unchanged, outgoing.leases.owner, seq
        ):
            await outgoing.leases.confirm(lane)

    async def _edit(self, lane: str, call: SlackCall, seq: int) -> None:
        outgoing, row = self.outgoing, call.row
        lease = time.monotonic() + outgoing.pace.lease_of(row.method)
        deadline = min(lease, outgoing.leases.deadline(lane))
        outgoing.limits.count_call(lane)
        try:
            await outgoing.carry_out(call, edit, deadline)
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            await self._handle_failure(lane, call, seq, outcome_of(error))
            return
        outgoing.forget_failures(lane, row.key)
        await self._note(row, seq, digest(call.content), None)

    async def _note(self, row: PostRow, seq: int, hash_: str, error: str | None) -> None:
        """Record the version that Slack shows now, unless it is unknown."""
        posts = self.outgoing.posts
        if not await posts.record_version(
            row, self.outgoing.leases.owner, seq=seq, hash_=hash_, error=error
        ):
            # The lane was lost during the call, or the row was marked as unknown: an older state
            # may have arrived after a newer one.
            await posts.distrust(row.key)

    async def _handle_failure(self, lane: str, call: SlackCall, seq: int, outcome: Outcome) -> None:
        """Handle a failed edit. The row stays stale, so the next attempt renders a newer state."""
        outgoing, row = self.outgoing, call.row
        outgoing.on_error(type(outcome).__name__)
        if row.method != SESSION or not isinstance(outcome, Rejection):
            _log.warning("not edited", post=row.key, reason=outcome.reason)
        if isinstance(outcome, Rejection):
            await self._refuse(row, outcome, seq, call.content)
        elif isinstance(outcome, Retry):
            outgoing.hold(lane, outcome)
        else:  # so that a row that always fails does not block the lane
            await outgoing.posts.put_off(row, outgoing.count_failure(row.key))

    async def _refuse(
        self, row: PostRow, refusal: Rejection, seq: int, content: Mapping[str, Any] | None
    ) -> None:
        """Give up a living post, or wait until its content changes."""
        posts, final = self.outgoing.posts, PLACE_GONE | MESSAGE_GONE
        if row.method == SESSION:  # if the app is no agent, board and thread show the same
            final |= NOT_FOR_THIS_APP
        else:
            await self.outgoing.on_refused(row, refusal)
        if content is None or refusal.code in final:
            await posts.fail(row, refusal.reason)
            return
        await self._note(row, seq, digest(content), refusal.reason)
        if row.method == "pin" and row.thread_key:
            await posts.distrust(row.thread_key)  # the board shows the reason
            self.outgoing.wake(f"edit/{row.workspace}")
