"""Contract of `Reservations`, for each implementation; and a cap that two processes share."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from core.acts.take import Turns
from core.capabilities import Price
from core.clock import SystemClock
from core.debate.contributions import Contribution, Failure
from core.debate.debate_events import DebateStarted
from core.debate.log import Event
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ContributionMade, TurnFailed, VerdictReached
from core.debate.verdict import Verdict
from core.engine import Engine
from core.errors import CapReached, RunLost
from core.llm.budget import Attempt, Budget, caps_of
from core.llm.call import ModelCalls, Tables
from core.ports import Reservation
from core.request import ModelReply, ModelRequest
from core.settings import Caps
from core.store.database import Database
from core.store.debates import SqlDebateStore
from core.store.tables import prepare
from core.testing import RecordingSink, ScriptedProvider, a_setup
from core.usage import Call, Cap, SpendingScope, Usage

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
SOON = NOON + timedelta(minutes=3)
ANN = Turn(act=Act.PROPOSAL, round=1, agent="ann")
Store = SqlDebateStore


@pytest.fixture
async def store(store: Store) -> Store:
    await store.create("d1", DebateStarted(setup=a_setup()), origin="o1", at=NOON)
    return store


def day_cap(limit: str = "1.00") -> Cap:
    workspace = a_setup().place.workspace
    shared = SpendingScope(NOON.date(), workspace)
    return Cap("day/T1", "all debates today", Decimal(limit), scope=shared)


def a_reservation(name: str, amount: str, turn: Turn = ANN) -> Reservation:
    return Reservation(
        id=name, debate_id="d1", turn=turn.key, amount=Decimal(amount), expires_at=SOON
    )


def usage(cost: str) -> Usage:
    return Usage(input_tokens=10, cost=Decimal(cost), attempts=1)


def speech(cost: str) -> Event:
    call = Call(provider="anthropic", model="m", usage=usage(cost))
    return ContributionMade(contribution=Contribution(turn=ANN, text="PostgreSQL.", call=call))


async def room(store: Store, amount: str, at: datetime = NOON) -> bool:
    """Whether the amount can be reserved; the reservation is released."""
    refused = await store.reserve(a_reservation("probe", amount), [day_cap()], at=at)
    await store.settle("probe", Decimal(0), expires_at=SOON)
    return not refused


async def test_what_is_reserved_is_not_there_for_others(store: Store) -> None:
    assert not await store.reserve(a_reservation("a", "0.60"), [day_cap()], at=NOON)

    (reservation,) = await store.reserve(a_reservation("b", "0.60"), [day_cap()], at=NOON)
    assert reservation.spent == 0  # only held: it may yet fit
    assert await room(store, "0.40")


async def test_a_reservation_asked_for_twice_is_one(store: Store) -> None:
    await store.reserve(a_reservation("a", "0.60"), [day_cap()], at=NOON)

    assert not await store.reserve(a_reservation("a", "0.60"), [day_cap()], at=NOON)
    assert await room(store, "0.40")


async def test_all_caps_or_none(store: Store) -> None:
    narrow = replace(day_cap("0.50"), key="person/T1/U1")
    refused = await store.reserve(a_reservation("a", "0.60"), [day_cap(), narrow], at=NOON)

    assert [cap.key for cap in refused] == ["day/T1", "person/T1/U1"]
    assert await room(store, "1.00")


async def test_what_an_attempt_did_cost_counts_before_it_is_recorded(store: Store) -> None:
    await store.reserve(a_reservation("a", "0.60"), [day_cap()], at=NOON)
    await store.settle("a", Decimal("0.25"), expires_at=SOON)

    (reservation,) = await store.reserve(a_reservation("b", "0.80"), [day_cap()], at=NOON)
    assert reservation.spent == Decimal("0.25")
    assert await room(store, "0.75")


async def test_a_cost_nobody_knows_is_the_worst_case_and_none_gives_all_back(store: Store) -> None:
    await store.reserve(a_reservation("a", "0.60"), [day_cap()], at=NOON)
    await store.settle("a", None, expires_at=SOON)
    (reservation,) = await store.reserve(a_reservation("b", "0.60"), [day_cap()], at=NOON)
    assert reservation.spent == Decimal("0.60")

    await store.settle("a", Decimal(0), expires_at=SOON)
    assert await room(store, "1.00")


@pytest.mark.parametrize(
    "event",
    [
        speech("0.25"),
        TurnFailed(failure=Failure(turn=ANN, reason="No.", usage=usage("0.25"))),
    ],
    ids=["said", "failed"],
)
async def test_recorded_spending_takes_the_place_of_its_reservation(
    store: Store, event: Event
) -> None:
    await store.reserve(a_reservation("a", "0.60"), [day_cap()], at=NOON)
    await store.settle("a", Decimal("0.25"), expires_at=SOON)
    await store.append("d1", event, at=NOON)

    assert await room(store, "0.75")
    assert not await room(store, "0.76")


async def test_a_debates_own_cap_counts_the_greater_of_what_is_recorded_and_known(
    store: Store,
) -> None:
    own = Cap("debate/d1", "this debate", Decimal(1), scope=SpendingScope(debate_id="d1"))
    await store.append("d1", speech("0.25"), at=NOON)

    for cap, spent in ((own, "0.25"), (replace(own, spent=Decimal("0.5")), "0.5")):
        (reservation,) = await store.reserve(a_reservation("a", "0.80"), [cap], at=NOON)
        assert reservation.spent == Decimal(spent)
    assert not await store.reserve(a_reservation("a", "0.75"), [own], at=NOON)


async def test_the_verdict_ends_the_reservations_of_the_judge(store: Store) -> None:
    synthesis = Turn(act=Act.SYNTHESIS, round=2, agent="judge")
    await store.reserve(a_reservation("a", "0.60", synthesis), [day_cap()], at=NOON)
    call = Call(provider="anthropic", model="m", usage=usage("0.10"))
    verdict = Verdict(decision="Yes.", solution="So.", confidence=50, call=call)
    await store.append("d1", VerdictReached(verdict=verdict), at=NOON)

    assert await room(store, "0.90")


async def test_other_turns_and_lost_runs_end_no_reservation(store: Store) -> None:
    bob = Turn(act=Act.PROPOSAL, round=1, agent="bob")
    await store.reserve(a_reservation("b", "0.50", bob), [day_cap()], at=NOON)
    lost = await store.claim("d1")
    await store.claim("d1")
    await store.reserve(a_reservation("a", "0.25"), [day_cap()], at=NOON)
    with pytest.raises(RunLost):
        await store.append("d1", speech("0.25"), at=NOON, run=lost)
    assert not await room(store, "0.26")

    await store.append("d1", speech("0.25"), at=NOON)
    assert not await room(store, "0.26")
    assert await room(store, "0.25")


async def test_what_a_dead_process_reserved_expires(store: Store) -> None:
    await store.reserve(a_reservation("a", "0.60"), [day_cap()], at=NOON)

    assert not await room(store, "0.60", at=SOON - timedelta(seconds=1))
    assert await room(store, "0.60", at=SOON)


async def test_a_run_that_holds_its_debate_can_prove_it(store: Store) -> None:
    run = await store.claim("d1")
    await store.check_run(run)
    await store.claim("d1")

    with pytest.raises(RunLost):
        await store.check_run(run)


async def test_who_does_not_fit_is_told_so_until_others_have_settled(store: Store) -> None:
    clock = SystemClock()
    here = Budget(reservations=store, debate_id="d1", turn=ANN.key)
    there = Budget(reservations=store, debate_id="d1", turn="r1/proposal/bob")
    cap = replace(day_cap(), scope=SpendingScope(clock.now().date(), "T1"))
    worst, cheap = Decimal("0.60"), Attempt()

    async def fits(amount: Decimal) -> bool:
        attempt = Attempt()
        async with there.reserve(
            [cap], amount, seconds=180, attempt=attempt, clock=clock
        ) as reserved:
            return reserved

    async with here.reserve([cap], worst, seconds=180, attempt=cheap, clock=clock) as reserved:
        assert reserved
        assert not await fits(worst)
        cheap.usage = usage("0.10")
    assert await fits(worst)

    with pytest.raises(CapReached):
        await fits(Decimal("0.95"))


class Costly(ScriptedProvider):
    """Every reply costs all that it may."""

    async def complete(
        self, request: ModelRequest, on_first_token: Callable[[], None] = lambda: None
    ) -> ModelReply:
        reply = await super().complete(request, on_first_token)
        most = Usage(input_tokens=1, output_tokens=request.max_output_tokens, cost=None, attempts=1)
        return replace(reply, usage=most)


async def test_two_processes_cannot_pass_the_cap_of_a_day_together(on_postgres: str) -> None:
    limit = Decimal("0.50")
    price = Price(input=Decimal(0), output=Decimal(10))

    async with AsyncExitStack() as stack:
        stores: list[SqlDebateStore] = []
        for _ in range(2):
            database = await stack.enter_async_context(await Database.open(on_postgres))
            await prepare(database)
            stores.append(SqlDebateStore(database))

        async def debate_in(store: SqlDebateStore, debate_id: str) -> Debate:
            clock = SystemClock()
            provider = Costly(latency=0.05)
            tables = Tables(prices={agent.model: price for agent in a_setup().agents})
            calls = ModelCalls({"scripted": provider}, clock, tables=tables)
            turns = Turns(
                calls,
                lambda debate: caps_of(debate, Caps(day_cost=limit), clock.now()),
                reservations=store,
            )
            engine = Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock)
            started = DebateStarted(setup=a_setup())
            await store.create(debate_id, started, origin=debate_id, at=clock.now())
            return await engine.run(debate_id)

        debates = await asyncio.gather(debate_in(stores[0], "d1"), debate_in(stores[1], "d2"))

    spent = sum((debate.usage.cost or Decimal(0) for debate in debates), start=Decimal(0))
    assert limit / 2 < spent <= limit
