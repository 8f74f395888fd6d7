"""Debates on many replicas: each is a Procrastinate job, held by one replica at a time."""

import asyncio
from collections.abc import Sequence

from bot.log import logger
from bot.running.debate_runner import DebateEngine, DebateRunner, Heartbeat, unfinished_ids
from bot.running.job_queue import Jobs, JobTasks
from bot.running.keyed_tasks import KeyedTasks
from core.debate.state import Status
from core.errors import StoreError
from core.ports import Clock, DebateStore
from core.rules import schedule

_log = logger(__name__)

#: Seconds between two looks for news of debates that are held here.
_LOOK_AGAIN = 1.0
#: Seconds that a clean stop may take.
STOP_SECONDS = 6.0


class ReplicatedRunner:
    """This replica's share of the debates.

    News of a debate is queued as a job, which waits until nobody holds the debate; whoever holds it
    looks for events that nobody has published. So no news is lost when the holder ends or dies in
    the same moment.
    """

    def __init__(
        self, *, engine: DebateEngine, store: DebateStore, clock: Clock, url: str, beat: Heartbeat
    ) -> None:
        """Hold debates once it is started.

        Args:
            engine: Advances them.
            store: Has their logs.
            clock: Time for pauses.
            url: SQLAlchemy's URL of the database, where jobs are queued.
            beat: How soon the dead are noticed.
        """
        self._engine = engine
        self._store = store
        self._clock = clock
        self._jobs = Jobs(url, beat)
        #: What comes before is taken up at the start.
        self._is_started = False
        self._holder = DebateRunner(engine=engine, store=store, clock=clock)
        self._debates = JobTasks(self._jobs, "debates", self._hold)
        self._taking_up = KeyedTasks[str](self._take_up)
        self._looking = KeyedTasks[str](self._look)
        self._jobs.reminders.append(self._remind)

    @property
    def held_ids(self) -> Sequence[str]:
        """Ids of the debates being worked on here."""
        return self._debates.keys

    async def start(self) -> None:
        """Connect, and take up what is unfinished.

        Raises:
            StoreDown: The database does not answer.
        """
        await self._jobs.start()
        self._is_started = True
        self._looking.wake("news of debates")
        self._taking_up.wake("unfinished debates")

    def wake(self, debate_id: str) -> None:
        """Have somebody work on this debate, or look at its log again."""
        if self._is_started:
            self._debates.wake(debate_id)
            self._engine.wake(debate_id)

    async def close(self) -> None:
        """Give every debate to the other replicas."""
        await self._taking_up.close(1)
        await self._looking.close(1)
        await self._debates.close(STOP_SECONDS)
        await self._jobs.close()

    async def _take_up(self, _: str) -> None:
        for debate_id in await unfinished_ids(self._store, self._clock):
            self._debates.wake(debate_id)

    async def _remind(self) -> None:
        """Somebody added to a log and died before saying so."""
        try:
            for debate_id in await self._store.unpublished_ids():
                self._debates.wake(debate_id)
        except StoreError as error:
            _log.warning("cannot look for forgotten debates", reason=str(error))

    async def _look(self, _: str) -> None:
        while True:
            await asyncio.sleep(_LOOK_AGAIN)
            if self.held_ids:
                for debate_id in await self._store.unpublished_ids():
                    self._engine.wake(debate_id)

    async def _hold(self, debate_id: str) -> None:
        debate = await self._holder.hold(debate_id)
        due = schedule.due(debate) if debate and debate.status is Status.RUNNING else None
        if due:
            await self._debates.wake_at(debate_id, due)
