"""Waits a vendor asks for."""

import pytest

from core.errors import ProviderBusy, ProviderDown
from core.llm.rate_limit_waits import RateLimitWaits
from core.testing import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def waited(
    pauses: RateLimitWaits, clock: ManualClock, model: str = "m", left: float = 100
) -> float:
    """Seconds a call of the model has to wait."""
    before = clock.now()
    await pauses.over(model, left)
    return (clock.now() - before).total_seconds()


async def test_a_pause_is_kept_by_all_calls_of_the_model_and_ends(clock: ManualClock) -> None:
    pauses = RateLimitWaits(clock)
    pauses.note("m", ProviderBusy("Later.", retry_after=30))

    assert await waited(pauses, clock, "another") == 0
    assert await waited(pauses, clock) == 30
    assert await waited(pauses, clock) == 0


@pytest.mark.parametrize("error", [ProviderBusy("Later."), ProviderDown("Gone.")])
async def test_without_a_time_there_is_no_pause(clock: ManualClock, error: Exception) -> None:
    pauses = RateLimitWaits(clock)
    pauses.note("m", error)

    assert await waited(pauses, clock) == 0
    assert await waited(pauses, clock, left=-1) == 0


@pytest.mark.parametrize("seconds", [31.0, 3600.0, float("inf")])
async def test_who_cannot_wait_so_long_hears_how_long_it_is(
    clock: ManualClock, seconds: float
) -> None:
    pauses = RateLimitWaits(clock)
    pauses.note("m", ProviderBusy("Later.", retry_after=seconds))

    with pytest.raises(ProviderBusy) as caught:
        await pauses.over("m", 30)

    assert caught.value.retry_after == min(seconds, 86_400)
