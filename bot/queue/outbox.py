"""The way out of Moot: posts and landings are queued here, and sent lane by lane."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.queue.edits import Edits
from bot.queue.first_calls import FirstCalls
from bot.queue.outgoing import Outgoing
from bot.queue.rows import DebateProgress, NewPost, PostRow, Posts
from bot.queue.worker import Step, Worker
from bot.slack.outcomes import Rejection
from bot.store.channel import Channel
from core.debate.people import Place
from core.ports import Clock


@dataclass
class Outbox:
    """Sends what is in the queue. Its methods may be called from anywhere."""

    outgoing: Outgoing
    first_calls: FirstCalls = field(init=False)

    def __post_init__(self) -> None:
        self.first_calls = FirstCalls(self.outgoing)
        edits = Edits(self.outgoing)
        grace = self.outgoing.pace.grace
        self._worker = Worker(self.outgoing.posts, self.outgoing.leases, grace)
        for kind in ("post", "whisper", "react"):
            self.serve(kind, self.first_calls.step)
        for kind in ("edit", "pin"):
            self.serve(kind, edits.step)
        self.outgoing.wake = self._worker.wake

    @property
    def posts(self) -> Posts:
        """The queue's table."""
        return self.outgoing.posts

    @property
    def clock(self) -> Clock:
        """Passes the time."""
        return self.outgoing.clock

    @property
    def age(self) -> float:
        """Seconds that the post next in line has waited at most, here."""
        served, fronts = self._worker.lanes, self.first_calls.fronts
        since = [at for lane, (_, at) in fronts.items() if lane in served]
        return max((time.monotonic() - at for at in since), default=0.0)

    def serve(self, kind: str, step: Step) -> None:
        """Have lanes whose names begin with a kind brought further like this."""
        self._worker.steps[kind] = step

    def wake(self, lane: str) -> None:
        """There is something to do in this lane."""
        self._worker.wake(lane)

    async def start(self) -> None:
        """Go on with what an earlier process left; keeps trying while the database is down."""
        await self._worker.start()

    async def close(self) -> None:
        """Stop after the calls in hand; the rest goes out next time."""
        await self._worker.close()

    async def whisper(
        self,
        here: Place | Channel,
        payload: Mapping[str, Any],
        *,
        key: str,
        debate_id: str | None = None,
    ) -> None:
        """Post what the `user` of the payload alone sees, once however often it is wanted.

        Raises:
            StoreDown: The database failed; nothing was queued.
        """
        post = NewPost(
            key=key,
            workspace=here.workspace,
            channel=here.channel,
            method="ephemeral",
            payload=payload,
            debate_id=debate_id,
            urgent=True,
        )
        await self.post([post])

    async def post(self, posts: Sequence[NewPost], progress: DebateProgress | None = None) -> None:
        """Queue posts in this order, and note how far their debate has come: all or nothing.

        Those known already are left alone; living ones are brought to what `progress` says.

        Raises:
            StoreDown: The database failed; nothing was queued.
        """
        for lane in await self.posts.enqueue(posts, progress):
            self._worker.wake(lane)

    async def repost(self, post: NewPost) -> None:
        """Send again what Slack had refused.

        Raises:
            StoreDown: The database failed; nothing was queued.
        """
        await self.posts.repost(post)
        self._worker.wake(post.lane)

    async def lose_post(self, row: PostRow) -> None:
        """Stop editing a post that was deleted in Slack.

        Raises:
            StoreDown: The database failed; nothing was changed.
        """
        rejection = Rejection("it was deleted.", "message_not_found")
        await self.outgoing.on_refused(row, rejection)
        await self.posts.fail(row, rejection.words)

    async def find_place(self, channel: Channel) -> None:
        """Bring the living posts of a channel that can be reached again to the truth.

        Raises:
            StoreDown: The database failed; nothing was changed.
        """
        for lane in await self.posts.find_place(channel):
            self._worker.wake(lane)
