"""Waits a vendor asks for."""

from core.llm.availability import ModelAvailability
from core.llm.call_options import ModelRef
from core.testing import ManualClock


async def test_a_pause_is_kept_by_all_calls_of_the_model_and_ends() -> None:
    clock = ManualClock()
    availability = ModelAvailability(clock)
    limited, other = ModelRef("anthropic", "m"), ModelRef("openai", "m")
    availability.limits_rate(limited, 30)

    waits = list[float]()
    for model in (other, limited, limited):
        before = clock.now()
        await availability.wait_for_rate(model, 100)
        waits.append((clock.now() - before).total_seconds())

    assert waits == [0, 30, 0]
