"""The place of debates is gone, or back: a channel archived, the bot or the app removed, a refusal.

What runs there ends: it must not spend money where nobody can read it. With the app go its tokens
and the links to its debates. Where the bot is back, boards, cards and buttons say what holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners.context import ListenerContext, acknowledged, recorded
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
#: How the key of a line about a missing post ends.
_LINE = "/refused"
#: What is missing, by method; a method that is not here is only logged.
_MISSING = {
    "post": "A message could not be posted: {why}",
    "upload": "The report could not be attached: {why}",
    "pin": "The board could not be pinned: {why} The debate goes on.",
}
_BOARD_STAYS = (
    "The board could not be brought up to date: {why} While the debate runs, `stop` alone in a "
    "line here ends it."
)

Body = dict[str, Any]


def register(app: AsyncApp, context: ListenerContext) -> None:
    gone, back = [recorded(context, channel_gone)], [recorded(context, channel_back)]
    app.event("channel_archive", middleware=gone)(acknowledged)
    app.event("group_archive", middleware=gone)(acknowledged)
    app.event("channel_unarchive", middleware=back)(acknowledged)
    app.event("group_unarchive", middleware=back)(acknowledged)
    app.event("member_joined_channel", middleware=back)(acknowledged)
    app.event("app_uninstalled", middleware=[recorded(context, app_removed)])(acknowledged)
    app.event("tokens_revoked", middleware=[recorded(context, tokens_revoked)])(acknowledged)


async def channel_gone(context: ListenerContext, body: Body) -> None:
    event = ChannelEvent.model_validate(body)
    await end_debates(context, event.team_id, _ARCHIVED, channels=[event.channel])


async def channel_back(context: ListenerContext, body: Body) -> None:
    """Post again in a channel that can be used again, or that the bot has joined."""
    back = ChannelEvent.model_validate(body)
    bot = (await context.clients.of(back.team_id)).identity.user_id
    if back.user == bot or back.is_unarchived:
        await context.outbox.find_place(Channel(back.team_id, back.channel))


async def app_removed(context: ListenerContext, body: Body) -> None:
    """End what runs in a workspace that removed the app; forget its tokens and links."""
    event = Delivery.model_validate(body)
    await end_debates(context, event.team_id, _REMOVED)
    await context.records.grants.leave(event.team_id)
    await context.records.tokens.leave(event.team_id)
    await context.clients.leave(event.enterprise_id, event.installed_in)


async def tokens_revoked(context: ListenerContext, body: Body) -> None:
    """Do the same where the bot's token was revoked; people's are not kept."""
    if value_at(body, "event", "tokens", "bot"):
        await app_removed(context, body)


async def end_debates(
    context: ListenerContext, team: str, reason: str, *, channels: Sequence[str] | None = None
) -> None:
    filters = DebateFilter(workspace=team, channels=channels, open_only=True, limit=_MOST)
    for entry in await context.acts.find.store.find(filters):
        await context.acts.steer.give_up(entry.debate_id, reason)


@dataclass(frozen=True, kw_only=True)
class RefusedPosts:
    """Decides what to do about posts that never arrive. Doing it twice does no harm."""

    steer: SteerDebate
    outbox: Outbox

    async def __call__(self, row: PostRow, refusal: Rejection) -> None:
        """Take note of one refusal.

        Without its board, or with its place gone, a debate ends and its starter is told in a direct
        message: it must not spend money where nobody can follow. Of any other post a line in the
        thread says that it is missing.
        """
        try:
            if row.debate_id is not None:
                await self._take_note(row, row.debate_id, refusal)
        except (DebateUnknown, LogBroken) as error:
            # It stays so: the posts of other debates in the channel must not wait for it.
            _log.warning("refused post not followed up", key=row.key, reason=str(error))

    async def _take_note(self, row: PostRow, debate_id: str, refusal: Rejection) -> None:
        asked_by = (await self.steer.facts.debate(debate_id)).setup.asked_by.id
        if _is_place_gone(row, debate_id, refusal):
            if refusal.code not in CLOSED_TO_POSTS:  # else the board can say that it has ended
                await self.outbox.posts.lose_place(row, refusal.reason)
            await self.steer.give_up(debate_id, refusal.reason)
            where = f"Debate `{debate_id}` in <#{row.channel}>"
            post = NewPost(
                key=f"{debate_id}/undelivered",
                workspace=row.workspace,
                channel=asked_by,
                method="post",
                payload={"text": f"{where} cannot go on: {refusal.reason}"},
            )
            await self.outbox.post([post])
        elif row.method == "post" and "thread_ts" in row.payload and row.ts is None:
            # A thread of people's own that takes no replies: who asked learns it in the channel.
            payload = {**row.payload, "user": asked_by}
            del payload["thread_ts"]
            here, key = Channel(row.workspace, row.channel), f"{row.key}{_LINE}"
            await self.outbox.whisper(here, payload, key=key, debate_id=debate_id)
        elif post := line_about(row, debate_id, refusal):
            await self.outbox.post([post])


def _is_place_gone(row: PostRow, debate_id: str, refusal: Rejection) -> bool:
    """Whether the refusal leaves a debate without its board or its place.

    A deleted board is no such case: the thread goes on. Nor is a thread of people's own that is
    gone. Edits of the board count: a quiet thread has one post per round.
    """
    if row.state is PostState.SENT:
        return refusal.code in PLACE_GONE - MESSAGE_GONE
    is_own_post = row.method == "post" and "thread_ts" not in row.payload
    is_closed = refusal.code in PLACE_GONE | CLOSED_TO_POSTS
    return row.key == board_key(debate_id) or (is_own_post and is_closed)


def line_about(row: PostRow, debate_id: str, refusal: Rejection) -> NewPost | None:
    """The line in the thread that says what is missing.

    Nothing takes the place of such a line: where it is refused, too, every other post would be.
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
        payload=notice(f":warning: {missing.format(why=refusal.reason)}").payload,
    )
