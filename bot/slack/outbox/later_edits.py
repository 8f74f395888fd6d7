"""Edits that can wait: of each only the newest is made, and only when Slack's pace has room."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.running.keyed_tasks import KeyedTasks
from bot.store.posts import NewPost

#: Makes an edit, when its turn has come.
Make = Callable[[], Awaitable[NewPost]]


class LaterEdits:
    """What is known here only in memory: use it for what the next edit makes good anyway.

    Slack takes so few edits in a workspace that many boards must take turns. An edit that waits
    here is neither made nor written down again and again, and holds up no post behind it.
    """

    def __init__(self, replace: Callable[[NewPost], Awaitable[None]], pause: float) -> None:
        """Keep what to do.

        Args:
            replace: Queues an edit.
            pause: Seconds between two edits in the workspace.
        """
        self._replace = replace
        self._pause = pause
        self._waiting: dict[str, Make] = {}
        self._in_hand: dict[str, asyncio.Future[None]] = {}
        #: What is dropped while it is under way: if it fails, it is not tried again.
        self._dropped: set[str] = set()
        self._keeping = KeyedTasks[str](self._keep)

    def put(self, key: str, make: Make) -> None:
        """Edit soon; instead of what waits under this key."""
        self._waiting[key] = make
        self._keeping.wake(key)

    async def drop(self, key: str) -> None:
        """Forget what waits under this key; afterwards nothing of it is under way either."""
        self._waiting.pop(key, None)
        if key in self._in_hand:
            self._dropped.add(key)
            await asyncio.wait([self._in_hand[key]])

    async def close(self) -> None:
        """Forget everything."""
        self._waiting.clear()
        await self._keeping.close(1)

    async def _keep(self, key: str) -> None:
        """Edit at once, then let the others have their turns."""
        make = self._waiting.pop(key, None)
        if make is None:
            return
        self._in_hand[key] = asyncio.get_running_loop().create_future()
        try:
            await self._replace(await make())
        except Exception:
            if key not in self._dropped:
                self._waiting.setdefault(key, make)  # the supervisor begins again
            raise
        finally:
            self._dropped.discard(key)
            self._in_hand.pop(key).set_result(None)
        await asyncio.sleep(self._pause * len(self._keeping.keys))
