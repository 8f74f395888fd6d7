"""A queue of landings with a real table, and debates to tell of; its clock is the test's."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import update

from bot.landing.landing_queue import LandingQueue
from bot.landing.receivers import LandedRecord, Landing, Receiver
from bot.queue.landings import LandingBacklog, Landings
from bot.queue.outbox import Outbox
from bot.queue.outgoing import Outgoing, RenderedPosts
from bot.queue.rows import PostRow, Posts
from bot.slack.client import SingleWorkspaceClient, WorkspaceClient
from bot.slack.payloads import Identity
from bot.store.leases import Leases
from bot.store.tables import QUEUE, prepare
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import Event, fold
from core.debate.people_events import DecisionRecorded
from core.debate.state import Debate
from core.debate.turn_events import VerdictReached
from core.debate.verdict import Decision, DecisionKind
from core.ports import DebateStore
from core.store.database import Database
from core.testing import InMemoryStore, ManualClock, a_setup
from tests.bot.plays import DANA, a_verdict

FIRST, SECOND = "dabc2345", "dxyz2345"


class Office:
    """Where debates are held and told of. Keeps how attempts came out and what people were told."""

    def __init__(
        self,
        database: Database,
        receivers: Sequence[Receiver],
        store: DebateStore | None = None,
        owner: str = "this",
    ) -> None:
        self.outcomes = list[str]()
        identity = Identity(team_id="T1", user_id="U1")
        outgoing = Outgoing(
            posts=Posts(database),
            leases=Leases(database, owner),
            clients=SingleWorkspaceClient(WorkspaceClient(AsyncWebClient(), identity)),
            render=self._render,
        )
        self.clock, self.database, self.store = ManualClock(), database, store or InMemoryStore()
        self.queue = LandingQueue(
            outbox=Outbox(outgoing),
            store=self.store,
            receivers={receiver.name: receiver for receiver in receivers},
            tell=self,
            thread_link=self._no_link,
            on_outcome=self.outcomes.append,
        )
        self.landed = list[LandedRecord]()
        #: Why, and when it is tried again.
        self.failures = list[tuple[str, float | None]]()

    async def _no_link(self, _debate: Debate) -> str:
        return ""

    async def _render(self, _rows: Sequence[PostRow]) -> RenderedPosts:
        raise AssertionError("No post is queued here.")

    @property
    def landings(self) -> Landings:
        return self.queue.landings

    async def backlog(self) -> LandingBacklog:
        return await self.landings.backlog(10)

    async def report_landing(self, _receiver: str, _landing: Landing, landed: LandedRecord) -> None:
        self.landed.append(landed)

    async def report_failure(
        self, _receiver: Receiver, _landing: Landing, why: str, *, again_after: float | None
    ) -> None:
        self.failures.append((why, again_after))

    async def happen(self, event: Event, debate_id: str = FIRST) -> None:
        """Record an event and have it told."""
        self.clock.advance(60)
        now = self.clock.now()
        if isinstance(event, DebateStarted):
            await self.store.create(debate_id, event, origin=debate_id, at=now)
        else:
            await self.store.append(debate_id, event, at=now)
        log = await self.store.events(debate_id)
        await self.queue.publish(fold(log), log[-1])

    async def debated(
        self,
        question: str = "Kafka or PostgreSQL for jobs?",
        decision: str = "Use PostgreSQL.",
        debate_id: str = FIRST,
    ) -> None:
        """Hold a debate."""
        await self.happen(DebateStarted(setup=a_setup(question)), debate_id)
        await self.happen(VerdictReached(verdict=a_verdict(decision=decision)), debate_id)
        await self.happen(DebateConcluded(), debate_id)

    async def decide(
        self,
        kind: DecisionKind = DecisionKind.ACCEPT,
        debate_id: str = FIRST,
        *,
        why: str = "",
        by: str | None = None,
    ) -> None:
        """Have Dana decide."""
        origin = f"{kind}-{self.clock.now()}"
        decision = Decision(kind=kind, by=DANA, why=why, superseded_by=by, origin=origin)
        await self.happen(DecisionRecorded(decision=decision), debate_id)

    async def decided(self, *, decision: str = "Use PostgreSQL.", why: str = "") -> None:
        """Hold a debate whose decision Dana accepts, until nothing waits."""
        await self.debated(decision=decision)
        await self.decide(why=why)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing waits; the clock leaps to when it is tried again."""
        while (await self.landings.backlog()).waiting:
            await self._next()

    async def until(self, outcome: str) -> None:
        """Wait until an attempt came out like this."""
        while outcome not in self.outcomes:
            await self._next()

    async def _next(self) -> None:
        """Have what is to be tried later be tried now; where nothing is, wait a little."""
        rows = (await self.landings.backlog(100)).rows
        later = [row for row in rows if row.due_in > 0]
        for row in later:
            self.clock.advance(round(row.due_in))
            now = update(QUEUE).where(QUEUE.c.id == row.id).values(due=0.0)
            await self.database.write(lambda c, now=now: c.execute(now))
            self.queue.outbox.wake(row.lane)
        if not later:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def open_office(
    receivers: Sequence[Receiver], location: str, store: DebateStore | None = None
) -> AsyncGenerator[Office]:
    """Run the queue for as long as the block lasts."""
    async with await Database.open(location) as database:
        await prepare(database)
        office = Office(database, receivers, store)
        await office.queue.outbox.start()
        try:
            yield office
        finally:
            await office.queue.outbox.close()
