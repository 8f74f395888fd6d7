"""Starting a debate: what forbids it before any money is spent."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from core.debate.contributions import Failure
from core.debate.setup import Forecast, Setup
from core.debate.turn import Act, Turn
from core.debate.turn_events import TurnFailed
from core.errors import BadInput
from core.estimate import Estimate
from core.opening import DebateRequest
from core.ports import DebateFilter
from core.settings import AllLimits, Settings
from core.store.memory import InMemoryStore
from core.testing import ManualClock, a_setup
from core.usage import Usage
from core.use_cases.choices import Choices
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds
from core.use_cases.start import StartDebate
from tests.core.use_cases.logs import SlowStore


def no_estimate(setup: Setup) -> Estimate:
    raise AssertionError(setup)


@pytest.mark.parametrize("cap", ["person_day_cost", "token_day_cost", "day_cost"])
async def test_nothing_starts_when_the_money_of_the_day_is_spent(cap: str) -> None:
    store, clock = InMemoryStore(), ManualClock()
    settings = Settings(limits=AllLimits.model_validate({cap: Decimal("0.06")}))
    start = StartDebate(
        facts=FactLog(store=store, clock=clock, wake=str),
        settings=lambda: settings,
        estimating=no_estimate,
        bounds=Bounds(),
        spending=store,
    )
    setup = a_setup()
    request = DebateRequest(
        question="Tabs or spaces?", asked_by=setup.asked_by, place=setup.place, token="aa"
    )
    started = await start.start(request, origin="o1")
    failure = Failure(
        turn=Turn(act=Act.PROPOSAL, round=1, agent="ann"),
        reason="No.",
        usage=Usage(cost=Decimal("0.06"), attempts=1),
    )
    await store.append(started.debate_id, TurnFailed(failure=failure), at=clock.now())

    with pytest.raises(BadInput, match=r"\$0.06"):
        await start.start(replace(request, question="Rust or Go?"), origin="o2")
    await start.start(request, origin="o1")  # a repeated request is no new debate
    assert len(await store.find(DebateFilter())) == 1


async def test_a_debate_that_goes_on_from_a_deleted_one_has_begun_all_the_same() -> None:
    store, setup = InMemoryStore(), a_setup()
    start = StartDebate(
        facts=FactLog(store=store, clock=ManualClock(), wake=str),
        settings=Settings,
        estimating=no_estimate,
        bounds=Bounds(),
    )

    started = await start.begin(setup.model_copy(update={"continues": "dgone234"}), origin="o1")

    assert started.fresh
    assert [entry.debate_id for entry in await store.find(DebateFilter())] == [started.debate_id]


async def test_a_program_that_asks_again_begins_no_second_debate_because_money_was_spent() -> None:
    store, setup = InMemoryStore(), a_setup()
    start = StartDebate(
        facts=FactLog(store=store, clock=ManualClock(), wake=str),
        settings=Settings,
        estimating=no_estimate,
        bounds=Bounds(),
    )
    request = DebateRequest(
        question="Tabs or spaces?", asked_by=setup.asked_by, place=setup.place, token="aa"
    )
    first_choices, less = (Choices(debate_cost=Decimal(amount)) for amount in ("1.00", "0.90"))
    first = await start.start(request, origin="o1", choices=first_choices)

    again = await start.start(request, origin="o2", choices=less)
    assert (again.debate_id, again.fresh) == (first.debate_id, False)
    forecast = Forecast(calls=9, seconds=60, cost=Decimal(1), input_tokens=9, output_tokens=9)
    estimated = first.setup.model_copy(update={"forecast": forecast})
    assert not (await start.begin(estimated, origin="o3")).fresh
    # A person who typed another cap wants another debate.
    typed = replace(request, token="", question="Rust or Go?")
    assert (await start.start(typed, origin="o4", choices=first_choices)).fresh
    assert (await start.start(typed, origin="o5", choices=less)).fresh


async def test_debates_started_at_once_do_not_pass_the_bound_together() -> None:
    store, setup = SlowStore(), a_setup()
    start = StartDebate(
        facts=FactLog(store=store, clock=ManualClock(), wake=str),
        settings=Settings,
        estimating=no_estimate,
        bounds=Bounds(debates_per_person=2),
    )
    request = DebateRequest(question="Tabs or spaces?", asked_by=setup.asked_by, place=setup.place)

    results = await asyncio.gather(
        *(start.start(replace(request, question=f"{n}?"), origin=f"o{n}") for n in range(5)),
        return_exceptions=True,
    )

    assert sum(isinstance(result, BadInput) for result in results) == 3
    assert len(await store.find(DebateFilter())) == 2
