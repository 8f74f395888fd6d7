"""Facts in the log take effect, also where whoever asked for them has stopped waiting."""

import asyncio
from datetime import datetime

import pytest

from core.debate.debate_events import DebateStarted
from core.debate.log import Event
from core.debate.people import Person
from core.debate.people_events import DebatePaused
from core.ports import AppendResult, RunToken
from core.store.memory import InMemoryStore
from core.testing import ManualClock, a_setup
from core.use_cases.fact_log import FactLog

DANA = Person(id="U0DANA", name="Dana")


class SlowStore(InMemoryStore):
    """Commits at once, and says so late."""

    def __init__(self) -> None:
        super().__init__()
        self.said = asyncio.Event()

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> AppendResult:
        appended = await super().append(debate_id, event, at=at, run=run)
        await self.said.wait()
        return appended


async def test_what_was_recorded_takes_effect_though_nobody_waits_for_it_any_more() -> None:
    store, clock = SlowStore(), ManualClock()
    woken: list[str] = []
    facts = FactLog(store=store, clock=clock, wake=woken.append)
    await store.create("d1", DebateStarted(setup=a_setup()), origin="o1", at=clock.now())

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await facts.record("d1", DebatePaused(by=DANA, origin="1"))

    assert len(await store.events("d1")) == 2
    assert woken == ["d1"]
