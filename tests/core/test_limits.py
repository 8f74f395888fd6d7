"""Time limits, stops and waiting."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.debate.contributions import Clarification, Clarifications
from core.debate.debate_events import DebateFailed
from core.debate.log import Event, RecordedEvent, fold
from core.debate.people import Person, Stop
from core.debate.people_events import FollowUpAsked, StopRequested
from core.debate.state import Debate, Status
from core.debate.turn import ENGINE, Act, Turn
from core.debate.turn_events import ClarificationsOpened
from core.debate.verdict import FollowUp
from core.request import ModelReply, ModelRequest
from core.testing import InMemoryStore, RecordingSink, ScriptedProvider, a_setup
from core.usage import Usage
from tests.core.bench import DEBATE, Bench

pytestmark = pytest.mark.leaping

DANA = Person(id="U1", name="Dana")


async def test_a_turn_that_exceeds_the_rounds_limit_fails_and_the_debate_continues() -> None:
    bench, setup = Bench(), a_setup(rounds=1)
    bench.provider.hold(Act.CRITIQUE)
    limits = setup.limits.model_copy(update={"round_seconds": 0.5})
    debate = await bench.run(setup.model_copy(update={"limits": limits}))

    assert debate.status is Status.CONCLUDED
    assert debate.failures["r1/critique/security/architect"].reason == "The round's time was up."
    assert debate.verdict


@pytest.mark.parametrize(
    "end",
    [StopRequested(stop=Stop(by=DANA)), DebateFailed(reason="The channel is gone.", edition=1)],
    ids=["by a stop", "by an end from outside"],
)
async def test_the_usage_of_cancelled_calls_is_recorded(end: Event) -> None:
    bench = Bench()
    bench.provider.hold(Act.CRITIQUE)
    await bench.start()
    engine = bench.engine
    running = asyncio.create_task(engine.run(DEBATE))
    await bench.provider.wait_until_asked(Act.CRITIQUE, times=6)
    await bench.add(end)
    engine.wake(DEBATE)
    debate = await running

    dropped = sum(
        (expense.usage for expense in debate.expenses if not expense.agent), start=Usage()
    )
    assert dropped.attempts >= 6
    assert debate.usage.attempts == len(bench.provider.requests)
    again = fold(await bench.store.events(DEBATE))
    assert replace(again) == debate


async def test_a_stop_recorded_while_a_turn_ends_takes_effect_at_once() -> None:
    """The stop follows the turn's own event in the log, without a gap in the numbers."""

    class Slow(RecordingSink):
        """Blocks the engine until `opened` is set."""

        def __init__(self) -> None:
            super().__init__()
            self.opened = asyncio.Event()

        async def publish(self, debate: Debate, recorded: RecordedEvent) -> None:
            await self.opened.wait()
            await super().publish(debate, recorded)

    class OneAnswers(ScriptedProvider):
        """Answers only the architect's proposal."""

        async def complete(
            self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
        ) -> ModelReply:
            if request.act is Act.PROPOSAL and request.role != "architect":
                await asyncio.Event().wait()
            return await super().complete(request, on_first_token)

    sink = Slow()
    bench = Bench(OneAnswers(), sink=sink)
    await bench.start(a_setup(rounds=1))
    engine = bench.engine
    running = asyncio.create_task(engine.run(DEBATE))
    async with asyncio.timeout(300):
        while len(await bench.store.events(DEBATE)) == 1:  # noqa: ASYNC110 - nothing tells us
            await asyncio.sleep(0.01)
        await bench.add(StopRequested(stop=Stop(by=DANA)))
        engine.wake(DEBATE)
        sink.opened.set()
        debate = await running

    assert debate.stop
    assert debate.status is Status.CONCLUDED
    assert len(debate.contributions) == 1


class CountingStore(InMemoryStore):
    """Counts how often a log is read."""

    reads = 0

    async def all_events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        self.reads += 1
        return await super().all_events(debate_id, after=after)


async def test_an_open_question_after_the_end_causes_no_busy_loop_during_a_follow_up() -> None:
    store = CountingStore()
    bench = Bench(store=store)
    await bench.run()
    turn = Turn(act=Act.CLARIFICATION, round=1, agent=ENGINE)
    item = Clarification(number=1, question="How many?", assumption="Few", asked_by=("engine",))
    card = Clarifications(turn=turn, items=(item,), until=datetime(2026, 1, 5, 9, 0, tzinfo=UTC))
    await bench.add(ClarificationsOpened(clarifications=card))
    await bench.add(FollowUpAsked(question=FollowUp(id="M1", by=DANA, text="Why?", number=1)))
    bench.provider.hold(Act.FOLLOW_UP)
    before = store.reads
    running = asyncio.create_task(bench.engine.run(DEBATE))
    await bench.provider.wait_until_asked(Act.FOLLOW_UP)
    for _ in range(2000):
        await asyncio.sleep(0)
    bench.provider.let_go()
    debate = await running

    assert debate.open_clarifications
    assert debate.follow_up_answers
    assert store.reads - before < 20
