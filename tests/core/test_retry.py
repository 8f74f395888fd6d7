"""Trying again: which waits, how often, and what ends it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ProviderDown
from core.retry import RetryPolicy, retry

POLICY = RetryPolicy(tries=4, first_wait=1, longest_wait=3)


class Flaky:
    """Fails so often, then succeeds; remembers how long was waited."""

    def __init__(self, failures: int, error: Exception | None = None) -> None:
        self.left = failures
        self.error = error or ProviderDown("down")
        self.waits: list[float] = []

    async def attempt(self) -> str:
        if self.left:
            self.left -= 1
            raise self.error
        return "done"

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def test_the_last_try_raises_without_a_wait_after_it() -> None:
    flaky = Flaky(4)

    with pytest.raises(ProviderDown):
        await retry(flaky.attempt, POLICY, flaky.sleep, on=ProviderDown)
    assert flaky.waits == [1, 2, 3]


async def test_who_asks_may_wait_longer_or_give_up() -> None:
    flaky = Flaky(3)

    with pytest.raises(ProviderDown):
        await retry(
            flaky.attempt,
            POLICY,
            flaky.sleep,
            on=ProviderDown,
            again=lambda _, wait: 10 + wait if wait < 2 else None,
        )
    assert flaky.waits == [11]


@given(st.integers(1, 100), st.floats(0, 1))
def test_chance_only_shortens_a_wait(failures: int, chance: float) -> None:
    policy = RetryPolicy(first_wait=2, longest_wait=30, jitter=1)
    longest = policy.wait_after(failures)

    assert longest is not None
    assert policy.wait_after(failures, chance) == pytest.approx(longest * chance)
