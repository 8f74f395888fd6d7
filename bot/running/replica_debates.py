"""Debates on many replicas: each is a Procrastinate job, held by one replica at a time."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from procrastinate.exceptions import ConnectorException
from psycopg import sql

from bot.log import logger
from bot.running.debate_runner import DebateEngine, DebateRunner, Heartbeat, Runner, unfinished
from bot.running.job_queue import Jobs, JobTasks
from bot.running.keyed_tasks import KeyedTasks
from core.errors import StoreError
from core.models import Status
from core.ports import Clock, DebateStore
from core.rules import schedule

_log = logger(__name__)

CHANNEL = "moot_debates"
#: Seconds without a signal after which the connection is tried.
_SILENCE = 5.0
_PAUSE = 0.5


class Signals:
    """Listens on PostgreSQL's NOTIFY, and listens again when the connection is lost.

    A signal may be lost with the connection, so each new connection is reported.
    """

    def __init__(
        self, conninfo: str, *, on_signal: Callable[[str], object], missed: Callable[[], None]
    ) -> None:
        """Keep the callbacks.

        Args:
            conninfo: The database.
            on_signal: Called with each signal.
            missed: Called whenever signals may have been missed.
        """
        self._conninfo = conninfo
        self._heard = on_signal
        self._missed = missed
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Listen."""
        self._task = asyncio.create_task(self._keep_listening(), name="signals")

    async def close(self) -> None:
        """Listen no more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _keep_listening(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                _log.warning("signals are not heard", reason=type(error).__name__)
            await asyncio.sleep(_PAUSE)

    async def _listen(self) -> None:
        connecting = psycopg.AsyncConnection[Any].connect(
            self._conninfo, autocommit=True, connect_timeout=10
        )
        async with await connecting as connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
            self._missed()
            while True:
                async for signal in connection.notifies(timeout=_SILENCE):
                    self._heard(signal.payload)
                await connection.execute("SELECT 1")


#: Seconds that a clean stop may take.
STOP_SECONDS = 6.0


class ReplicatedRunner:
    """This replica's share of the debates.

    News of a debate is told twice: as a signal, which the replica that holds the debate hears at
    once, and as a job, which waits until nobody holds it. So no news is lost when the holder ends
    or dies in the same moment.
    """

    def __init__(
        self, *, engine: DebateEngine, store: DebateStore, clock: Clock, jobs: Jobs
    ) -> None:
        self._engine = engine
        self._store = store
        self._clock = clock
        self._jobs = jobs
        self._holder = DebateRunner(engine=engine, store=store, clock=clock)
        self._debates = JobTasks(jobs, "debates", self._hold)
        self._telling = KeyedTasks[str](self._tell)
        self._taking_up = KeyedTasks[str](self._take_up)
        self._signals = Signals(jobs.conninfo, on_signal=engine.wake, missed=self._look_again)
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


class PostgresCluster:
    """This replica's share."""

    def __init__(self, url: str, beat: Heartbeat) -> None:
        """Keep where jobs are queued; `start` connects."""
        self._jobs = Jobs(url, beat)

    def runner(self, engine: DebateEngine, store: DebateStore, clock: Clock) -> Runner:
        """Return what advances the debates that fall to this replica."""
        return ReplicatedRunner(engine=engine, store=store, clock=clock, jobs=self._jobs)

    async def start(self) -> None:
        """Connect, and begin to work."""
        await self._jobs.start()

    async def close(self) -> None:
        """Stop everything and disconnect."""
        await self._jobs.close()
