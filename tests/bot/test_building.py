"""An estimate keeps nobody waiting but who asked for it."""

import asyncio

import pytest

from bot.building import estimating
from core.errors import BadInput
from core.settings import ModelChoice, Settings
from core.testing import a_setup

_OFFLINE = ModelChoice(provider="offline", model="offline")
SETTINGS = Settings(agent_model=_OFFLINE, judge_model=_OFFLINE, summary_model=_OFFLINE)
LONG = a_setup(rounds=3).model_copy(
    update={"question": "1" * 3900 + " or " + "must it be 7.5 ms? " * 420}
)


async def test_the_event_loop_is_not_blocked_by_the_estimate_of_a_long_question() -> None:
    loop = asyncio.get_running_loop()
    estimate = asyncio.ensure_future(estimating(SETTINGS)(LONG))
    turns, began = 0, loop.time()
    while not estimate.done():
        await asyncio.sleep(0.001)
        turns += 1
    taken = loop.time() - began

    assert (await estimate).calls > 10
    # On the loop, it comes round once for each wave of turns; a thread leaves it room all the time.
    assert turns > 15 + taken * 10


async def test_an_estimate_that_takes_too_long_is_none_in_words() -> None:
    with pytest.raises(BadInput, match="longer than 0 s"):
        await estimating(SETTINGS, patience=0)(LONG)
