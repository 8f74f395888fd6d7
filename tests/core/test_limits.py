"""Time limits, pauses, waits and downtime: who is late fails, who waits does not."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.events import (
    ClarificationAnswered,
    ClarificationsOpened,
    ContributionMade,
    DebateFailed,
    DebatePaused,
    DebateResumed,
    DebateStarted,
    Event,
    FollowUpAsked,
    Recorded,
    StopRequested,
    fold,
)
from core.models import (
    ENGINE,
    Act,
    Answer,
    Clarification,
    Clarifications,
    Clarifying,
    Contribution,
    Debate,
    FollowUp,
    Limits,
    Person,
    Setup,
    Status,
    Stop,
    Turn,
    Usage,
)
from core.request import ModelReply, ModelRequest
from core.rules import schedule
from core.store.memory import InMemoryStore
from core.testing import RecordingSink, ScriptedProvider, a_setup
from tests.core.bench import DEBATE, Bench

pytestmark = pytest.mark.leaping

DANA = Person(id="U1", name="Dana")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Hanging(ScriptedProvider):
    """A model that never answers some requests."""

    def __init__(self, hangs: Callable[[ModelRequest], bool]) -> None:
        super().__init__()
        self._hangs = hangs

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        if self._hangs(request):
            self.requests.append(request)
            await asyncio.sleep(60)
        return await super().complete(request, on_first_token)


def limited(rounds: int = 1, **limits: float) -> Setup:
    setup = a_setup(rounds=rounds)
    return setup.model_copy(update={"limits": setup.limits.model_copy(update=limits)})


async def test_a_turn_that_outlasts_its_round_fails_and_the_debate_goes_on() -> None:
    def hangs(request: ModelRequest) -> bool:
        return request.act is Act.CRITIQUE and request.role == "security"

    debate = await Bench(Hanging(hangs)).run(limited(round_seconds=0.5))

    assert debate.status is Status.CONCLUDED
    assert debate.failures["r1/critique/security/architect"].reason == "The round's time was up."
    assert debate.verdict


async def test_the_judge_is_not_bound_by_the_last_rounds_time() -> None:
    class Slow(ScriptedProvider):
        async def complete(
            self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
        ) -> ModelReply:
            if request.act in {Act.SYNTHESIS, Act.BALLOT}:
                await asyncio.sleep(0.7)
            return await super().complete(request, on_first_token)

    debate = await Bench(Slow()).run(limited(round_seconds=0.6))

    assert debate.verdict
    assert debate.verdict.decision == "Use PostgreSQL."
    assert not debate.failures


def a_log(*steps: tuple[float, Event], setup: Setup | None = None) -> Debate:
    """A debate whose events came so many seconds after its start."""
    start: tuple[float, Event] = (0, DebateStarted(setup=setup or a_setup()))
    return fold(
        Recorded(DEBATE, seq, START + timedelta(seconds=after), event)
        for seq, (after, event) in enumerate([start, *steps], start=1)
    )


def said(number: int, agent: str) -> Event:
    turn = Turn(act=Act.PROPOSAL, round=number, agent=agent)
    return ContributionMade(contribution=Contribution(turn=turn, text="x"))


def test_time_the_bot_was_down_counts_as_one_turn_at_most() -> None:
    limits = Limits(turn_seconds=100)
    setup = a_setup().model_copy(update={"limits": limits})

    assert a_log((10, said(1, "architect")), (9999, said(1, "security")), setup=setup).worked == 110


async def test_people_get_their_time_to_answer_back_after_a_pause() -> None:
    bench = Bench()
    await bench.start(a_setup().model_copy(update={"clarifying": Clarifying(enabled=True)}))
    waiting = await bench.engine.run(DEBATE)
    before = schedule.due(waiting)
    await bench.add(DebatePaused(by=DANA, origin="1"))
    await asyncio.sleep(0.05)
    await bench.add(DebateResumed(by=DANA, origin="2"))
    after = schedule.due(await bench.engine.run(DEBATE))

    assert before
    assert after
    assert after - before >= timedelta(seconds=0.05)


async def test_waiting_for_answers_leaves_the_first_round_its_whole_time() -> None:
    setup = limited(round_seconds=0.5, debate_seconds=5)
    bench = Bench()
    await bench.start(setup.model_copy(update={"clarifying": Clarifying(enabled=True)}))
    parked = await bench.engine.run(DEBATE)
    await asyncio.sleep(0.7)
    for item in parked.open_clarifications:
        await bench.add(
            ClarificationAnswered(answer=Answer(number=item.number, text="ten", by=DANA))
        )
    debate = await bench.engine.run(DEBATE)

    assert debate.status is Status.CONCLUDED
    assert not debate.failures


@pytest.mark.parametrize(
    "end",
    [StopRequested(stop=Stop(by=DANA)), DebateFailed(reason="The channel is gone.", edition=1)],
    ids=["by a stop", "by an end from outside"],
)
async def test_calls_given_up_are_booked(end: Event) -> None:
    bench = Bench(Hanging(lambda request: request.act is Act.CRITIQUE))
    await bench.start()
    engine = bench.engine
    running = asyncio.create_task(engine.run(DEBATE))
    while len(bench.provider.asked(Act.CRITIQUE)) < 6:  # noqa: ASYNC110 - nothing tells us
        await asyncio.sleep(0.01)
    await bench.add(end)
    engine.wake(DEBATE)
    debate = await running

    dropped = sum((one.usage for one in debate.spent if not one.agent), start=Usage())
    assert dropped.attempts >= 6
    assert debate.usage.attempts == len(bench.provider.requests)
    again = fold(await bench.store.events(DEBATE))
    assert replace(again) == debate


async def test_a_stop_that_comes_while_a_turn_ends_does_not_wait_for_the_next_end() -> None:
    """The stop lies in the log right behind our own outcome: no gap gives it away."""

    class Slow(RecordingSink):
        """Holds the engine up at the start, until somebody opens the way."""

        def __init__(self) -> None:
            super().__init__()
            self.way = asyncio.Event()

        async def publish(self, debate: Debate, recorded: Recorded) -> None:
            await self.way.wait()
            await super().publish(debate, recorded)

    def hangs(request: ModelRequest) -> bool:
        return request.act is Act.PROPOSAL and request.role != "architect"

    sink = Slow()
    bench = Bench(Hanging(hangs), sink=sink)
    await bench.start(a_setup(rounds=1))
    engine = bench.engine
    running = asyncio.create_task(engine.run(DEBATE))
    async with asyncio.timeout(300):
        while len(await bench.store.events(DEBATE)) == 1:  # noqa: ASYNC110 - nothing tells us
            await asyncio.sleep(0.01)
        await bench.add(StopRequested(stop=Stop(by=DANA)))
        engine.wake(DEBATE)
        sink.way.set()
        debate = await running

    assert debate.stop
    assert debate.status is Status.CONCLUDED
    assert len(debate.contributions) == 1


class Looking(InMemoryStore):
    """A store that counts how often a log is read."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[Recorded]:
        self.looks += 1
        return await super().events(debate_id, after=after)


