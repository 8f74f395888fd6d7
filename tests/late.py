"""Sockets, commits and people that are late by chance: `make test ARGS='--late=1'`.

Whatever is ready may come later on any network, any commit may take its time, and so may people; a
test that fails then has left something a time that should suffice, looked for what is there only
for a moment, or took for recorded what another step records.
"""

import asyncio
import selectors
import threading
import time
from collections.abc import Callable
from functools import wraps
from random import Random
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.util import await_only
from sqlalchemy.util.concurrency import in_greenlet

#: Seconds until what is held back is looked at again.
_GLANCE = 0.002
#: What people do in the local Slack.
DEEDS = ("say", "edit", "delete", "command", "shortcut", "click", "click_view", "submit")


def by_chance(seed: str) -> Callable[[], float]:
    """Return a function that draws a delay in seconds, mostly 0."""
    chance = Random(seed)

    def draw() -> float:
        drawn = chance.random()
        if drawn < 0.02:
            return chance.uniform(0.05, 0.8)
        return chance.uniform(0.001, 0.04) if drawn < 0.2 else 0.0

    return draw


class LateSelector(selectors.DefaultSelector):
    """Holds back what is ready; nothing is lost, and no timer is late."""

    def __init__(self, draw: Callable[[], float]) -> None:
        """Hold back each time for as many seconds as are drawn; 0: not at all."""
        super().__init__()
        self._draw = draw
        #: Until when these are not seen.
        self._held: dict[int, float] = {}

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready and not held back, once there is any or the time is over."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            remaining = None if end is None else max(0.0, end - time.monotonic())
            # What is held back is ready: to wait for it would end at once.
            ready = super().select(0 if self._held else remaining)
            ready_now = [key for key in ready if self._is_seen(key[0].fd)]
            if ready_now or remaining == 0:
                return ready_now
            if self._held:
                time.sleep(_GLANCE)

    def _is_seen(self, descriptor: int) -> bool:
        now = time.monotonic()
        until = self._held.pop(descriptor, None)
        if until is None:
            late = self._draw()
            until = now + late if late else now
        if now < until:
            self._held[descriptor] = until
        return now >= until

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """Watch it no more; whoever gets its number next is not held back for it."""
        key = super().unregister(fileobj)
        self._held.pop(key.fd, None)
        return key


def make_commits_late(draw: Callable[[], float]) -> Callable[[], None]:
    """Have each commit begin as many seconds late as are drawn.

    Returns:
        What ends it.
    """

    def wait(_connection: Connection) -> None:
        if in_greenlet():  # as all do whose engine is asynchronous
            await_only(asyncio.sleep(draw()))
        elif threading.current_thread() is not threading.main_thread():
            time.sleep(draw())

    event.listen(Engine, "commit", wait)
    return lambda: event.remove(Engine, "commit", wait)


def make_people_late(people: type[Any], draw: Callable[[], float]) -> None:
    """Have each deed in workspaces of this class begin as many seconds late as are drawn."""

    def late(name: str) -> Callable[..., Any]:
        deed = getattr(people, name)

        @wraps(deed)
        async def do(*args: Any, **named: Any) -> Any:
            await asyncio.sleep(draw())
            return await deed(*args, **named)

        return do

    for name in DEEDS:
        setattr(people, name, late(name))
