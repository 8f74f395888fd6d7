"""A line for the long steps of debates, so that who types or clicks is not behind all of them."""

import asyncio
from collections import deque


class Lane:
    """Lets one long step begin in each pass of the event loop; the others wait in line.

    asyncio runs everything that is ready, in order, before it looks again: twenty replies that come
    at once are twenty steps of some milliseconds, and each await of a command is behind as many
    again. Nothing is held and nothing given back, so nobody can keep the lane: whoever is let in
    runs until its next await, and the next pass lets in the next. An event loop with nothing else
    to do passes at once. A process's engine and its calls share one. See decision 0048.
    """

    def __init__(self) -> None:
        """Begin with nobody in line."""
        self._line = deque[asyncio.Future[None]]()
        self._is_taken = False

    async def enter(self) -> None:
        """Wait for a pass in which no other long step begins; in the order of asking."""
        loop = asyncio.get_running_loop()
        if self._is_taken:
            place: asyncio.Future[None] = loop.create_future()
            self._line.append(place)
            await place
        else:
            self._is_taken = True
            loop.call_soon(self._let_next_in)

    def _let_next_in(self) -> None:
        while self._line:
            place = self._line.popleft()
            if not place.done():  # else whoever waited was cancelled
                place.set_result(None)
                # Behind the step that begins in the next pass, and so in the one after it.
                asyncio.get_running_loop().call_soon(self._let_next_in)
                return
        self._is_taken = False
