"""A sink gets all events in order and does not delay the debate."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from core.debate.log import RecordedEvent
from core.debate.people import Person
from core.debate.people_events import FollowUpAsked
from core.debate.state import Debate
from core.debate.turn import Act
from core.debate.turn_events import ContributionMade
from core.debate.verdict import FollowUp
from core.errors import RunLost, StoreDown
from core.request import ModelReply, ModelRequest
from core.telling import MOST_AGAIN
from core.testing import InMemoryStore, RecordingSink, ScriptedProvider, a_setup
from tests.core.bench import DEBATE, Bench

pytestmark = pytest.mark.leaping

DANA = Person(id="U0DANA", name="Dana")
ASKED = FollowUpAsked(question=FollowUp(id="M1", by=DANA, text="Why?", number=1))


class Slow(RecordingSink):
    """A sink that does not take a contribution until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.at_once = self.most_at_once = 0

    @property
    def heard(self) -> Sequence[int]:
        return [event.seq for event in self.events]

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if isinstance(recorded.event, ContributionMade):
                await self.go_on.wait()
            await super().publish(debate, recorded)
        finally:
            self.at_once -= 1


class Failing(RecordingSink):
    """A sink that fails at the third event; each it takes takes 10 ms."""

    async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
        await asyncio.sleep(0.01)
        if recorded.seq == 3:
            raise StoreDown("the disk is full")
        await super().publish(debate, recorded)


class Clinging(ScriptedProvider):
    """A provider that never answers a critique, and takes 5 s to let go of it."""

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        if request.act is Act.CRITIQUE:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(5)
                raise
        return await super().complete(request, on_first_token)


class CountingMarks(InMemoryStore):
    """A store that records each `mark_published`."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[int] = []

    async def mark_published(self, debate_id: str, seq: int) -> None:
        self.marks.append(seq)
        await super().mark_published(debate_id, seq)


async def test_a_question_without_an_answer_is_not_stored_as_published() -> None:
    bench = Bench()
    debate = await bench.run(a_setup(rounds=1))
    bench.provider.hold(Act.FOLLOW_UP)
    await bench.add(ASKED)
    run = asyncio.create_task(bench.engine.run(DEBATE))
    await bench.provider.wait_until_asked(Act.FOLLOW_UP)
    await asyncio.sleep(60)

    assert bench.sink.events[-1].event == ASKED
    assert await bench.store.published_seq(DEBATE) == debate.seq  # so that it outlives a crash
    bench.provider.let_go()
    debate = await run
    assert await bench.store.published_seq(DEBATE) == debate.seq


async def test_a_run_that_is_cancelled_tells_no_more_though_models_take_time_to_let_go() -> None:
    sink = Slow()
    bench = Bench(sink=sink, provider=Clinging())
    run = asyncio.create_task(bench.run(a_setup(rounds=1)))
    await asyncio.sleep(60)
    count_before = sink.heard
    run.cancel()
    await asyncio.sleep(1)
    sink.go_on.set()
    await asyncio.sleep(1)
    assert not run.done()
    assert sink.heard == count_before

    run.cancel()  # who is in a hurry does not wait for the models
    with pytest.raises(asyncio.CancelledError):
        await run
    await asyncio.sleep(0)
    assert f"{DEBATE}/telling" not in [task.get_name() for task in asyncio.all_tasks()]

    again = asyncio.create_task(bench.engine.run(DEBATE))
    await asyncio.sleep(60)
    assert sink.most_at_once == 1
    assert sink.heard == list(range(1, len(await bench.store.events(DEBATE)) + 1))
    again.cancel()
    await asyncio.gather(again, return_exceptions=True)


async def test_a_run_that_has_lost_its_debate_tells_no_more() -> None:
    sink = Slow()
    bench = Bench(sink=sink)
    run = asyncio.create_task(bench.run(a_setup(rounds=1)))
    await asyncio.sleep(600)
    count_before = sink.heard

    other = Bench(store=bench.store)
    debate = await other.engine.run(DEBATE)
    assert [event.seq for event in other.sink.events] == list(
        range(count_before[-1] + 1, debate.seq + 1)
    )
    sink.go_on.set()
    with pytest.raises(RunLost):
        await run
    assert sink.heard == [*count_before, count_before[-1] + 1]  # which it had in hand


async def test_a_sink_that_fails_ends_the_run_while_models_are_silent() -> None:
    bench = Bench(sink=Failing())
    bench.provider.hold(Act.CRITIQUE)
    began = asyncio.get_running_loop().time()
    with pytest.raises(StoreDown, match="the disk is full"):
        await bench.run(a_setup(rounds=1))
    assert asyncio.get_running_loop().time() - began < 1


async def test_how_far_it_has_come_is_written_down_now_and_then_and_at_the_end() -> None:
    store = CountingMarks()
    debate = await Bench(store=store).run(a_setup(rounds=2))
    steps = [after - before for before, after in pairwise((0, *store.marks))]

    assert max(steps) <= MOST_AGAIN
    assert len(steps) < debate.seq
    assert store.marks[-1] == debate.seq
