"""Retries: waits, number of attempts, and errors that end them."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ProviderDown
from core.retry import RetryPolicy, retry

POLICY = RetryPolicy(tries=4, first_wait=1, longest_wait=3)


def longer_or_not(_error: ProviderDown, wait: float) -> float | None:
    return 10 + wait if wait < 2 else None


def as_it_is(_error: ProviderDown, wait: float) -> float:
    return wait


@pytest.mark.parametrize(("again", "waits"), [(as_it_is, [1, 2, 3]), (longer_or_not, [11])])
async def test_waits_grow_until_the_last_try_or_until_who_asks_gives_up(
    again: Callable[[ProviderDown, float], float | None], waits: list[float]
) -> None:
    waited: list[float] = []

    async def attempt() -> str:
        raise ProviderDown

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    with pytest.raises(ProviderDown):
        await retry(attempt, POLICY, sleep, on=ProviderDown, again=again)
    assert waited == waits


@given(st.integers(1, 100), st.floats(0, 1))
def test_chance_only_shortens_a_wait(failures: int, chance: float) -> None:
    policy = RetryPolicy(first_wait=2, longest_wait=30, jitter=1)
    longest = policy.wait_after(failures)

    assert longest is not None
    assert policy.wait_after(failures, chance) == pytest.approx(longest * chance)
