"""Test helpers: a debate in a store, with the events recorded in it."""

import asyncio
from datetime import UTC, datetime

from core.debate.contributions import Clarification, Clarifications
from core.debate.debate_events import DebateStarted
from core.debate.log import Event
from core.debate.people import Person
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import ClarificationsOpened, VerdictReached
from core.debate.verdict import Verdict
from core.ports import AppendResult, RunToken
from core.testing import InMemoryStore, ManualClock, a_setup
from core.use_cases.fact_log import FactLog

DEBATE = "dabc2345"
DANA = Person(id="U1", name="Dana")
ALEX = Person(id="U2", name="Alex")


class SlowStore(InMemoryStore):
    """A store that takes its time to write, as a database does: others run meanwhile."""

    async def create(
        self, debate_id: str, started: Event, *, origin: str, at: datetime
    ) -> AppendResult:
        await asyncio.sleep(0)
        return await super().create(debate_id, started, origin=origin, at=at)

    async def append(
        self, debate_id: str, event: Event, *, at: datetime, run: RunToken | None = None
    ) -> AppendResult:
        await asyncio.sleep(0)
        return await super().append(debate_id, event, at=at, run=run)


class Recording:
    """One debate in a store of its own, and the fact log to add to it."""

    def __init__(self, store: InMemoryStore | None = None) -> None:
        self.store = store or SlowStore()
        self.clock = ManualClock()
        self.woken: list[str] = []
        self.facts = FactLog(store=self.store, clock=self.clock, wake=self.woken.append)

    async def begin(self, *events: Event, setup: Setup | None = None) -> Debate:
        """Start the debate and record these events; return it."""
        started = DebateStarted(setup=setup or a_setup())
        await self.store.create(DEBATE, started, origin="test", at=self.clock.now())
        for event in events:
            await self.store.append(DEBATE, event, at=self.clock.now())
        return await self.debate()

    async def debate(self) -> Debate:
        """Return the debate as it is now."""
        return await self.facts.debate(DEBATE)


def questions(number: int, *, closed_by_event: bool = False) -> ClarificationsOpened:
    """So many questions of the architect, open for a day; else the last answer closes them."""
    items = tuple(
        Clarification(number=n, question=f"What of {n}?", assumption="Few", asked_by=("architect",))
        for n in range(1, number + 1)
    )
    turn = Turn(act=Act.CLARIFICATION, round=0, agent="engine")
    until = datetime(2026, 1, 6, tzinfo=UTC)
    card = Clarifications(turn=turn, items=items, until=until, closed_by_event=closed_by_event)
    return ClarificationsOpened(clarifications=card)


def verdict() -> VerdictReached:
    """A verdict of the judge."""
    return VerdictReached(
        verdict=Verdict(decision="Use PostgreSQL.", solution="One table.", confidence=80)
    )
