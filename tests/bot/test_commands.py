"""Facts in the log take effect, also where whoever asked for them has stopped waiting."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import pytest

from bot.commands import Commands
from core.errors import BadInput
from core.events import DebatePaused, DebateStarted, Event, TurnFailed
from core.models import Act, Failure, Person, Turn, Usage
from core.opening import Wish
from core.ports import Appended, DebateFilter, RunToken
from core.settings import Caps, Settings
from core.store.memory import InMemoryStore
from core.testing import ManualClock, a_setup

DANA = Person(id="U0DANA", name="Dana")


class SlowStore(InMemoryStore):
    """Commits at once, and says so late."""

    def __init__(self) -> None:
        super().__init__()
        self.said = asyncio.Event()

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> Appended:
        appended = await super().append(debate_id, event, at=at, run=run)
        await self.said.wait()
        return appended


class Woken:
    """A runner that only remembers what it was woken for."""

    def __init__(self) -> None:
        self.debates: list[str] = []

    @property
    def held(self) -> Sequence[str]:
        return self.debates

    async def start(self) -> None:
        """Take up nothing."""

    async def close(self) -> None:
        """Stop nothing."""

    def wake(self, debate_id: str) -> None:
        self.debates.append(debate_id)


async def test_what_was_recorded_takes_effect_though_nobody_waits_for_it_any_more() -> None:
    store, runner, clock = SlowStore(), Woken(), ManualClock()
    commands = Commands(store=store, runner=runner, clock=clock, settings=Settings)
    await store.create("d1", DebateStarted(setup=a_setup()), origin="o1", at=clock.now())

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await commands.record("d1", DebatePaused(by=DANA, origin="1"))

    assert len(await store.events("d1")) == 2
    assert runner.debates == ["d1"]


@pytest.mark.parametrize("cap", ["person_day_cost", "day_cost"])
async def test_nothing_starts_when_the_money_of_the_day_is_spent(cap: str) -> None:
    store, clock = InMemoryStore(), ManualClock()
    settings = Settings()
    commands = Commands(
        store=store,
        runner=Woken(),
        clock=clock,
        settings=lambda: settings.model_copy(update={"caps": Caps(**{cap: Decimal("0.06")})}),
        spending=store,
    )
    setup = a_setup()
    wish = Wish(question="Tabs or spaces?", asked_by=setup.asked_by, place=setup.place)
    started = await commands.start_debate(wish, origin="o1")
    failure = Failure(
        turn=Turn(act=Act.PROPOSAL, round=1, agent="ann"),
        reason="No.",
        usage=Usage(cost=Decimal("0.06"), attempts=1),
    )
    await store.append(started.debate_id, TurnFailed(failure=failure), at=clock.now())
    with pytest.raises(BadInput, match=r"\$0.06"):
        await commands.start_debate(wish, origin="o2")
    await commands.start_debate(wish, origin="o1")  # a repeated request is no new debate
    assert len(await store.find(DebateFilter())) == 1
