"""What Slack refuses for good, and what becomes of the debate then."""

from dataclasses import dataclass, replace

from bot.commands import Commands
from bot.slack.ids import board_key
from bot.slack.outbox.outcomes import Rejected
from bot.slack.outbox.sender import Outbox
from bot.store.posts import NewPost, PostRow
from bot.views.notices import notice

#: The place is gone: nothing more can be said there.
_PLACE_GONE = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "not_in_channel",
        "not_installed",
        "root_missing",
        "thread_not_found",
        "message_not_found",
    }
)
#: What Slack says about an edit of a message that was deleted.
_BOARD_GONE = frozenset({"message_not_found", "cant_update_message"})
_EXTRAS = ("blocks", "username", "icon_emoji")
_MOST_CHARACTERS = 3900


@dataclass(frozen=True, kw_only=True)
class Refusals:
    """Decides what to do about posts that never arrive. Doing it twice does no harm."""

    commands: Commands
    outbox: Outbox

    async def __call__(self, row: PostRow, refusal: Rejected) -> None:
        """Take note of one refusal.

        Without its board, or with its place gone, a debate ends and its starter is told: it must
        not spend money where nobody can follow. Other posts are sent once more as bare text.
        A lost pin, board or report is told in the thread; anything else is only logged.
        """
        if row.debate_id is None:
            return
        if row.method == "pin":
            await self.outbox.post([_not_pinned(row, row.debate_id, refusal)])
        elif row.method == "update" and refusal.code in _BOARD_GONE:
            await self._board_refused(row, row.debate_id)
        elif row.method == "upload":
            await self.outbox.post([_not_attached(row, row.debate_id, refusal)])
        elif row.method == "post":
            await self._post_refused(row, row.debate_id, refusal)

    async def _board_refused(self, row: PostRow, debate_id: str) -> None:
        """Say in the thread, once, how to steer a debate whose board was deleted."""
        if row.payload.get("target_key") == board_key(debate_id):
            words = (
                ":warning: The board of this debate was deleted; all of it is in this thread. "
                f"While it runs, `/debate stop {debate_id}` ends it."
            )
            lost = replace(_notice(row, debate_id, words), key=f"{board_key(debate_id)}/lost")
            await self.outbox.post([lost])

    async def _post_refused(self, row: PostRow, debate_id: str, refusal: Rejected) -> None:
        if row.key == board_key(debate_id) or refusal.code in _PLACE_GONE:
            await self.commands.give_up(debate_id, refusal.words)
            await self._tell_starter(row, debate_id, refusal)
        elif any(extra in row.payload for extra in _EXTRAS):
            await self.outbox.post([_bare(row)])

    async def _tell_starter(self, row: PostRow, debate_id: str, refusal: Rejected) -> None:
        debate = await self.commands.debate(debate_id, workspace=row.workspace)
        words = f"Debate `{debate_id}` in <#{row.channel}> cannot go on: {refusal.words}"
        post = NewPost(
            key=f"{debate_id}/undelivered",
            workspace=row.workspace,
            channel=debate.setup.asked_by.id,
            method="post",
            payload={"text": words},
        )
        await self.outbox.post([post])


def _not_pinned(row: PostRow, debate_id: str, refusal: Rejected) -> NewPost:
    words = f":pushpin: The board could not be pinned: {refusal.words} The debate goes on."
    return _notice(row, debate_id, words)


def _not_attached(row: PostRow, debate_id: str, refusal: Rejected) -> NewPost:
    words = f":paperclip: The report could not be attached: {refusal.words}"
    return _notice(row, debate_id, words)


def _notice(row: PostRow, debate_id: str, words: str) -> NewPost:
    return NewPost(
        key=f"{row.key}/refused",
        workspace=row.workspace,
        channel=row.channel,
        debate_id=debate_id,
        thread_key=board_key(debate_id),
        method="post",
        payload=notice(words).payload,
    )


def _bare(row: PostRow) -> NewPost:
    """The same words without what Slack may have refused."""
    text = str(row.payload.get("text", ""))
    kept = {name: value for name, value in row.payload.items() if name not in _EXTRAS}
    return NewPost(
        key=f"{row.key}/bare",
        workspace=row.workspace,
        channel=row.channel,
        debate_id=row.debate_id,
        thread_key=row.thread_key,
        method="post",
        payload={**kept, "text": text[:_MOST_CHARACTERS]},
    )
