"""The place of debates is gone: a channel archived, the app removed, posts refused for good.

What runs there ends: it must not spend money where nobody can read it. With the app go its tokens
and the links to its debates.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.listeners.context import ListenerContext
from bot.slack.ids import board_key
from bot.slack.outbox.outcomes import PLACE_GONE, Rejected
from bot.slack.outbox.sender import Outbox
from bot.slack.payloads import ChannelGone, TeamEvent, TokensRevoked
from bot.store.posts import NewPost, PostRow
from bot.views.notices import notice
from core.ports import DebateFilter
from core.use_cases.steer import SteerDebate

_ARCHIVED = "The channel was archived."
_REMOVED = "Moot was removed from the workspace."
_MOST = 1000
#: Refusals that concern one thread only.
_THREAD_GONE = frozenset({"thread_not_found", "message_not_found"})
#: What Slack says about an edit of a message that was deleted.
_BOARD_GONE = frozenset({"message_not_found", "cant_update_message"})
_EXTRAS = ("blocks", "username", "icon_emoji")
_MOST_CHARACTERS = 3900

Next = Callable[[], Awaitable[None]]
Body = dict[str, Any]


def register(app: AsyncApp, context: ListenerContext) -> None:
    """Listen to the ends of places; they are recorded before they are acknowledged."""

    async def channel_gone(body: Body, next_: Next) -> None:
        gone = ChannelGone.model_validate(body)
        await end_debates(context, gone.team_id, _ARCHIVED, channels=[gone.channel])
        await next_()

    async def leave(event: TeamEvent) -> None:
        await end_debates(context, event.team_id, _REMOVED)
        await context.grants.leave(event.team_id)
        await context.tokens.leave(event.team_id)
        await context.clients.leave(event.enterprise_id, event.installed_in)

    async def app_removed(body: Body, next_: Next) -> None:
        event = TeamEvent.model_validate(body)
        await leave(event)
        await next_()

    async def tokens_revoked(body: Body, next_: Next) -> None:
        event = TokensRevoked.model_validate(body)
        if event.bots:
            await leave(event)
        await next_()

    async def acknowledged() -> None:
        """Everything was done before the acknowledgement."""

    app.event("channel_archive", middleware=[channel_gone])(acknowledged)
    app.event("group_archive", middleware=[channel_gone])(acknowledged)
    app.event("app_uninstalled", middleware=[app_removed])(acknowledged)
    app.event("tokens_revoked", middleware=[tokens_revoked])(acknowledged)


async def end_debates(
    context: ListenerContext, team: str, reason: str, *, channels: Sequence[str] | None = None
) -> None:
    """End every running debate of a workspace, or of some of its channels."""
    wanted = DebateFilter(workspace=team, channels=channels, open_only=True, limit=_MOST)
    for entry in await context.find.store.find(wanted):
        await context.steer.give_up(entry.debate_id, reason)


@dataclass(frozen=True, kw_only=True)
class RefusedPosts:
    """Decides what to do about posts that never arrive. Doing it twice does no harm."""

    steer: SteerDebate
    outbox: Outbox

    async def __call__(self, row: PostRow, refusal: Rejected) -> None:
        """Take note of one refusal.

        Without its board, or with its place gone, a debate ends and its starter is told: it must
        not spend money where nobody can follow. Other posts are sent once more as bare text.
        A lost pin, board or report is told in the thread; anything else is only logged.
        """
        if row.debate_id is None:
            return
        board = board_key(row.debate_id)
        is_board_edit = row.payload.get("target_key") == board
        match row.method:
            case "pin":
                words = f":pushpin: The board could not be pinned: {refusal.words}"
                post = _notice(row, f"{words} The debate goes on.")
            case "upload":
                words = f":paperclip: The report could not be attached: {refusal.words}"
                post = _notice(row, words)
            case "update" if is_board_edit and refusal.code in _BOARD_GONE:
                words = (
                    ":warning: The board of this debate was deleted; all of it is in this thread. "
                    f"While it runs, `/debate stop {row.debate_id}` ends it."
                )
                post = _notice(row, words, key=f"{board}/lost")
            case "post" if "thread_ts" in row.payload and refusal.code in _THREAD_GONE:
                return  # the thread that asked for the debate; the debate has its own
            case "post" | "update" if row.key == board or (
                refusal.code in PLACE_GONE and (row.method == "post" or is_board_edit)
            ):
                # A quiet thread has a post per round only: the board's edits bring the news sooner.
                # Its starter is told in a direct message.
                await self.steer.give_up(row.debate_id, refusal.words)
                debate = await self.steer.facts.debate(row.debate_id)
                where = f"Debate `{row.debate_id}` in <#{row.channel}>"
                post = NewPost(
                    key=f"{row.debate_id}/undelivered",
                    workspace=row.workspace,
                    channel=debate.setup.asked_by.id,
                    method="post",
                    payload={"text": f"{where} cannot go on: {refusal.words}"},
                )
            case "post" if any(extra in row.payload for extra in _EXTRAS):
                # The same words without what Slack may have refused.
                text = str(row.payload.get("text", ""))
                kept = {name: value for name, value in row.payload.items() if name not in _EXTRAS}
                post = NewPost(
                    key=f"{row.key}/bare",
                    workspace=row.workspace,
                    channel=row.channel,
                    debate_id=row.debate_id,
                    thread_key=row.thread_key,
                    method="post",
                    payload={**kept, "text": text[:_MOST_CHARACTERS]},
                )
            case _:
                return
        await self.outbox.post([post])


def _notice(row: PostRow, words: str, *, key: str = "") -> NewPost:
    """A line in the debate's thread."""
    return NewPost(
        key=key or f"{row.key}/refused",
        workspace=row.workspace,
        channel=row.channel,
        debate_id=row.debate_id,
        thread_key=board_key(row.debate_id or ""),
        method="post",
        payload=notice(words).payload,
    )
