"""Money held for calls under way."""

import asyncio
from decimal import Decimal

import pytest

from core.errors import CapReached
from core.llm.budget_holds import CAPS_KEPT, BudgetHolds
from core.models import Cap


def a_cap(limit: str, spent: str = "0", key: str = "debate/d1") -> Cap:
    return Cap(key, "this debate", Decimal(limit), Decimal(spent))


async def test_calls_made_at_the_same_time_cannot_pass_a_cap_together() -> None:
    ledger = BudgetHolds()
    first = await ledger.hold([a_cap("1.00")], Decimal("0.60"))
    second = asyncio.create_task(ledger.hold([a_cap("1.00")], Decimal("0.60")))
    await asyncio.sleep(0)
    assert not second.done()
    ledger.settle(first, Decimal("0.50"))

    with pytest.raises(CapReached):
        await second


async def test_a_call_waits_for_what_others_hold_and_goes_on_when_they_spend_little() -> None:
    ledger = BudgetHolds()
    first = await ledger.hold([a_cap("1.00")], Decimal("0.60"))
    second = asyncio.create_task(ledger.hold([a_cap("1.00")], Decimal("0.60")))
    await asyncio.sleep(0)
    ledger.settle(first, Decimal("0.01"))

    assert (await second).amount == Decimal("0.60")


async def test_what_never_fits_is_refused_at_once_whoever_holds_money() -> None:
    ledger = BudgetHolds()
    await ledger.hold([a_cap("1.00")], Decimal("0.60"))

    with pytest.raises(CapReached):
        await ledger.hold([a_cap("1.00")], Decimal("1.01"))


async def test_what_is_not_spent_is_given_back() -> None:
    ledger = BudgetHolds()
    held = await ledger.hold([a_cap("1.00")], Decimal("0.90"))
    ledger.settle(held, Decimal("0.05"))

    await ledger.hold([a_cap("1.00")], Decimal("0.90"))


async def test_a_stale_figure_does_not_hide_what_was_just_spent() -> None:
    ledger = BudgetHolds()
    stale = a_cap("1.00", spent="0.20")
    ledger.settle(await ledger.hold([stale], Decimal("0.70")), Decimal("0.70"))

    with pytest.raises(CapReached):
        await ledger.hold([stale], Decimal("0.20"))


async def test_what_others_spent_counts_too() -> None:
    ledger = BudgetHolds()
    ledger.settle(await ledger.hold([a_cap("1.00")], Decimal("0.10")), Decimal("0.10"))

    with pytest.raises(CapReached):
        await ledger.hold([a_cap("1.00", spent="0.95")], Decimal("0.10"))


async def test_money_is_not_counted_twice_once_the_caller_knows_of_it() -> None:
    ledger = BudgetHolds()
    ledger.settle(await ledger.hold([a_cap("1.00")], Decimal("0.50")), Decimal("0.50"))

    await ledger.hold([a_cap("1.00", spent="0.50")], Decimal("0.50"))


async def test_every_cap_of_a_call_is_charged() -> None:
    ledger = BudgetHolds()
    both = [a_cap("5.00"), a_cap("1.00", key="person/U1/2026-01-05")]
    ledger.settle(await ledger.hold(both, Decimal("0.80")), Decimal("0.80"))

    with pytest.raises(CapReached):
        await ledger.hold([a_cap("1.00", key="person/U1/2026-01-05")], Decimal("0.30"))
    await ledger.hold([a_cap("5.00")], Decimal("0.30"))


async def test_a_cost_nobody_knows_is_booked_as_the_worst_case() -> None:
    ledger = BudgetHolds()
    ledger.settle(await ledger.hold([a_cap("1.00")], Decimal("0.80")), None)

    with pytest.raises(CapReached):
        await ledger.hold([a_cap("1.00")], Decimal("0.30"))


async def test_an_idle_cap_is_forgotten_in_the_end_and_one_in_use_is_not() -> None:
    ledger = BudgetHolds()
    idle = await ledger.hold([a_cap("1.00", key="idle")], Decimal("0.10"))
    ledger.settle(idle, Decimal("0.10"))
    used = await ledger.hold([a_cap("1.00", key="used")], Decimal("0.60"))
    for number in range(CAPS_KEPT):
        free = await ledger.hold([a_cap("1.00", key=str(number))], Decimal(0))
        ledger.settle(free, Decimal(0))

    # Only the database's figure counts now, here nothing.
    await ledger.hold([a_cap("1.00", key="idle")], Decimal("0.95"))
    waiting = asyncio.create_task(ledger.hold([a_cap("1.00", key="used")], Decimal("0.60")))
    await asyncio.sleep(0)
    assert not waiting.done()
    ledger.settle(used, Decimal("0.60"))
    with pytest.raises(CapReached):
        await waiting
