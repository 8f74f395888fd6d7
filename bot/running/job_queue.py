"""Jobs: work on a key, done by one replica at a time, taken over from a replica that died."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from procrastinate import App, RetryStrategy
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status

from bot.log import logger
from bot.running.heartbeat import Heartbeat
from bot.running.job_connection import RetryingConnector, conninfo_of, prepare
from bot.running.keyed_tasks import log_failure
from core.retry import RetryPolicy, retry

_log = logger(__name__)
K = TypeVar("K", bound=Hashable)

_CHORES = "chores"
_RESCUE = "rescue"
_LATER = "later"
#: How often the freeze of this process is looked for, in seconds.
_LOOK = 0.5
_PAUSE = 0.5
#: What stopping may take, in seconds, if the database is away.
_STOP_SECONDS = 4.0


class Jobs:
    """This replica's share of the jobs of all replicas.

    A job is *doing* in one replica at most: PostgreSQL has a unique index on its lock. A replica
    that was declared dead and comes back may still work on one: what it writes is fenced off by
    the run token of the debate and the holder of the channel.
    """

    def __init__(self, url: str, beat: Heartbeat) -> None:
        """Keep where jobs are queued; `start` connects.

        Args:
            url: SQLAlchemy's URL of a PostgreSQL database.
            beat: How soon the dead are noticed.
        """
        self.conninfo = conninfo_of(url)
        self.beat = beat
        #: Called at each rescue: defers what was forgotten (a crash between fact and job).
        self.reminders: list[Callable[[], Awaitable[None]]] = []
        self._connector = RetryingConnector(self.conninfo)
        self._app = App(connector=self._connector)
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._works: dict[str, int] = {}
        self._freeze: asyncio.Task[None] | None = None
        self._closing: set[str] = set()
        # It tells of every job, every two seconds.
        logging.getLogger("procrastinate").setLevel(logging.WARNING)

        # Jobs about jobs. They have no lock: a replica that dies in one must not hold it up.
        async def rescue(timestamp: int) -> None:
            del timestamp
            await self._rescue()

        async def later(kind: str, key: str) -> None:
            await self.put(kind, key)

        # Six fields: the seconds come last.
        every = f"* * * * * */{self.beat.rescue}"
        task = self._app.task(name=_RESCUE, queue=_CHORES, queueing_lock=_RESCUE)(rescue)
        self._app.periodic(cron=every)(task)
        self._app.task(name=_LATER, queue=_CHORES, retry=RetryStrategy())(later)
        self._works[_CHORES] = 2

    def add(self, kind: str, work: Callable[[str], Awaitable[None]], *, at_once: int) -> None:
        """Say how a kind of job is done. Before `start`.

        Args:
            kind: Its name, the same in all replicas.
            work: Does it; cancelled when this replica stops, and then done elsewhere.
            at_once: How many of them this replica does at the same time.
        """

        async def do(key: str) -> None:
            await work(key)

        self._app.task(name=kind, queue=kind, retry=RetryStrategy())(do)
        self._works[kind] = at_once

    async def start(self) -> None:
        """Make the tables, connect, and begin to work.

        Raises:
            StoreDown: The database does not answer.
        """
        await prepare(self.conninfo)
        await self._app.open_async()
        for kind in self._works:
            self._workers[kind] = asyncio.create_task(self._keep_working(kind), name=f"jobs/{kind}")
        self._freeze = asyncio.create_task(self._watch_for_freezes(), name="jobs/freeze")

    async def put(self, kind: str, key: str, *, at: datetime | None = None) -> None:
        """Queue a job; one that waits already is enough.

        Args:
            kind: Which.
            key: On what.
            at: Not before.

        Raises:
            ConnectorException: The database failed.
        """
        if at is not None:
            await self._defer(_LATER, f"{kind}/{key}/{at.isoformat()}", at, kind=kind, key=key)
        else:
            await self._defer(kind, f"{kind}/{key}", None, key=key)

    async def signal(self, channel: str, payload: str) -> None:
        """Tell all replicas.

        Raises:
            ConnectorException: The database failed.
        """
        statement = "SELECT pg_notify(%(channel)s, %(payload)s)"
        await self._connector.execute_query_async(statement, channel=channel, payload=payload)

    async def stop(self, kind: str) -> None:
        """Do no more jobs of this kind; those in hand go to other replicas."""
        self._closing.add(kind)
        worker = self._workers.pop(kind, None)
        if worker is not None:
            worker.cancel()
            await asyncio.wait([worker], timeout=_STOP_SECONDS)

    async def close(self) -> None:
        """Stop everything and disconnect. Safe to call twice."""
        for kind in list(self._workers):
            await self.stop(kind)
        if self._freeze is not None:
            self._freeze.cancel()
            await asyncio.wait([self._freeze])
        await self._app.close_async()

    async def _defer(
        self, task: str, queueing_lock: str, at: datetime | None, **arguments: str
    ) -> None:
        is_chore = task == _LATER
        deferrer = self._app.configure_task(
            task,
            queue=_CHORES if is_chore else task,
            # A scheduled job would hold up every other one with its lock.
            lock=None if is_chore else queueing_lock,
            queueing_lock=queueing_lock,
            schedule_at=at,
        )
        with suppress(AlreadyEnqueued):
            await deferrer.defer_async(**arguments)

    async def _keep_working(self, kind: str) -> None:
        """Run a worker, and another one when it ends: it ends when the database fails."""
        while kind not in self._closing:
            try:
                await self._app.run_worker_async(
                    queues=[kind],
                    concurrency=self._works[kind],
                    install_signal_handlers=False,
                    delete_jobs="always",
                    shutdown_graceful_timeout=0.01,
                    fetch_job_polling_interval=self.beat.poll,
                    update_heartbeat_interval=self.beat.heartbeat,
                    stalled_worker_timeout=self.beat.stalled,
                )
            except Exception as error:  # noqa: BLE001 - whatever it was, jobs must go on
                _log.warning("a worker ended", kind=kind, reason=type(error).__name__)
            await asyncio.sleep(_PAUSE)

    async def _watch_for_freezes(self) -> None:
        """Let go of everything after a freeze: others have taken it over."""

        async def work_again(worker: asyncio.Task[None], kind: str) -> None:
            await asyncio.wait([worker])
            await self._keep_working(kind)

        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(_LOOK)
            frozen = loop.time() - before - _LOOK
            if frozen > self.beat.stalled / 2:
                _log.warning("this process was frozen, letting go", seconds=round(frozen))
                for kind, worker in list(self._workers.items()):
                    worker.cancel()
                    again = work_again(worker, kind)
                    self._workers[kind] = asyncio.create_task(again, name=f"jobs/{kind}")

    async def _rescue(self) -> None:
        """Queue the jobs of dead replicas anew, and remind of what was forgotten."""
        for job in await self._app.job_manager.get_stalled_jobs(
            seconds_since_heartbeat=self.beat.stalled
        ):
            _log.warning("taken from a dead replica", job=job.queueing_lock or job.task_name)
            # A new job takes its place, because a replica that comes back from the dead ends the
            # job it knew: that number must not be the one of the job another replica does now.
            deferrer = self._app.configure_task(
                job.task_name, queue=job.queue, lock=job.lock, queueing_lock=job.queueing_lock
            )
            if job.task_name != _RESCUE:
                with suppress(AlreadyEnqueued):
                    await deferrer.defer_async(**job.task_kwargs)
            with suppress(ConnectorException):
                await self._app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        for remind in self.reminders:
            await remind()


class JobTasks(Generic[K]):
    """A `KeyedTasks` whose keys are worked on by one replica at a time."""

    def __init__(
        self, jobs: Jobs, kind: str, work: Callable[[K], Awaitable[None]], codec: "Codec[K]"
    ) -> None:
        """Have a kind of job done.

        Args:
            jobs: Where they are queued.
            kind: Its name.
            work: Does all there is to do for a key, then returns.
            codec: How a key is written down.
        """
        self._jobs = jobs
        self._kind = kind
        self._work = work
        self._codec = codec
        self._held: list[K] = []
        self._news: set[K] = set()
        #: Keys that are being queued, and those of them that something is new for since.
        self._queueing: set[K] = set()
        self._again: set[K] = set()
        self._putting: set[asyncio.Task[None]] = set()
        self._closing = False
        jobs.add(kind, self._do, at_once=codec.at_once)

    @property
    def keys(self) -> tuple[K, ...]:
        """What is being worked on here."""
        return tuple(self._held)

    def wake(self, key: K) -> None:
        """There is something to do for this key."""
        if self._closing:
            return
        if key in self._held:
            self._news.add(key)
        elif key in self._queueing:
            self._again.add(key)
        else:
            self._queueing.add(key)
            self._spawn(self._queue(key))

    def wake_at(self, key: K, at: datetime) -> None:
        """There is something to do for this key at that time."""
        self._spawn(self._put(key, at))

    async def close(self, seconds: float) -> None:
        """Give what is held to other replicas, and wait so many seconds at most."""
        self._closing = True
        stopping = asyncio.create_task(self._jobs.stop(self._kind))
        await asyncio.wait([stopping, *self._putting], timeout=seconds)

    def _spawn(self, putting: Awaitable[None]) -> None:
        task = asyncio.ensure_future(putting)
        self._putting.add(task)
        task.add_done_callback(self._putting.discard)

    async def _queue(self, key: K) -> None:
        """Queue a job; once more for all that was new while it was on its way to the database."""
        try:
            await self._put(key)
            while key in self._again:
                self._again.discard(key)
                await self._put(key)
        finally:
            self._queueing.discard(key)

    async def _put(self, key: K, at: datetime | None = None) -> None:
        """Queue a job, however long the database is away."""

        def again(error: Exception, wait: float) -> float | None:
            _log.warning("not queued", job=self._kind, reason=type(error).__name__)
            return None if self._closing else wait

        failures = (ConnectorException, OSError)
        with suppress(*failures):
            await retry(
                lambda: self._jobs.put(self._kind, self._codec.write(key), at=at),
                RetryPolicy(first_wait=_PAUSE, longest_wait=_PAUSE),
                asyncio.sleep,
                on=failures,
                again=again,
            )

    async def _do(self, written: str) -> None:
        key = self._codec.read(written)
        self._held.append(key)
        self._news.add(key)
        try:
            while key in self._news:
                self._news.discard(key)
                try:
                    await self._work(key)
                except Exception as error:  # noqa: BLE001 - whatever it was, the work must go on
                    log_failure(error, str(key))
                    self._news.add(key)
                    await asyncio.sleep(1)
        finally:
            self._held.remove(key)


@dataclass(frozen=True, kw_only=True)
class Codec(Generic[K]):
    """How keys of one kind are written down, and how many are worked on at once."""

    write: Callable[[K], str]
    read: Callable[[str], K]
    at_once: int
