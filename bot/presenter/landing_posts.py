"""Tells a debate's thread where its record landed, or why it did not."""

from dataclasses import dataclass

from bot.landing.receivers import Landed, Landing, Receiver
from bot.presenter.example_mark import marked
from bot.presenter.sink import PostQueue
from bot.queue.rows import NewPost
from bot.slack.ids import board_key, event_key
from bot.views.landed import landed as landed_words
from bot.views.landed import not_landed
from bot.views.message import MessageView


@dataclass(frozen=True)
class LandingPosts:
    """Queues a post per landing that people are told of; again changes nothing."""

    posts: PostQueue

    async def landed(self, receiver: str, landing: Landing, landed: Landed) -> None:
        """Say where the record is; nothing where there is none.

        Raises:
            StoreDown: Nothing was queued.
        """
        if landed.place:
            shown = landed_words(
                landed.place,
                landed.inside,
                branch=landed.branch,
                commit=landed.commit,
                links=(landed.commit_link, landed.pull_link),
            )
            await self._post(landing, f"landed/{receiver}", shown)

    async def failed(
        self, receiver: Receiver, landing: Landing, why: str, *, again_after: float | None
    ) -> None:
        """Say what is undone, and why.

        Raises:
            StoreDown: Nothing was queued.
        """
        part = f"{'not' if again_after is None else 'late'}/{receiver.name}"
        shown = not_landed(landing.debate, receiver.undone, why, again_after=again_after)
        await self._post(landing, part, shown)

    async def _post(self, landing: Landing, part: str, shown: MessageView) -> None:
        debate = landing.debate
        post = NewPost(
            key=event_key(debate.id, landing.recorded.seq, part),
            workspace=debate.setup.place.workspace,
            channel=debate.setup.place.channel,
            method="post",
            payload=shown.payload,
            debate_id=debate.id,
            thread_key=board_key(debate.id),
        )
        await self.posts.post([marked(debate, post)])
