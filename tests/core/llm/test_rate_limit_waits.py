"""Waits a vendor asks for."""

import pytest

from core.errors import ProviderBusy
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
