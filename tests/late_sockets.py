"""Sockets that are seen late by chance, as on a busy machine: `make test ARGS='--late-sockets=1'`.

Whatever is ready may come later on any network; a test that fails then has left something a time
that should suffice, or looked for what is there only for a moment.
"""

import selectors
import time
from collections.abc import Callable
from random import Random
from typing import Any

#: Seconds until what is held back is looked at again.
_GLANCE = 0.002


def by_chance(seed: str) -> Callable[[], float]:
    """Return what draws for how many seconds something ready is not seen; mostly for none."""
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
            left = None if end is None else max(0.0, end - time.monotonic())
            # What is held back is ready: to wait for it would end at once.
            ready = super().select(0 if self._held else left)
            seen = [one for one in ready if self._is_seen(one[0].fd)]
            if seen or left == 0:
                return seen
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
