"""Cache warm-up: leaders, waiting calls and limits of the wait."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.cache_warmup import CacheWarmup
from core.llm.sizes import prefix_keys
from core.testing import ManualClock


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class Calls:
    """Calls through one `CacheWarmup`; each ends when the test ends it."""

    def __init__(self, warmup: CacheWarmup, clock: ManualClock) -> None:
        self.clock = clock
        self.started: list[str] = []
        self._warmup = warmup
        self._begin: dict[str, Callable[[], None]] = {}
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, name: str, *beginnings: str) -> None:
        """Start a call and let it go as far as it may."""

        async def run() -> None:
            async with self._warmup.call(beginnings, 300.0) as began:
                self.started.append(name)
                self._begin[name] = began
                await self._ends[name].wait()

        self._ends[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(run())
        await settle()

    async def first_token(self, name: str) -> None:
        self._begin[name]()
        await settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await settle()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await settle()

    async def close(self) -> None:
        for end in self._ends.values():
            end.set()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


@pytest.fixture
async def calls(request: pytest.FixtureRequest) -> AsyncIterator[Calls]:
    clock, longest = ManualClock(), getattr(request, "param", 20.0)
    running = Calls(CacheWarmup(clock, longest_wait=longest), clock)
    yield running
    await running.close()


async def test_one_call_goes_first_and_the_others_start_at_its_first_token(calls: Calls) -> None:
    for name in ("ann", "bob", "cid"):
        await calls.start(name, "question")
    assert calls.started == ["ann"]

    await calls.first_token("ann")

    assert calls.started == ["ann", "bob", "cid"]


async def test_an_entry_that_may_have_expired_gets_a_new_leader(calls: Calls) -> None:
    await calls.start("ann", "question")
    await calls.first_token("ann")
    await calls.end("ann")
    calls.clock.advance(301)

    await calls.start("bob", "question")
    await calls.start("cid", "question")

    assert calls.started == ["ann", "bob"]


@pytest.mark.parametrize("how", ["end", "cancel"])
async def test_if_a_leader_fails_the_next_call_leads(calls: Calls, how: str) -> None:
    for name in ("ann", "bob", "cid"):
        await calls.start(name, "question")

    await getattr(calls, how)("ann")

    assert calls.started == ["ann", "bob"]


async def test_a_longer_prefix_waits_for_the_leader_of_the_shorter_one(calls: Calls) -> None:
    await calls.start("ann", "question")
    await calls.start("bob", "question", "round 1")
    await calls.start("cid", "question", "round 1")
    assert calls.started == ["ann"]

    await calls.first_token("ann")
    assert calls.started == ["ann", "bob"], "of those two one leads the longer beginning"
    await calls.first_token("bob")

    assert calls.started == ["ann", "bob", "cid"]


@pytest.mark.leaping
@pytest.mark.parametrize("calls", [0.05], indirect=True)
async def test_a_stalled_leader_blocks_others_for_a_limited_time(calls: Calls) -> None:
    for name in ("ann", "bob", "cid"):
        await calls.start(name, "question")
    assert calls.started == ["ann"]

    await asyncio.sleep(0.1)  # every wait of 0.05 seconds is over

    assert calls.started == ["ann", "bob", "cid"]


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1), st.booleans()), max_size=8))
def test_all_calls_end_for_any_shared_prefixes_and_failures(
    calls: list[tuple[int, int, bool]],
) -> None:
    async def run() -> int:
        leaders = CacheWarmup(ManualClock())
        count = 0

        async def call(depth: int, branch: int, fails: bool) -> None:  # noqa: FBT001 - drawn
            nonlocal count
            keys = ["question", f"summary {branch}", f"round {branch}"][:depth]
            async with leaders.call(keys, 300.0) as began:
                await asyncio.sleep(0)
                if not fails:
                    began()
                await asyncio.sleep(0)
            count += 1

        async with asyncio.timeout(300):
            await asyncio.gather(*(call(*arguments) for arguments in calls))
        return count

    assert asyncio.run(run()) == len(calls)


def test_prefix_keys_depend_on_all_text_up_to_them() -> None:
    keys = prefix_keys("model", ["a", "b", "c"])

    assert len(set(keys)) == 3
    assert prefix_keys("model", ["a", "b", "x"])[:2] == keys[:2]
    assert prefix_keys("model", ["x", "b", "c"])[1:] != keys[1:]
    assert set(prefix_keys("other", ["a", "b", "c"])).isdisjoint(keys)
    assert prefix_keys("model", ["ab", "c"])[-1] != prefix_keys("model", ["a", "bc"])[-1]
