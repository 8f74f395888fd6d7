"""Leader first: who goes ahead, who waits, and that nobody waits forever."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.cache_warmup import CacheWarmup, beginning_keys
from core.testing import ManualClock


class Calls:
    """Calls that start through one `CacheWarmup` and end when told to."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.leaders = CacheWarmup(self.clock)
        self.started: list[str] = []
        self.begin: dict[str, Callable[[], None]] = {}
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str, *beginnings: str, leads: bool = True) -> None:
        """Start a call and let it go as far as it may."""
        self._ends[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(self._run(name, beginnings, leads=leads))
        await settle()

    async def _run(self, name: str, beginnings: tuple[str, ...], *, leads: bool) -> None:
        async with self.leaders.turn(beginnings, 300.0, leads=leads) as began:
            self.started.append(name)
            self.begin[name] = began
            await self._ends[name].wait()

    async def end(self, name: str) -> None:
        """Let a call end."""
        self._ends[name].set()
        await self._tasks[name]
        await settle()

    async def first_token(self, name: str) -> None:
        """Let a call's reply begin."""
        self.begin[name]()
        await settle()

    async def cancel(self, name: str) -> None:
        """Cancel a call."""
        self._tasks[name].cancel()
        await settle()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_one_goes_ahead_and_the_others_follow_its_first_token() -> None:
    calls = Calls()
    for name in ("ann", "bob", "cid"):
        await calls.start(name, "question")
    assert calls.started == ["ann"]

    await calls.first_token("ann")

    assert calls.started == ["ann", "bob", "cid"]
    for name in calls.started:
        await calls.end(name)


async def test_an_entry_that_may_be_gone_is_led_again() -> None:
    calls = Calls()
    await calls.start("ann", "question")
    await calls.first_token("ann")
    await calls.end("ann")
    calls.clock.advance(301)

    await calls.start("bob", "question")
    await calls.start("cid", "question")

    assert calls.started == ["ann", "bob"]
    await calls.end("bob")
    await calls.end("cid")


@pytest.mark.parametrize("how", ["end", "cancel"])
async def test_when_a_leader_fails_the_next_one_leads(how: str) -> None:
    calls = Calls()
    for name in ("ann", "bob", "cid"):
        await calls.start(name, "question")

    await getattr(calls, how)("ann")

    assert calls.started == ["ann", "bob"]
    await calls.first_token("bob")
    assert calls.started == ["ann", "bob", "cid"]
    await calls.end("bob")
    await calls.end("cid")


async def test_a_longer_beginning_waits_for_the_leader_of_the_shorter_one() -> None:
    calls = Calls()
    await calls.start("ann", "question")
    await calls.start("bob", "question", "round 1")
    await calls.start("cid", "question", "round 1")
    assert calls.started == ["ann"]

    await calls.first_token("ann")
    assert calls.started == ["ann", "bob"], "of those two one leads the longer beginning"
    await calls.first_token("bob")

    assert calls.started == ["ann", "bob", "cid"]
    for name in calls.started:
        await calls.end(name)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1), st.booleans()), max_size=8))
def test_whatever_shares_what_and_whoever_fails_all_come_to_an_end(
    calls: list[tuple[int, int, bool]],
) -> None:
    async def run() -> int:
        leaders = CacheWarmup(ManualClock())
        count = 0

        async def call(depth: int, branch: int, fails: bool) -> None:  # noqa: FBT001 - drawn
            nonlocal count
            keys = ["question", f"summary {branch}", f"round {branch}"][:depth]
            async with leaders.turn(keys, 300.0) as began:
                await asyncio.sleep(0)
                if not fails:
                    began()
                await asyncio.sleep(0)
            count += 1

        async with asyncio.timeout(300):
            await asyncio.gather(*(call(*arguments) for arguments in calls))
        return count

    assert asyncio.run(run()) == len(calls)


@pytest.mark.leaping
async def test_a_leader_that_hangs_holds_nobody_up_for_long() -> None:
    calls = Calls()
    calls.leaders = CacheWarmup(calls.clock, longest_wait=0.05)
    for name in ("ann", "bob", "cid"):
        await calls.start(name, "question")
    assert calls.started == ["ann"]

    await asyncio.sleep(0.1)  # every wait of 0.05 seconds is over

    assert calls.started == ["ann", "bob", "cid"]
    for name in calls.started:
        await calls.end(name)


async def test_only_so_many_beginnings_are_remembered() -> None:
    leaders = CacheWarmup(ManualClock(), remembered=2)
    for key in ("one", "two", "three"):
        async with leaders.turn([key], 300.0) as began:
            began()

    started: list[str] = []

    async def call(name: str, key: str) -> None:
        async with leaders.turn([key], 300.0):
            started.append(name)
            await settle()

    await asyncio.gather(call("warm 1", "three"), call("warm 2", "three"))
    assert started == ["warm 1", "warm 2"]

    first = asyncio.create_task(call("cold 1", "one"))
    second = asyncio.create_task(call("cold 2", "one"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert started[2:] == ["cold 1"], "forgotten, so that it is led again"
    await asyncio.gather(first, second)


def test_keys_grow_with_the_text_and_depend_on_all_of_it() -> None:
    keys = beginning_keys("model", ["a", "b", "c"])

    assert len(set(keys)) == 3
    assert beginning_keys("model", ["a", "b", "x"])[:2] == keys[:2]
    assert beginning_keys("model", ["x", "b", "c"])[1:] != keys[1:]
    assert set(beginning_keys("other", ["a", "b", "c"])).isdisjoint(keys)
    assert beginning_keys("model", ["ab", "c"])[-1] != beginning_keys("model", ["a", "bc"])[-1]
