"""Long steps begin one by one, each in a pass of the event loop of its own."""

import asyncio
from asyncio import CancelledError
from itertools import pairwise

import pytest

from core.lane import Lane


async def test_each_pass_of_the_loop_lets_one_in_and_in_order() -> None:
    lane, entered = Lane(), list[str]()

    async def step(name: str) -> None:
        await lane.enter()
        entered.append(name)

    steps = [asyncio.create_task(step(name)) for name in "abcd"]
    seen = [0]
    while len(entered) < len(steps):
        await asyncio.sleep(0)
        seen.append(len(entered))
    assert entered == list("abcd")
    assert all(after - before <= 1 for before, after in pairwise(seen))


@pytest.mark.parametrize("before", [0, 3])
async def test_a_lane_that_is_free_or_free_again_keeps_nobody_waiting(before: int) -> None:
    lane, others = Lane(), list[str]()
    await asyncio.gather(*(lane.enter() for _ in range(before)))
    await asyncio.sleep(0)  # the pass of the last one is over
    asyncio.get_running_loop().call_soon(others.append, "came first")
    await lane.enter()
    assert not others


async def test_who_is_cancelled_in_line_keeps_nobody_from_it() -> None:
    lane = Lane()
    first, given_up, last = (asyncio.create_task(lane.enter()) for _ in range(3))
    await first
    given_up.cancel()
    with pytest.raises(CancelledError):
        await given_up
    await last


@pytest.mark.parametrize("passes", range(8))
async def test_who_is_cancelled_in_line_or_just_let_in_keeps_nobody_from_it(passes: int) -> None:
    lane, entered = Lane(), list[int]()

    async def step(number: int) -> None:
        await lane.enter()
        entered.append(number)

    steps = [asyncio.create_task(step(number)) for number in range(5)]
    for _ in range(passes):  # it is in line, then let in and not gone on, then through
        await asyncio.sleep(0)
    steps[3].cancel()
    async with asyncio.timeout(60):
        await asyncio.wait(steps)
        await lane.enter()

    assert entered == ([0, 1, 2, 4] if steps[3].cancelled() else [0, 1, 2, 3, 4])
