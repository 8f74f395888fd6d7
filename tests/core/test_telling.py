"""Who listens to a debate hears everything in order, and holds nothing up."""

import asyncio
from collections.abc import Sequence
from itertools import count

import pytest

from core.errors import StoreDown
from core.events import ContributionMade, Recorded, fold
from core.lane import Lane
from core.models import Debate, Status, Turn
from core.store.memory import InMemoryStore
from core.telling import News, Telling
from core.testing import RecordingSink, a_setup
from tests.core.bench import DEBATE, Bench

pytestmark = pytest.mark.leaping


class Slow(RecordingSink):
    """A sink that takes its time over the first contribution."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()

    async def publish(self, debate: Debate, recorded: Recorded) -> None:
        """Hear of an event."""
        if isinstance(recorded.event, ContributionMade):
            await self.go_on.wait()
        await super().publish(debate, recorded)


class Failing(RecordingSink):
    """A sink that fails once, at its fifth event."""

    async def publish(self, debate: Debate, recorded: Recorded) -> None:
        """Hear of an event."""
        if len(self.events) == 4 and not self.failed:
            self.failed = True
            raise StoreDown("the disk is full")
        await super().publish(debate, recorded)

    failed = False


class CountingMarks(InMemoryStore):
    """A store that counts how often it is told how far events were published."""

    marks = 0

    async def mark_published(self, debate_id: str, seq: int) -> None:
        """Remember that."""
        self.marks += 1
        await super().mark_published(debate_id, seq)


async def test_a_slow_sink_does_not_keep_a_debate_from_its_verdict() -> None:
    sink = Slow()
    bench = Bench(sink=sink)
    run = asyncio.create_task(bench.run(a_setup(rounds=1)))
    await asyncio.sleep(600)  # models that answer at once have long done so

    assert fold(await bench.store.events(DEBATE)).status is Status.CONCLUDED
    assert not run.done()

    assert not any(isinstance(one.event, ContributionMade) for one in sink.events)
    sink.go_on.set()
    debate = await run
    assert [one.seq for one in sink.events] == list(range(1, debate.seq + 1))
    assert await bench.store.published(DEBATE) == debate.seq


async def test_a_run_that_is_cancelled_tells_no_more() -> None:
    sink = Slow()
    bench = Bench(sink=sink)
    run = asyncio.create_task(bench.run(a_setup(rounds=1)))
    await asyncio.sleep(600)
    heard = list(sink.events)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    sink.go_on.set()
    await asyncio.sleep(600)
    assert sink.events == heard


async def test_what_a_sink_has_not_taken_comes_again() -> None:
    sink = Failing()
    bench = Bench(sink=sink)
    with pytest.raises(StoreDown, match="the disk is full"):
        await bench.run(a_setup(rounds=1))
    heard = [one.seq for one in sink.events]

    debate = await bench.engine.run(DEBATE)
    assert debate.status is Status.CONCLUDED
    known = await bench.store.published(DEBATE)
    again = [one.seq for one in sink.events][len(heard) :]
    assert heard == [1, 2, 3, 4]
    assert again == list(range(again[0], known + 1))
    assert again[0] <= 5


async def test_how_far_it_has_come_is_written_down_once_for_all_that_waits() -> None:
    bench = Bench()
    log = await _log_of(bench)
    store, sink = CountingMarks(), RecordingSink()
    await store.create(DEBATE, log[0].event, origin="trigger-1", at=log[0].at)
    for recorded in log[1:]:
        await store.append(DEBATE, recorded.event, at=recorded.at)
    telling = Telling(store=store, sink=sink, lane=Lane(), published=2, on_failure=_nothing)

    for number, recorded in zip(count(1), log, strict=False):
        then = fold(log[:number])
        telling.tell([News(then, recorded)], then, _in_hand(then))
    await telling.done()

    assert [one.seq for one in sink.events] == [one.seq for one in log[2:]]
    assert store.marks == 1
    assert await store.published(DEBATE) == log[-1].seq


async def _log_of(bench: Bench) -> Sequence[Recorded]:
    await bench.run(a_setup(rounds=1))
    return await bench.store.events(DEBATE)


def _nothing() -> None:
    """Nobody is to be told."""


def _in_hand(debate: Debate) -> Sequence[Turn]:
    return [one.turn for one in debate.contributions.values()]
