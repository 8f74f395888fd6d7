"""Trying again: how often and after which waits. One policy and one loop for everybody."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Exception)

#: A wait that doubled so many times is longer than any longest wait.
_MOST_DOUBLINGS = 40


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often something that failed is tried again, and when. Times are in seconds."""

    #: Attempts in all; None: as many as it takes.
    tries: int | None = None
    #: The wait after the first failure; it doubles with each further one.
    first_wait: float
    longest_wait: float
    #: Share of each wait that is left to chance, 0 to 1, so that what failed together is not tried
    #: again together.
    jitter: float = 0.0

    def wait_after(self, failures: int, chance: float = 1.0) -> float | None:
        """Seconds to wait after so many failures in a row; None: give up.

        `chance`: a random number from 0 to 1; with 1 the wait is the longest.
        """
        if self.tries is not None and failures >= self.tries:
            return None
        doubled = self.first_wait * 2 ** min(failures - 1, _MOST_DOUBLINGS)
        return min(self.longest_wait, doubled) * (1 - self.jitter * (1 - chance))


async def retry(
    attempt: Callable[[], Awaitable[T]],
    policy: RetryPolicy,
    sleep: Callable[[float], Awaitable[None]],
    *,
    on: type[E] | tuple[type[E], ...],
    again: Callable[[E, float], float | None] = lambda _error, wait: wait,
    chance: Callable[[], float] = random.random,  # noqa: S311 - no secret: spreads tries over time
) -> T:
    """What the attempt returns, once it succeeds; what the last attempt raised, if none does.

    Args:
        attempt: What to do; called once per try.
        policy: How often and when.
        sleep: Waits some seconds.
        on: What an attempt may fail with; anything else ends it at once.
        again: Given a failure and the policy's wait, how long to wait; None: give up. Called after
            each failure but the last one.
        chance: A random number from 0 to 1 for each wait.
    """
    failures = 0
    while True:
        try:
            return await attempt()
        except on as error:
            failures += 1
            wait = policy.wait_after(failures, chance())
            wait = None if wait is None else again(error, wait)
            if wait is None:
                raise
        await sleep(wait)
