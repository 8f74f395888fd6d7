"""The outbox: queues posts and landings, and sends them lane by lane.

One process at a time serves a lane, step by step, while it has work.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bot.log import logger
from bot.queue.calls import Edits, FirstCalls
from bot.queue.outgoing import STOP_SECONDS, Outgoing
from bot.queue.rows import DebateProgress, NewPost, PostRow, Posts, PostState
from bot.running.keyed_tasks import KeyedTasks, log_failure
from bot.slack.ids import board_key, headline_key
from bot.slack.outcomes import Rejection
from bot.store.leases import LaneLost
from bot.store.tables import Channel
from core.debate.people import Place
from core.debate.state import Debate
from core.ports import Clock

_log = logger(__name__)

#: Processes the next row of a lane; returns the seconds until the next step, None: no work is left.
Step = Callable[[str], Awaitable[float | None]]
#: Seconds between two searches for rows that other processes queued or left.
POLL_SECONDS = 0.5


@dataclass
class Outbox:
    """Sends the rows of the queue. Its methods may be called repeatedly.

    Methods that write raise `StoreDown` if the database failed; then nothing was changed.
    """

    outgoing: Outgoing
    first_calls: FirstCalls = field(init=False)
    #: The step for each kind of lane; the kind is the first part of a lane's name.
    steps: dict[str, Step] = field(init=False)

    def __post_init__(self) -> None:
        self.first_calls, edits = FirstCalls(self.outgoing), Edits(self.outgoing)
        self.steps = {
            **dict.fromkeys(("post", "whisper", "react"), self.first_calls.step),
            **dict.fromkeys(("edit", "pin"), edits.step),
        }
        self.outgoing.wake = self.wake
        self._tasks = KeyedTasks[str](self._serve)
        #: An event for each lane served here, set when the lane has new work.
        self._news: dict[str, asyncio.Event] = {}
        self._polling: asyncio.Task[None] | None = None

    @property
    def posts(self) -> Posts:
        return self.outgoing.posts

    @property
    def age(self) -> float:
        """The longest time in seconds that a next row has waited in the lanes served here."""
        fronts = self.first_calls.fronts
        times = [start for lane, (_, start) in fronts.items() if lane in self._news]
        return max((time.monotonic() - start for start in times), default=0.0)

    async def start(self) -> None:
        """Continue with rows of earlier processes; keeps trying while the database is down."""
        self._polling = asyncio.create_task(self._poll(), name="queue")

    async def close(self) -> None:
        """Stop after the running calls. Other rows are sent after the next start."""
        if self._polling:
            self._polling.cancel()
            with suppress(asyncio.CancelledError):
                await self._polling
        await self._tasks.close(STOP_SECONDS + 1)
        await self.outgoing.leases.close()

    def wake(self, lane: str) -> None:
        """Serve this lane, because it has work."""
        if lane.partition("/")[0] not in self.steps:
            return
        self._tasks.wake(lane)
        if lane in self._news:
            self._news[lane].set()

    async def whisper(
        self,
        here: Place | Channel,
        payload: Mapping[str, Any],
        *,
        key: str,
        debate_id: str | None = None,
    ) -> None:
        """Queue a message that only the payload's `user` sees. A key is posted at most once."""
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
        """Queue posts in this order and record the debate's progress, in one transaction.

        Keys in the queue are left alone. `progress` marks the debate's living posts as stale.
        """
        for lane in await self.posts.enqueue(posts, progress):
            self.wake(lane)

    async def repost(self, post: NewPost) -> None:
        await self.posts.repost(post)
        self.wake(post.lane)

    async def lose_post(self, row: PostRow) -> None:
        """Stop editing a post that was deleted in Slack."""
        rejection = Rejection("it was deleted.", "message_not_found")
        await self.outgoing.on_refused(row, rejection)
        await self.posts.fail(row, rejection.reason)

    async def find_place(self, channel: Channel) -> None:
        """Update the living posts of a channel that can be reached again."""
        for lane in await self.posts.find_place(channel):
            self.wake(lane)

    async def _poll(self) -> None:
        """Wake lanes with work: once, or repeatedly if other processes share the database."""
        leases, ready = self.outgoing.leases, False
        while not ready or leases.is_shared:
            try:
                if not ready:
                    await leases.start()
                lanes = await self.posts.lanes_with_work(leases.owner)
                for lane in [lane for lane in lanes if lane not in self._news]:
                    self.wake(lane)
                ready = True
            except Exception as error:  # noqa: BLE001 - polling must go on after any error
                log_failure(error, "queue")
            await asyncio.sleep(POLL_SECONDS)

    async def _serve(self, lane: str) -> None:
        leases, kind = self.outgoing.leases, lane.partition("/")[0]
        left_by_itself = await leases.acquire(lane)
        if left_by_itself is None:
            return  # another process serves the lane; `_poll` tries again
        news = self._news[lane] = asyncio.Event()
        try:
            if not left_by_itself and kind in {"edit", "pin"}:
                # An edit of the process that died may still arrive.
                await asyncio.sleep(self.outgoing.pace.grace)
            leases.check(lane)
            while (seconds := await self.steps[kind](lane)) is not None:
                # Rows that other processes queue set no event here.
                longest = min(seconds, POLL_SECONDS) if leases.is_shared else seconds
                with suppress(TimeoutError):
                    await asyncio.wait_for(news.wait(), longest)
                news.clear()
                leases.check(lane)
        except LaneLost as error:
            _log.warning("let go", lane=lane, reason=str(error))
        finally:
            del self._news[lane]
            leases.rest(lane)


#: How often `PostAddresses` looks for a debate's thread, twice a second, before it gives up.
_LOOKS_FOR_THREAD = 20


@dataclass(frozen=True, kw_only=True)
class PostAddresses:
    """Finds addresses of posts. Methods may raise `StoreDown`."""

    posts: Posts
    clock: Clock
    #: Returns the address of a message by its timestamp; empty if it is unknown.
    link_to: Callable[[Place, str], Awaitable[str]]

    async def of_thread(self, debate: Debate) -> str:
        """Return the address of the debate's thread; empty if it has none in time.

        Waits for the board, because notices of a start may be made before it is posted.
        """
        for _ in range(_LOOKS_FOR_THREAD):
            row = await self.posts.row_by_key(board_key(debate.id))
            if row is None or row.ts or row.state is PostState.FAILED:
                return await self._of(debate, row)
            await self.clock.sleep(0.5)
        return ""

    async def of_verdict(self, debate: Debate) -> str:
        """Return the address of the debate's newest verdict; empty if there is none."""
        row = await self.posts.row_by_key(headline_key(debate.id, debate.edition))
        return await self._of(debate, row)

    async def _of(self, debate: Debate, row: PostRow | None) -> str:
        return await self.link_to(debate.setup.place, row.ts or "") if row else ""
