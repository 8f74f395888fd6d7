"""Ends debates in a channel that is gone for the bot, and posts again if the channel comes back.

A channel is gone if it was archived, if the bot or the app was removed, or if Slack refuses posts.
Debates there end, because they must not spend money where nobody can read them. If the app is
removed, its tokens and the links to its debates are deleted. If the bot is back, boards, cards and
buttons are posted in their current state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners.context import ListenerContext, acknowledge, record_first
from bot.log import logger
from bot.queue.calls import MESSAGE_GONE
from bot.queue.outbox import Outbox
from bot.queue.rows import NewPost, PostRow, PostState
from bot.slack.ids import board_key
from bot.slack.origins import value_at
from bot.slack.outcomes import CLOSED_TO_POSTS, PLACE_GONE, Rejection
from bot.slack.payloads import ChannelEvent, Delivery
from bot.store.tables import Channel
from bot.views.message import notice
from core.errors import DebateUnknown, LogBroken
from core.ports import DebateFilter
from core.use_cases.steer import SteerDebate

_log = logger(__name__)

_ARCHIVED = "The channel was archived."
_REMOVED = "Moot was removed from the workspace."
_MOST = 1000
#: Suffix of the key of a line about a missing post.
_LINE = "/refused"
#: The text of the line, by method; failures of other methods are only logged.
_MISSING = {
    "post": "A message could not be posted: {reason}",
    "upload": "The report could not be attached: {reason}",
    "pin": "The board could not be pinned: {reason} The debate goes on.",
}
_BOARD_STAYS = (
    "The board could not be brought up to date: {reason} While the debate runs, `stop` alone in a "
    "line here ends it."
)

Body = dict[str, Any]


def register(app: AsyncApp, context: ListenerContext) -> None:
    gone, back = (
        [record_first(context, on_channel_archived)],
        [record_first(context, on_channel_available)],
    )
    app.event("channel_archive", middleware=gone)(acknowledge)
    app.event("group_archive", middleware=gone)(acknowledge)
    app.event("channel_unarchive", middleware=back)(acknowledge)
    app.event("group_unarchive", middleware=back)(acknowledge)
    app.event("member_joined_channel", middleware=back)(acknowledge)
    app.event("app_uninstalled", middleware=[record_first(context, on_app_removed)])(acknowledge)
    app.event("tokens_revoked", middleware=[record_first(context, on_tokens_revoked)])(acknowledge)


async def on_channel_archived(context: ListenerContext, body: Body) -> None:
    event = ChannelEvent.model_validate(body)
    await end_debates(context, event.team_id, _ARCHIVED, channels=[event.channel])


async def on_channel_available(context: ListenerContext, body: Body) -> None:
    """Post again in a channel that was unarchived, or that the bot has joined."""
    event = ChannelEvent.model_validate(body)
    bot = (await context.clients.for_workspace(event.team_id)).identity.user_id
    if event.user == bot or event.is_unarchived:
        await context.outbox.find_place(Channel(event.team_id, event.channel))


async def on_app_removed(context: ListenerContext, body: Body) -> None:
    """End the debates of a workspace that removed the app; delete its tokens and links."""
    event = Delivery.model_validate(body)
    await end_debates(context, event.team_id, _REMOVED)
    await context.records.grants.leave(event.team_id)
    await context.records.tokens.leave(event.team_id)
    await context.clients.leave(event.enterprise_id, event.installed_in)


async def on_tokens_revoked(context: ListenerContext, body: Body) -> None:
    """Do the same if the bot's token was revoked; tokens of people are not stored."""
    if value_at(body, "event", "tokens", "bot"):
        await on_app_removed(context, body)


async def end_debates(
    context: ListenerContext, team: str, reason: str, *, channels: Sequence[str] | None = None
) -> None:
    filters = DebateFilter(workspace=team, channels=channels, open_only=True, limit=_MOST)
    for entry in await context.acts.find.store.find(filters):
        await context.acts.steer.give_up(entry.debate_id, reason)


@dataclass(frozen=True, kw_only=True)
class RefusedPosts:
    """Handles posts that Slack refuses for good. Calls can be repeated."""

    steer: SteerDebate
    outbox: Outbox

    async def __call__(self, row: PostRow, refusal: Rejection) -> None:
        """Handle one refusal.

        If the board or the channel is gone, the debate ends, and its starter gets a direct message.
        For a post, a file or a pin in the thread, a line there reports that it is missing. A reply
        for the thread that asked for the debate is shown to its starter alone, in the channel.
        """
        try:
            if row.debate_id is not None:
                await self._follow_up(row, row.debate_id, refusal)
        except (DebateUnknown, LogBroken) as error:
            # A retry would fail, too, and delay the posts of other debates in the channel.
            _log.warning("refused post not followed up", key=row.key, reason=str(error))

    async def _follow_up(self, row: PostRow, debate_id: str, refusal: Rejection) -> None:
        asked_by = (await self.steer.facts.debate(debate_id)).setup.asked_by.id
        if _is_place_gone(row, debate_id, refusal):
            if refusal.code not in CLOSED_TO_POSTS:  # else the board can still show the end
                await self.outbox.posts.lose_place(row, refusal.reason)
            await self.steer.give_up(debate_id, refusal.reason)
            debate = f"Debate `{debate_id}` in <#{row.channel}>"
            post = NewPost(
                key=f"{debate_id}/undelivered",
                workspace=row.workspace,
                channel=asked_by,
                method="post",
                payload={"text": f"{debate} cannot go on: {refusal.reason}"},
            )
            await self.outbox.post([post])
        elif row.method == "post" and "thread_ts" in row.payload and row.ts is None:
            # The thread that asked for the debate takes no replies: tell its author in the channel.
            payload = {**row.payload, "user": asked_by}
            del payload["thread_ts"]
            here, key = Channel(row.workspace, row.channel), f"{row.key}{_LINE}"
            await self.outbox.whisper(here, payload, key=key, debate_id=debate_id)
        elif post := line_about(row, debate_id, refusal):
            await self.outbox.post([post])


def _is_place_gone(row: PostRow, debate_id: str, refusal: Rejection) -> bool:
    """Whether the refusal means that the debate has lost its board or its channel.

    A deleted board does not count, because its thread stays, nor does a deleted thread that asked
    for the debate. Refused edits of the board count, because a quiet thread has few posts.
    """
    if row.state is PostState.SENT:
        return refusal.code in PLACE_GONE - MESSAGE_GONE
    is_own_post = row.method == "post" and "thread_ts" not in row.payload
    is_closed = refusal.code in PLACE_GONE | CLOSED_TO_POSTS
    return row.key == board_key(debate_id) or (is_own_post and is_closed)


def line_about(row: PostRow, debate_id: str, refusal: Rejection) -> NewPost | None:
    """The line in the thread that reports a missing post; None if there is none.

    There is no line about such a line: if it is refused, every other post would be refused, too.
    """
    board, missing = board_key(debate_id), _MISSING.get(row.method)
    if row.method == "post" and row.state is PostState.SENT:  # its edit was refused
        missing = _BOARD_STAYS if row.key == board else None
    if missing is None or row.key.endswith(_LINE) or "thread_ts" in row.payload:
        return None
    return NewPost(
        key=f"{row.key}{_LINE}",
        workspace=row.workspace,
        channel=row.channel,
        debate_id=debate_id,
        thread_key=board,
        method="post",
        payload=notice(f":warning: {missing.format(reason=refusal.reason)}").payload,
    )
