"""Debates on many replicas: each is a Procrastinate job, held by one replica at a time."""

from collections.abc import Sequence

from procrastinate.exceptions import ConnectorException

from bot.log import logger
from bot.running.debate_runner import Advances, DebateRunner, unfinished
from bot.running.job_queue import Jobs, JobTasks
from bot.running.keyed_tasks import KeyedTasks
from bot.running.notifications import CHANNEL, Signals
from core.errors import StoreError
from core.models import Status
from core.ports import Clock, DebateStore
from core.rules import schedule

_log = logger(__name__)

#: Seconds that a clean stop may take.
STOP_SECONDS = 6.0


class ReplicatedRunner:
    """This replica's share of the debates.

    News of a debate is told twice: as a signal, which the replica that holds the debate hears at
    once, and as a job, which waits until nobody holds it. So no news is lost when the holder ends
    or dies in the same moment.
    """

    def __init__(self, *, engine: Advances, store: DebateStore, clock: Clock, jobs: Jobs) -> None:
        self._engine = engine
        self._store = store
        self._clock = clock
        self._jobs = jobs
        self._holder = DebateRunner(engine=engine, store=store, clock=clock)
        self._debates = JobTasks[str](jobs, "debates", self._hold, write=str, read=str)
        self._telling = KeyedTasks[str](self._tell)
        self._taking_up = KeyedTasks[str](self._take_up)
        self._signals = Signals(jobs.conninfo, heard=engine.wake, missed=self._look_again)
        jobs.reminders.append(self._remind)

    @property
    def held(self) -> Sequence[str]:
        """Ids of the debates being worked on here."""
        return self._debates.keys

    async def start(self) -> None:
        """Take up what is unfinished; keeps trying while the database is down."""
        self._signals.start()
        self._taking_up.wake("unfinished debates")

    def wake(self, debate_id: str) -> None:
        """Have somebody work on this debate, or look at its log again."""
        self._debates.wake(debate_id)
        if not self._engine.wake(debate_id):
            self._telling.wake(debate_id)

    async def close(self) -> None:
        """Give every debate to the other replicas."""
        await self._taking_up.close(1)
        await self._telling.close(1)
        await self._signals.close()
        await self._debates.close(STOP_SECONDS)

    async def _take_up(self, _: str) -> None:
        for debate_id in await unfinished(self._store, self._clock):
            self._debates.wake(debate_id)

    async def _remind(self) -> None:
        """Somebody added to a log and died before saying so."""
        try:
            for debate_id in await self._store.unpublished():
                self._debates.wake(debate_id)
        except StoreError as error:
            _log.warning("cannot look for forgotten debates", reason=str(error))

    async def _tell(self, debate_id: str) -> None:
        try:
            await self._jobs.signal(CHANNEL, debate_id)
        except (ConnectorException, OSError) as error:
            # The job says it too, later.
            _log.warning("not signalled", reason=type(error).__name__)

    def _look_again(self) -> None:
        for debate_id in self.held:
            self._engine.wake(debate_id)

    async def _hold(self, debate_id: str) -> None:
        debate = await self._holder.hold(debate_id)
        due = schedule.due(debate) if debate and debate.status is Status.RUNNING else None
        if due:
            await self._debates.wake_at(debate_id, due)
