"""Where people find a debate in Slack: the address of its thread and of its verdict."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.queue.rows import PostRow, Posts, PostState
from bot.slack.ids import board_key, headline_key
from core.debate.people import Place
from core.debate.state import Debate
from core.ports import Clock

#: Times that the thread of a debate is looked for, twice a second, before somebody outside is told
#: of the debate without its address.
_LOOKS_FOR_THREAD = 20


@dataclass(frozen=True, kw_only=True)
class PostAddresses:
    """Looks in the outbox where a post stands. Methods may raise `StoreDown`."""

    posts: Posts
    clock: Clock
    #: The address of a message by its timestamp; empty where it cannot be known.
    link_to: Callable[[Place, str], Awaitable[str]]

    async def of_thread(self, debate: Debate) -> str:
        """Return the address of the debate's thread; empty: it has none, or not in time.

        What tells of a start is on its way while the thread is still to be posted: it is waited
        for.
        """
        for _ in range(_LOOKS_FOR_THREAD):
            row = await self.posts.row_by_key(board_key(debate.id))
            if row is None or row.ts or row.state is PostState.FAILED:
                return await self._of(debate, row)
            await self.clock.sleep(0.5)
        return ""

    async def of_verdict(self, debate: Debate) -> str:
        """Return the address of the debate's newest verdict; empty: there is none."""
        row = await self.posts.row_by_key(headline_key(debate.id, debate.edition))
        return await self._of(debate, row)

    async def _of(self, debate: Debate, row: PostRow | None) -> str:
        return await self.link_to(debate.setup.place, row.ts or "") if row else ""