class Thinking(ScriptedProvider):
    """Takes many steps of the event loop for the answers to one kind of turn."""

    def __init__(self, slow: Act) -> None:
        super().__init__()
        self.slow = slow

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        if request.act is self.slow:
            for _ in range(2000):
                await asyncio.sleep(0)
        return await super().complete(request, on_first_token)


def a_question_whose_time_is_over() -> ClarificationsOpened:
    turn = Turn(act=Act.CLARIFICATION, round=1, agent=ENGINE)
    asked = Clarification(number=1, question="How many?", assumption="Few", asked_by=("engine",))
    return ClarificationsOpened(
        clarifications=Clarifications(turn=turn, items=(asked,), until=START)
    )


async def test_a_question_left_open_at_the_end_keeps_nobody_awake_while_an_answer_is_made() -> None:
    store = Looking()
    bench = Bench(Thinking(Act.FOLLOW_UP), store)
    await bench.run()
    await bench.add(a_question_whose_time_is_over())
    await bench.add(FollowUpAsked(question=FollowUp(id="M1", by=DANA, text="Why?", number=1)))
    before = store.looks
    debate = await bench.engine.run(DEBATE)

    assert debate.open_clarifications
    assert debate.follow_up_answers
    assert store.looks - before < 20


async def test_a_question_whose_time_is_over_keeps_nobody_awake_while_turns_are_taken() -> None:
    store = Looking()
    bench = Bench(Thinking(Act.PROPOSAL), store)
    await bench.start()
    await bench.add(a_question_whose_time_is_over())
    debate = await bench.engine.run(DEBATE)

    assert debate.verdict
    assert store.looks < 100
