"""The local runner: takes up, wakes, survives, gives up in words, stops cleanly."""

import asyncio
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from bot.running.debate_runner import DebateRunner
from bot.running.debates import STOP_SECONDS, LocalRunner
from core.acts.take import Turns
from core.clock import SystemClock
from core.engine import Engine
from core.errors import DebateUnknown, LogBroken, RunLost, StoreDown
from core.events import DebateConcluded, DebateFailed, DebateStarted, TurnFailed, fold
from core.llm.call import ModelCalls
from core.models import Act, Debate, Failure, Status, Turn
from core.store.memory import InMemoryStore
from core.testing import ManualClock, RecordingSink, ScriptedProvider, a_setup

Behaviour = Callable[[int], BaseException | None]


class StubbornEngine:
    """Ends a debate on its first run, or raises what the test says for the run of that number."""

    def __init__(self, store: InMemoryStore, behaviour: Behaviour = lambda _: None) -> None:
        self.runs: list[str] = []
        self.woken: list[str] = []
        self._store = store
        self._behaviour = behaviour

    async def run(self, debate_id: str) -> Debate:
        self.runs.append(debate_id)
        error = self._behaviour(len(self.runs))
        if error:
            raise error
        await self._store.append(debate_id, DebateConcluded(), at=ManualClock().now())
        return fold(await self._store.events(debate_id))

    def wake(self, debate_id: str) -> bool:
        self.woken.append(debate_id)
        return True


class SleepingEngine(StubbornEngine):
    """Never ends a debate by itself."""

    async def run(self, debate_id: str) -> Debate:
        self.runs.append(debate_id)
        await asyncio.sleep(3600)
        raise AssertionError


@pytest.fixture
async def store() -> InMemoryStore:
    found = InMemoryStore()
    for debate_id in ("daaaaaaa", "dbbbbbbb"):
        started = DebateStarted(setup=a_setup())
        await found.create(debate_id, started, origin=debate_id, at=ManualClock().now())
    return found


def runner_of(engine: StubbornEngine, store: InMemoryStore) -> LocalRunner:
    return LocalRunner(engine=engine, store=store, clock=ManualClock())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not condition():  # noqa: ASYNC110 - it looks at plain values
            await asyncio.sleep(0.005)


async def test_the_end_of_a_debate_is_logged_once_however_often_it_is_looked_at(
    store: InMemoryStore,
):
    holder = DebateRunner(engine=StubbornEngine(store), store=store, clock=ManualClock())
    with capture_logs() as logs:
        for debate_id in ("daaaaaaa", "daaaaaaa", "dbbbbbbb"):
            await holder.hold(debate_id)
    assert [log["event"] for log in logs] == ["ended", "ended"]


async def test_what_is_unfinished_is_taken_up_at_the_start(store: InMemoryStore):
    engine = StubbornEngine(store)
    runner = runner_of(engine, store)
    await runner.start()
    await until(lambda: len(engine.runs) == 2 and not runner.held)
    assert engine.runs == ["daaaaaaa", "dbbbbbbb"]
    await runner.close()


async def test_news_reaches_a_debate_that_is_being_worked_on(store: InMemoryStore):
    engine = SleepingEngine(store)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: engine.runs == ["daaaaaaa"])
    runner.wake("daaaaaaa")
    assert engine.woken == ["daaaaaaa", "daaaaaaa"]
    assert engine.runs == ["daaaaaaa"]
    await runner.close()


@pytest.mark.parametrize("error", [StoreDown(), ConnectionError(), ValueError("a fault")])
async def test_a_debate_goes_on_after_what_passes(store: InMemoryStore, error: Exception):
    engine = StubbornEngine(store, lambda run: error if run <= 3 else None)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: not runner.held)
    assert len(engine.runs) == 4
    await runner.close()


@pytest.mark.parametrize("error", [RunLost(), DebateUnknown()])
async def test_a_debate_that_is_not_ours_is_let_go(store: InMemoryStore, error: Exception):
    engine = StubbornEngine(store, lambda _: error)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: not runner.held)
    assert len(engine.runs) == 1
    await runner.close()


async def test_a_debate_with_a_damaged_log_is_looked_at_once(store: InMemoryStore):
    engine = StubbornEngine(store, lambda _: LogBroken())
    runner = runner_of(engine, store)
    for _ in range(3):
        runner.wake("daaaaaaa")
        await until(lambda: not runner.held)
    assert len(engine.runs) == 1
    await runner.close()


async def test_a_broken_log_is_left_alone_and_no_other_debate_is_held_up(store: InMemoryStore):
    """An impossible event: the debate stays as it is, for a person to look at."""
    nobody = Turn(act=Act.PROPOSAL, round=1, agent="eve")
    lost = TurnFailed(failure=Failure(turn=nobody, reason="x"))
    await store.append("daaaaaaa", lost, at=ManualClock().now())
    turns = Turns(ModelCalls({"scripted": ScriptedProvider()}, SystemClock()))
    sink = RecordingSink()
    engine = Engine(store=store, turns=turns, sink=sink, clock=SystemClock())
    runner = LocalRunner(engine=engine, store=store, clock=SystemClock(), remind_seconds=0.05)
    await runner.start()
    await until(lambda: any(debate.status is Status.CONCLUDED for debate in sink.debates))
    await until(lambda: not runner.held)
    await runner.close()

    assert fold(await store.events("dbbbbbbb")).status is Status.CONCLUDED
    assert len(await store.events("daaaaaaa")) == 2


async def test_a_debate_that_always_fails_ends_in_words(store: InMemoryStore):
    engine = StubbornEngine(store, lambda run: ValueError("a fault") if run <= 6 else None)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: not runner.held)
    last = (await store.events("daaaaaaa"))[-1].event
    assert isinstance(last, DebateFailed)
    assert "Moot itself failed" in last.reason
    await runner.close()


async def test_a_database_that_is_down_never_fails_a_debate(store: InMemoryStore):
    engine = StubbornEngine(store, lambda run: StoreDown() if run <= 30 else None)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: not runner.held)
    last = (await store.events("daaaaaaa"))[-1].event
    assert isinstance(last, DebateConcluded)
    await runner.close()


@pytest.mark.leaping
async def test_closing_stops_everything_soon_and_nothing_begins_after(store: InMemoryStore):
    engine = SleepingEngine(store)
    runner = runner_of(engine, store)
    await runner.start()
    await until(lambda: len(engine.runs) == 2)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await runner.close()
    assert loop.time() - began < STOP_SECONDS, "nothing was waited for"
    runner.wake("daaaaaaa")
    await asyncio.sleep(60)
    assert len(engine.runs) == 2
    assert not runner.held


async def test_a_debate_that_nobody_woke_is_found(store: InMemoryStore):
    engine = StubbornEngine(store)
    runner = LocalRunner(engine=engine, store=store, clock=ManualClock(), remind_seconds=0.05)
    await runner.start()
    await until(lambda: len(engine.runs) == 2 and not runner.held)
    started = DebateStarted(setup=a_setup())
    await store.create("dccccccc", started, origin="slow", at=ManualClock().now())
    await until(lambda: "dccccccc" in engine.runs)
    await runner.close()
