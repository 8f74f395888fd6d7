"""The runner: takes up, wakes, survives, gives up in words, shares with others."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import cast

import pytest

from bot.running.debates import Runner
from bot.store.leases import Leases
from bot.store.tables import prepare
from core.clock import SystemClock
from core.debate.debate_events import DebateConcluded, DebateFailed, DebateStarted
from core.debate.log import fold
from core.debate.state import Debate
from core.errors import DebateUnknown, RunLost, StoreDown
from core.store.database import Database
from core.testing import InMemoryStore, ManualClock, a_setup

ONE, TWO = "daaaaaaa", "dbbbbbbb"


class ParkingEngine:
    """Leaves every debate to people, or raises what the test says for the run of that number."""

    def __init__(
        self, store: InMemoryStore, behaviour: Callable[[int], BaseException | None] | None = None
    ) -> None:
        self.runs: list[str] = []
        self._store = store
        self._behaviour = behaviour

    async def run(self, debate_id: str) -> Debate:
        self.runs.append(debate_id)
        if self._behaviour and (error := self._behaviour(len(self.runs))):
            raise error
        return fold(await self._store.events(debate_id))

    def wake(self, debate_id: str) -> bool:  # noqa: ARG002 - as a real one
        return True


@pytest.fixture
async def store() -> InMemoryStore:
    store = InMemoryStore()
    for debate_id in (ONE, TWO):
        started = DebateStarted(setup=a_setup())
        await store.create(debate_id, started, origin=debate_id, at=ManualClock().now())
    return store


@pytest.fixture
async def shared(on_postgres: str) -> AsyncIterator[Database]:
    """A database that several processes share."""
    async with await Database.open(on_postgres) as database:
        await prepare(database)
        yield database


def replica(
    engine: ParkingEngine, store: InMemoryStore, leases: Leases, look_seconds: float = 0.02
) -> Runner:
    return Runner(
        engine=engine, store=store, clock=SystemClock(), leases=leases, look_seconds=look_seconds
    )


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(300):
        while not condition():  # noqa: ASYNC110 - it looks at plain values
            await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("error", "failing", "runs"),
    [
        (StoreDown(), 3, 4),  # passes: tried again
        (RunLost(), 9, 1),  # not ours: let go
        (DebateUnknown(), 9, 1),
        (ValueError("a fault"), 6, 7),  # given up in words
    ],
)
async def test_a_debate_continues_after_temporary_errors_and_else_is_released_or_given_up(
    store: InMemoryStore, error: Exception, failing: int, runs: int
):
    engine = ParkingEngine(store, lambda run: error if run <= failing else None)
    runner = Runner(engine=engine, store=store, clock=ManualClock())
    runner.wake(ONE)
    await until(lambda: not runner.held_ids)
    assert len(engine.runs) == runs
    last = (await store.events(ONE))[-1].event
    is_fault = isinstance(error, ValueError)
    assert isinstance(last, DebateFailed) is is_fault
    assert not is_fault or "Moot itself failed" in cast("DebateFailed", last).reason
    await runner.close()


async def test_a_debate_that_waits_for_people_is_one_replicas_until_that_stops(
    store: InMemoryStore, shared: Database
) -> None:
    engines = ParkingEngine(store), ParkingEngine(store)
    leases = Leases(shared, "first"), Leases(shared, "second")
    first, second = (
        replica(engine, store, of_it) for engine, of_it in zip(engines, leases, strict=True)
    )
    await first.start()
    await until(lambda: set(engines[0].runs) == {ONE, TWO})
    await second.start()
    second.wake(ONE)
    await until(lambda: not second.held_ids)
    assert engines[1].runs == []

    await first.close()
    await leases[0].close()
    await until(lambda: set(engines[1].runs) == {ONE, TWO})
    await second.close()
    await leases[1].close()

    again = ParkingEngine(store)
    third = replica(again, store, Leases(shared, "third"), look_seconds=3600)
    await third.start()
    await until(lambda: set(again.runs) == {ONE, TWO} and not third.held_ids)
    assert len(again.runs) == 2, "each is taken up once"
    await third.close()


async def test_what_is_new_after_the_end_waits_for_the_replica_that_holds_the_debate_still(
    store: InMemoryStore, shared: Database
) -> None:
    await store.append(ONE, DebateConcluded(), at=ManualClock().now())
    other, engine = Leases(shared, "other"), ParkingEngine(store)
    await other.acquire(f"debate/{ONE}")
    runner = replica(engine, store, Leases(shared, "ours"))
    runner.wake(ONE)
    await asyncio.sleep(0.1)
    assert engine.runs == []
    await other.forget(f"debate/{ONE}")
    await until(lambda: engine.runs == [ONE])
    await runner.close()


async def test_a_debate_that_another_replica_took_meanwhile_is_not_taken_back(
    store: InMemoryStore, shared: Database
) -> None:
    """The database was away for longer than the lease holds."""
    other = Leases(shared, "other")

    class CutOffEngine(ParkingEngine):
        async def run(self, debate_id: str) -> Debate:
            self.runs.append(debate_id)
            while await other.acquire(f"debate/{ONE}") is None:  # noqa: ASYNC110 - its lease ends
                await asyncio.sleep(0.02)
            raise StoreDown

    engine = CutOffEngine(store)
    runner = replica(engine, store, Leases(shared, "ours", holds=0.1))
    runner.wake(ONE)
    await until(lambda: not runner.held_ids)
    assert len(engine.runs) == 1
    assert other.holds(f"debate/{ONE}")
    await runner.close()


async def test_a_debate_lost_to_a_process_without_its_lease_is_taken_over(
    store: InMemoryStore, shared: Database
) -> None:
    """That process may die while the debate waits for people: somebody must hold the lease."""
    await store.mark_published(ONE, 1)
    is_taken = asyncio.Event()

    class LosingEngine(ParkingEngine):
        async def run(self, debate_id: str) -> Debate:
            self.runs.append(debate_id)
            await is_taken.wait()
            raise RunLost

    engines = LosingEngine(store), ParkingEngine(store)
    leases = Leases(shared, "first", holds=6.0), Leases(shared, "second")
    first, second = (
        replica(engine, store, of_it) for engine, of_it in zip(engines, leases, strict=True)
    )
    await leases[0].start()
    first.wake(ONE)
    await until(lambda: engines[0].runs == [ONE])
    await second.start()
    await until(lambda: engines[1].runs == [TWO])
    is_taken.set()
    await until(lambda: ONE in engines[1].runs)
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
    await leases.acquire(f"debate/{ONE}")
    await leases.start()
    await asyncio.sleep(7.5)
    await leases.close()
    assert attempts[:4] == [0, 5, 6, 7]
