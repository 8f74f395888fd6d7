"""Retries: a policy for number and waits, and the loop that all callers use."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Exception)

#: After this many doublings a wait is longer than any `longest_wait`.
_MOST_DOUBLINGS = 40


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often and when to retry. Times are in seconds."""

    #: Attempts in total; None: no limit.
    tries: int | None = None
    #: The wait after the first failure; it doubles with each further one.
    first_wait: float
    longest_wait: float
    #: Random share of each wait, 0 to 1, so that attempts that failed together are not retried
    #: together.
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
    """Return the result of the first successful attempt, or raise the error of the last one.

    Args:
        attempt: Called once per attempt.
        policy: How often and when to retry.
        sleep: Waits a number of seconds.
        on: Errors to retry after; any other error is raised at once.
        again: Returns the wait after an error, given the policy's wait; None: give up. Called after
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
