"""Living posts: rendered when Slack's pace allows, and edited where they look different then."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.log import logger
from bot.queue.outgoing import NO_CLIENT, Outgoing, digest, with_grace
from bot.queue.rows import PostRow
from bot.queue.slack_calls import SESSION, SlackCall, edit
from bot.slack.client import NotInstalled
from bot.slack.outcomes import NOT_FOR_THIS_APP, PLACE_GONE, Outcome, Rejection, Retry, outcome_of
from core.errors import DebateUnknown, LogBroken, StoreError

_log = logger(__name__)

#: Refusals that mean: this message can be edited no more.
MESSAGE_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
#: Who began a session: must be in the channel when it is made
#: (https://docs.slack.dev/reference/methods/agents.sessions.setStatus).
_STARTER, _STARTER_GONE = "initiator_user_id", "user_not_in_channel"


@dataclass
class Edits:
    outgoing: Outgoing

    async def step(self, lane: str) -> float | None:
        """Bring one debate's living posts a step further; see `bot.queue.outbox.Step`.

        The pace is waited for first: nothing is rendered for a lane that waits.
        """
        outgoing, rest = self.outgoing, self.outgoing.pace.rest
        if wait := outgoing.limits.seconds_left(lane):
            return wait
        rows = await outgoing.posts.stale(lane, rest)
        if not rows:
            due = await outgoing.posts.edit_due_in(lane, rest)
            return None if due is None else max(due, 0.01)
        try:
            return await self._bring_up(lane, rows)
        except NotInstalled as error:
            await self._refuse(rows[0], Rejection(str(error), "not_installed"), 0, None)
        except NO_CLIENT as error:
            # Nothing was sent, so the call may come later.
            outcome = outcome_of(error)
            outgoing.hold(lane, outcome)
            _log.warning("not edited", post=rows[0].key, reason=outcome.words)
        return 0.0

    async def _bring_up(self, lane: str, rows: Sequence[PostRow]) -> float:
        """Edit the first of the posts that looks different, and note all that do not."""
        outgoing = self.outgoing
        try:
            rendered = await outgoing.render(rows)
        except (DebateUnknown, LogBroken) as error:
            for row in rows:
                await outgoing.posts.fail(row, str(error))
            return 0.0
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - a fault of ours: these rows alone wait, not the workspace's edits
            _log.exception("cannot be shown", post=rows[0].key)
            pause = outgoing.count_failure(rows[0].key)
            for row in rows:
                await outgoing.posts.put_off(row, pause)
            return 0.0
        workspace = await outgoing.clients.of(rows[0].workspace)
        same = list[PostRow]()
        for row in rows:
            if row.key not in rendered.contents:
                await outgoing.posts.fail(row, "There is nothing to show any more.")
                continue
            content, is_early = await outgoing.with_addresses(
                row, rendered.contents[row.key], workspace.identity.url, rendered.seq
            )
            if is_early:
                await outgoing.posts.put_off(row, outgoing.pace.first_pause)
            elif digest(content) == row.shown_hash:
                same.append(row)
            elif row.method == SESSION and row.workspace in outgoing.without_sessions:
                await self._note(row, rendered.seq, digest(content), None)
            else:
                call = SlackCall(client=workspace.client, row=row, content=content)
                await with_grace(self._edit(lane, call, rendered.seq))
                break
        if same and not await outgoing.posts.note_same(same, outgoing.leases.owner, rendered.seq):
            await outgoing.leases.confirm(lane)
        return 0.0

    async def _edit(self, lane: str, call: SlackCall, seq: int) -> None:
        outgoing, row = self.outgoing, call.row
        lease = time.monotonic() + outgoing.pace.lease_of(row.method)
        deadline = min(lease, outgoing.leases.deadline(lane))
        outgoing.limits.count_call(lane)
        try:
            await self._carry_out(call, deadline)
        except Exception as error:  # noqa: BLE001 - `outcome_of` tells them apart
            await self._handle_failure(lane, call, seq, outcome_of(error))
            return
        outgoing.forget_failures(lane, row.key)
        await self._note(row, seq, digest(call.content), None)

    async def _note(self, row: PostRow, seq: int, hash_: str, error: str | None) -> None:
        """Note what Slack shows now, unless nobody knows that any more."""
        posts = self.outgoing.posts
        if not await posts.record_version(
            row, self.outgoing.leases.owner, seq=seq, hash_=hash_, error=error
        ):
            # The lane was lost during the call, or somebody distrusts the row: an older state may
            # have come after a newer one.
            await posts.distrust(row.key)

    async def _handle_failure(self, lane: str, call: SlackCall, seq: int, outcome: Outcome) -> None:
        """It is stale still: what is tried next is newer."""
        outgoing, row = self.outgoing, call.row
        outgoing.on_error(type(outcome).__name__)
        if row.method != SESSION or not isinstance(outcome, Rejection):
            _log.warning("not edited", post=row.key, reason=outcome.words)
        if isinstance(outcome, Rejection):
            await self._refuse(row, outcome, seq, call.content)
        elif isinstance(outcome, Retry):
            outgoing.hold(lane, outcome)
        else:  # one that always fails must not starve the lane
            await outgoing.posts.put_off(row, outgoing.count_failure(row.key))

    async def _refuse(
        self, row: PostRow, refusal: Rejection, seq: int, content: Mapping[str, Any] | None
    ) -> None:
        """Try it no more, or not until it looks different."""
        posts = self.outgoing.posts
        if row.method == SESSION:
            # Where the app is no agent, board and thread say what a session would.
            _log.info("no session", workspace=row.workspace, code=refusal.code)
            if refusal.code in NOT_FOR_THIS_APP:
                self.outgoing.without_sessions.add(row.workspace)
        else:
            await self.outgoing.on_refused(row, refusal)
        if content is None or refusal.code in PLACE_GONE | MESSAGE_GONE:
            await posts.fail(row, refusal.words)
            return
        await self._note(row, seq, digest(content), refusal.words)
        if row.method == "pin" and row.thread_key:
            await posts.distrust(row.thread_key)  # the board says so
            self.outgoing.wake(f"edit/{row.workspace}")

    async def _carry_out(self, call: SlackCall, deadline: float) -> None:
        try:
            await self.outgoing.carry_out(call, edit, deadline)
        except SlackApiError as error:
            outcome = outcome_of(error)
            is_starter_gone = isinstance(outcome, Rejection) and outcome.code == _STARTER_GONE
            if not is_starter_gone or _STARTER not in call.content:
                raise
            # The starter has left the channel: make the session without them.
            rest = {name: call.content[name] for name in call.content if name != _STARTER}
            await self.outgoing.carry_out(replace(call, content=rest), edit, deadline)
