"""A queue of landings with a real table, and debates to tell of; its clock is the test's."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import update

from bot.landing.landing_queue import LandingQueue
from bot.landing.receivers import LandedRecord, Landing, Receiver
from bot.queue.landings import Landings
from bot.queue.outbox import Outbox
from bot.queue.outgoing import Outgoing
from bot.queue.rows import Posts
from bot.slack.clients import SingleWorkspaceClient, WorkspaceClient
from bot.slack.payloads import Identity
from bot.store.leases import Leases
from bot.store.tables import QUEUE, prepare
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.follow_up import Decision, DecisionKind
from core.debate.log import Event, fold
from core.debate.people import Person
from core.debate.people_events import DecisionRecorded
from core.debate.turn_events import VerdictReached
from core.ports import DebateStore
from core.store.database import Database
from core.store.memory import InMemoryStore
from core.testing import ManualClock, a_setup
from tests.bot.plays import a_verdict

DANA = Person(id="U1", name="Dana")
FIRST, SECOND = "dabc2345", "dxyz2345"


@dataclass
class Notices:
    """Remembers what people were told."""

    landings: list[LandedRecord] = field(default_factory=list[LandedRecord])
    failures: list[tuple[str, float | None]] = field(default_factory=list[tuple[str, float | None]])

    async def report_landing(self, receiver: str, landing: Landing, landed: LandedRecord) -> None:
        del receiver, landing
        self.landings.append(landed)

    async def report_failure(
        self, receiver: Receiver, landing: Landing, why: str, *, again_after: float | None
    ) -> None:
        del receiver, landing
        self.failures.append((why, again_after))


@dataclass
class Office:
    """Where debates are held and told of."""

    clock: ManualClock
    queue: LandingQueue
    told: Notices = field(default_factory=Notices)
    outcomes: list[str] = field(default_factory=list[str])
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def store(self) -> DebateStore:
        """The debates."""
        return self.queue.store

    @property
    def landings(self) -> Landings:
        """The rows of the queue."""
        return self.queue.landings

    @property
    def database(self) -> Database:
        """Where they are."""
        return self.queue.outbox.posts.database

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
        decision = Decision(
            kind=kind, by=DANA, why=why, superseded_by=by, origin=f"{kind}-{self.clock.now()}"
        )
        await self.happen(DecisionRecorded(decision=decision), debate_id)

    def note(self, outcome: str) -> None:
        """Remember how an attempt came out."""
        self.outcomes.append(outcome)
        self._news.set()

    async def settle(self) -> None:
        """Wait until nothing waits; the clock leaps to when it is tried again."""
        async with asyncio.timeout(300):
            while True:
                self._news.clear()
                if not (await self.landings.backlog()).waiting:
                    return
                if not await self._leap():
                    await self._news.wait()

    async def _leap(self) -> bool:
        """Have what is to be tried later be tried now; False: nothing is."""
        rows = (await self.landings.backlog_rows(100)).rows
        later = [row for row in rows if row.due_in > 0]
        for row in later:
            self.clock.advance(round(row.due_in))
            now = update(QUEUE).where(QUEUE.c.id == row.id).values(due=0.0)
            await self.database.write(lambda c, now=now: c.execute(now))
            self.queue.outbox.wake(row.lane)
        return bool(later)

    async def until(self, outcome: str) -> None:
        """Wait until an attempt came out like this."""
        async with asyncio.timeout(300):
            while outcome not in self.outcomes:
                self._news.clear()
                if not await self._leap():
                    await self._news.wait()


def queue_of(
    database: Database, store: DebateStore, receivers: Sequence[Receiver], owner: str = "this"
) -> LandingQueue:
    """Make a queue that nothing reaches Slack from."""
    identity = Identity(team_id="T1", user_id="U1")
    outgoing = Outgoing(
        posts=Posts(database),
        leases=Leases(database, owner),
        clients=SingleWorkspaceClient(WorkspaceClient(AsyncWebClient(), identity)),
        clock=ManualClock(),
    )
    by_name = {receiver.name: receiver for receiver in receivers}
    return LandingQueue(outbox=Outbox(outgoing), store=store, receivers=by_name)


@asynccontextmanager
async def open_office(
    receivers: Sequence[Receiver], location: str, store: DebateStore | None = None
) -> AsyncGenerator[Office]:
    """Run the queue for as long as the block lasts."""
    async with await Database.open(location) as database:
        await prepare(database)
        queue = queue_of(database, store or InMemoryStore(), receivers)
        office = Office(ManualClock(), queue)
        queue.tell, queue.on_outcome = office.told, office.note
        await queue.outbox.start()
        try:
            yield office
        finally:
            await queue.outbox.close()
