"""The runner: takes up, wakes, survives, gives up in words, stops cleanly, shares with others."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from bot.running.debates import STOP_SECONDS, Runner
from bot.store.leases import Leases
from bot.store.tables import prepare
from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.contributions import Failure
from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import fold
from core.debate.state import Debate, Status
from core.debate.turn import Act, Turn
from core.debate.turn_events import TurnFailed
from core.engine import Engine
from core.errors import DebateUnknown, RunLost, StoreDown
from core.llm.call import ModelCalls
from core.store.database import Database
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


class ParkingEngine(StubbornEngine):
    """Leaves every debate to people."""

    async def run(self, debate_id: str) -> Debate:
        self.runs.append(debate_id)
        return fold(await self._store.events(debate_id))


@pytest.fixture
async def store() -> InMemoryStore:
    store = InMemoryStore()
    for debate_id in ("daaaaaaa", "dbbbbbbb"):
        started = DebateStarted(setup=a_setup())
        await store.create(debate_id, started, origin=debate_id, at=ManualClock().now())
    return store


def runner_of(engine: StubbornEngine, store: InMemoryStore) -> Runner:
    return Runner(engine=engine, store=store, clock=ManualClock())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not condition():  # noqa: ASYNC110 - it looks at plain values
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("error", [StoreDown(), ConnectionError(), ValueError("a fault")])
async def test_a_debate_goes_on_after_what_passes(store: InMemoryStore, error: Exception):
    engine = StubbornEngine(store, lambda run: error if run <= 3 else None)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: not runner.held_ids)
    assert len(engine.runs) == 4
    await runner.close()


@pytest.mark.parametrize("error", [RunLost(), DebateUnknown()])
async def test_a_debate_that_is_not_ours_is_let_go(store: InMemoryStore, error: Exception):
    engine = StubbornEngine(store, lambda _: error)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: not runner.held_ids)
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
    runner = Runner(engine=engine, store=store, clock=SystemClock(), look_seconds=0.05)
    await runner.start()
    await until(lambda: any(debate.status is Status.CONCLUDED for debate in sink.debates))
    await until(lambda: not runner.held_ids)
    await runner.close()

    assert fold(await store.events("dbbbbbbb")).status is Status.CONCLUDED
    assert len(await store.events("daaaaaaa")) == 2


async def test_a_debate_that_always_fails_ends_in_words(store: InMemoryStore):
    engine = StubbornEngine(store, lambda run: ValueError("a fault") if run <= 6 else None)
    runner = runner_of(engine, store)
    runner.wake("daaaaaaa")
    await until(lambda: not runner.held_ids)
    last = (await store.events("daaaaaaa"))[-1].event
    assert isinstance(last, DebateFailed)
    assert "Moot itself failed" in last.reason
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
    assert not runner.held_ids


async def test_a_debate_that_waits_for_people_is_one_replicas_until_that_stops(
    store: InMemoryStore, on_postgres: str
) -> None:
    debates = {"daaaaaaa", "dbbbbbbb"}
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        engines = ParkingEngine(store), ParkingEngine(store)
        leases = Leases(database, "first"), Leases(database, "second")
        first, second = (
            Runner(engine=engine, store=store, clock=SystemClock(), leases=of_it, look_seconds=0.02)
            for engine, of_it in zip(engines, leases, strict=True)
        )
        await first.start()
        await until(lambda: set(engines[0].runs) == debates)
        await second.start()
        second.wake("daaaaaaa")
        await until(lambda: not second.held_ids)
        assert engines[1].runs == []

        await first.close()
        await leases[0].close()
        await until(lambda: set(engines[1].runs) == debates)
        await second.close()
        await leases[1].close()

        again = ParkingEngine(store)
        third = Runner(
            engine=again,
            store=store,
            clock=SystemClock(),
            leases=Leases(database, "third"),
            look_seconds=3600,
        )
        await third.start()
        await until(lambda: set(again.runs) == debates and not third.held_ids)
        assert len(again.runs) == 2, "each is taken up once"
        await third.close()


async def test_what_is_new_after_the_end_waits_for_the_replica_that_holds_the_debate_still(
    store: InMemoryStore, on_postgres: str
) -> None:
    await store.append("daaaaaaa", DebateConcluded(), at=ManualClock().now())
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        other, leases = Leases(database, "other"), Leases(database, "ours")
        await other.acquire("debate/daaaaaaa")
        engine = ParkingEngine(store)
        runner = Runner(
            engine=engine, store=store, clock=SystemClock(), leases=leases, look_seconds=0.02
        )
        runner.wake("daaaaaaa")
        await asyncio.sleep(0.1)
        assert engine.runs == []
        await other.forget("debate/daaaaaaa")
        await until(lambda: engine.runs == ["daaaaaaa"])
        await runner.close()


async def test_a_debate_that_another_replica_took_meanwhile_is_not_taken_back(
    store: InMemoryStore, on_postgres: str
) -> None:
    """The database was away for longer than the lease holds."""
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        other, leases = Leases(database, "other"), Leases(database, "ours", holds=0.1)

        class CutOffEngine(StubbornEngine):
            async def run(self, debate_id: str) -> Debate:
                self.runs.append(debate_id)
                while await other.acquire("debate/daaaaaaa") is None:  # noqa: ASYNC110 - its lease ends
                    await asyncio.sleep(0.02)
                raise StoreDown

        engine = CutOffEngine(store)
        runner = Runner(engine=engine, store=store, clock=SystemClock(), leases=leases)
        runner.wake("daaaaaaa")
        await until(lambda: not runner.held_ids)
        assert len(engine.runs) == 1
        assert other.holds("debate/daaaaaaa")
        await runner.close()


async def test_a_debate_lost_to_a_process_without_its_lease_is_taken_over(
    store: InMemoryStore, on_postgres: str
) -> None:
    """That process may die while the debate waits for people: somebody must hold the lease."""
    await store.mark_published("daaaaaaa", 1)
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        leases = Leases(database, "first", holds=6.0), Leases(database, "second")
        is_taken = asyncio.Event()

        class LosingEngine(StubbornEngine):
            async def run(self, debate_id: str) -> Debate:
                self.runs.append(debate_id)
                await is_taken.wait()
                raise RunLost

        engines = LosingEngine(store), ParkingEngine(store)
        first, second = (
            Runner(engine=engine, store=store, clock=SystemClock(), leases=of_it, look_seconds=0.02)
            for engine, of_it in zip(engines, leases, strict=True)
        )
        await leases[0].start()
        first.wake("daaaaaaa")
        await until(lambda: engines[0].runs == ["daaaaaaa"])
        await second.start()
        await until(lambda: engines[1].runs == ["dbbbbbbb"])
        is_taken.set()
        await until(lambda: "daaaaaaa" in engines[1].runs)
        await second.close()
        await first.close()
        await leases[0].close()


@pytest.mark.leaping
async def test_a_lease_that_could_not_be_renewed_is_soon_tried_again() -> None:
    loop = asyncio.get_running_loop()
    began, attempts = loop.time(), list[int]()

    class DatabaseAway:
        is_shared = True

        async def write(self, _work: object) -> tuple[None, bool]:
            attempts.append(round(loop.time() - began))
            if len(attempts) > 1:
                raise StoreDown
            return None, True

    leases = Leases(cast("Database", DatabaseAway()), "ours")
    await leases.acquire("debate/daaaaaaa")
    await leases.start()
    await asyncio.sleep(7.5)
    await leases.close()
    assert attempts[:4] == [0, 5, 6, 7]
