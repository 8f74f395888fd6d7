"""Facts take effect even if the caller is cancelled; deleted debates leave the cache."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

import pytest

from core.debate.debate_events import DebateStarted
from core.debate.log import Event, RecordedEvent
from core.debate.people_events import DebatePaused
from core.errors import DebateUnknown
from core.ports import AppendResult, RunToken
from core.testing import InMemoryStore, ManualClock, a_setup
from core.use_cases.fact_log import FactLog
from tests.core.use_cases.logs import DANA


class LateStore(InMemoryStore):
    """Commits at once and returns late; records the positions from which logs are read."""

    def __init__(self) -> None:
        super().__init__()
        self.said = asyncio.Event()
        self.reads: list[int] = []
        self.is_gone = False

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> AppendResult:
        appended = await super().append(debate_id, event, at=at, run=run)
        await self.said.wait()
        return appended

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        self.reads.append(after)
        if self.is_gone:
            raise DebateUnknown(debate_id)
        return await super().events(debate_id, after=after)


async def test_a_recorded_fact_takes_effect_without_a_waiting_caller() -> None:
    store, clock = LateStore(), ManualClock()
    woken: list[str] = []
    facts = FactLog(store=store, clock=clock, wake=woken.append)
    await store.create("d1", DebateStarted(setup=a_setup()), origin="o1", at=clock.now())

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await facts.record("d1", DebatePaused(by=DANA, origin="1"))
    assert (await facts.debate("d1")).paused_by
    assert woken == ["d1"]

    store.is_gone = True
    for _ in range(2):
        with pytest.raises(DebateUnknown):
            await facts.debate("d1")
    assert store.reads == [0, 2, 0]  # and nothing of it is held
