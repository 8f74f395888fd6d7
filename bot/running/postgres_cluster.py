"""Work shared out among replicas: debates are jobs in PostgreSQL."""

from collections.abc import Awaitable, Callable

from bot.log import logger
from bot.running.debate_runner import Advances
from bot.running.heartbeat import Heartbeat
from bot.running.job_queue import Jobs, JobTasks
from bot.running.keyed_tasks import KeepsTasks
from bot.running.port import Runner
from bot.running.replica_debates import ReplicatedRunner
from core.errors import StoreError
from core.ports import Clock, DebateStore

_log = logger(__name__)


class PostgresCluster:
    """This replica's share."""

    def __init__(self, url: str, beat: Heartbeat) -> None:
        """Keep where jobs are queued; `start` connects."""
        self._jobs = Jobs(url, beat)

    def receivers(self, serve: Callable[[str], Awaitable[None]]) -> KeepsTasks[str]:
        """Return what serves the receivers that fall to this replica."""
        return JobTasks(self._jobs, "landings", serve, write=str, read=str)

    def runner(self, engine: Advances, store: DebateStore, clock: Clock) -> Runner:
        """Return what advances the debates that fall to this replica."""
        return ReplicatedRunner(engine=engine, store=store, clock=clock, jobs=self._jobs)

    def remind(self, of_work: Callable[[], Awaitable[None]]) -> None:
        """Have one replica look for forgotten work at each rescue."""

        async def look() -> None:
            try:
                await of_work()
            except StoreError as error:
                _log.warning("cannot look for forgotten work", reason=str(error))

        self._jobs.reminders.append(look)

    async def start(self) -> None:
        """Connect, and begin to work."""
        await self._jobs.start()

    async def close(self) -> None:
        """Stop everything and disconnect."""
        await self._jobs.close()
