"""Jobs: work on a key, done by one replica at a time, taken over from a replica that died."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from procrastinate import App, PsycopgConnector, RetryStrategy
from procrastinate.connector import Notify
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status
from procrastinate.schema import SchemaManager
from psycopg import sql
from sqlalchemy import make_url

from bot.log import logger
from bot.running.debate_runner import Heartbeat
from bot.running.keyed_tasks import KeyedTasks
from core.errors import StoreDown
from core.store.engines import CONNECT_ARGS

#: Seconds that a call waits for a server that restarts.
PATIENCE = 30.0
#: Seconds between two tries to listen again.
_PAUSE = 0.5
#: Any number, the same in all replicas: who makes Procrastinate's tables holds this lock.
_LOCK = 4_007_012


def conninfo_of(url: str) -> str:
    """Return SQLAlchemy's URL of a PostgreSQL database as libpq wants it."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


class ListeningConnector(PsycopgConnector):
    """Listens again after a restart of the server, instead of ending the worker and its jobs."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(
            conninfo=conninfo, kwargs=dict(CONNECT_ARGS), min_size=1, max_size=8, timeout=PATIENCE
        )

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Hear of new jobs for ever."""
        names = tuple(channels)
        while True:
            try:
                await super().listen_notify(on_notification, names)
            except (ConnectorException, psycopg.Error, OSError):
                await asyncio.sleep(_PAUSE)


async def prepare(conninfo: str) -> None:
    """Make Procrastinate's tables, or bring older ones up to date.

    Raises:
        StoreDown: The database does not answer.
    """
    try:
        async with await psycopg.AsyncConnection[Any].connect(conninfo) as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            # Everything, or the migrations that were not run yet.
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS moot_jobs_migrations (name text PRIMARY KEY)"
            )
            cursor = await connection.execute("SELECT name FROM moot_jobs_migrations")
            old_names = {row[0] for row in await cursor.fetchall()}
            steps = _steps()
            fresh = [name for name in sorted(steps) if name not in old_names]
            for name in fresh:
                await connection.execute("INSERT INTO moot_jobs_migrations VALUES (%s)", (name,))
            statements: list[LiteralString] = (
                [steps[name] for name in fresh] if old_names else [SchemaManager.get_schema()]
            )
            for step in statements:
                await connection.execute(sql.SQL(step))
    except psycopg.Error as error:
        words = f"The tables of the job queue cannot be made ({type(error).__name__})."
        raise StoreDown(words) from error


def _steps() -> dict[str, LiteralString]:
    """Procrastinate's own migrations by their names, which sort by age."""
    files = Path(SchemaManager.get_migrations_path()).glob("*.sql")
    return {path.name: cast("LiteralString", path.read_text("utf-8")) for path in files}


_log = logger(__name__)

_CHORES = "chores"
_RESCUE = "rescue"
_LATER = "later"
#: What stopping may take, in seconds, if the database is away.
_STOP_SECONDS = 4.0
#: Keys of one kind that a replica works on at the same time. One process is busy for half its time
#: with 500 debates whose models take 25 s a reply; parked ones do not count.
_AT_ONCE = 1000
#: Each looks through all jobs: they must not pile up where the database is slow.
_CHORES_AT_ONCE = 2


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
        self._connector = ListeningConnector(self.conninfo)
        self._app = App(connector=self._connector)
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._kinds = [_CHORES]
        self._closing: set[str] = set()
        # It tells of every job, every two seconds.
        logging.getLogger("procrastinate").setLevel(logging.WARNING)

        # Jobs about jobs. They have no lock: a replica that dies in one must not hold it up.
        async def rescue(timestamp: int) -> None:
            del timestamp
            await self._rescue()

        # Six fields: the seconds come last.
        every = f"* * * * * */{self.beat.rescue}"
        task = self._app.task(name=_RESCUE, queue=_CHORES, queueing_lock=_RESCUE)(rescue)
        self._app.periodic(cron=every)(task)
        self._app.task(name=_LATER, queue=_CHORES, retry=RetryStrategy())(self.put)

    def add(self, kind: str, work: Callable[[str], Awaitable[None]]) -> None:
        """Say how a kind of job is done. Before `start`.

        Args:
            kind: Its name, the same in all replicas.
            work: Does it; cancelled when this replica stops, and then done elsewhere.
        """

        async def do(key: str) -> None:
            await work(key)

        self._app.task(name=kind, queue=kind, retry=RetryStrategy())(do)
        self._kinds.append(kind)

    async def start(self) -> None:
        """Make the tables, connect, and begin to work.

        Raises:
            StoreDown: The database does not answer.
        """
        await prepare(self.conninfo)
        await self._app.open_async()
        for kind in self._kinds:
            self._workers[kind] = asyncio.create_task(self._keep_working(kind), name=f"jobs/{kind}")

    async def put(self, kind: str, key: str) -> None:
        """Queue a job; one that waits already is enough.

        Raises:
            StoreDown: The database failed.
        """
        lock = f"{kind}/{key}"
        await self._defer(kind, queue=kind, lock=lock, queueing_lock=lock, task_kwargs={"key": key})

    async def put_at(self, kind: str, key: str, at: datetime) -> None:
        """Queue a job at that time.

        Raises:
            StoreDown: The database failed.
        """
        # A scheduled job would hold up every other one with its lock; this one only queues it.
        again = {"kind": kind, "key": key}
        lock = f"{kind}/{key}/{at.isoformat()}"
        await self._defer(
            _LATER, queue=_CHORES, queueing_lock=lock, schedule_at=at, task_kwargs=again
        )

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
        await self._app.close_async()

    async def _defer(
        self,
        task: str,
        *,
        queue: str,
        queueing_lock: str | None,
        task_kwargs: Mapping[str, Any],
        lock: str | None = None,
        schedule_at: datetime | None = None,
    ) -> None:
        deferrer = self._app.configure_task(
            task, queue=queue, lock=lock, queueing_lock=queueing_lock, schedule_at=schedule_at
        )
        try:
            with suppress(AlreadyEnqueued):
                await deferrer.defer_async(**task_kwargs)
        except (ConnectorException, OSError) as error:
            raise StoreDown(f"A job was not queued ({type(error).__name__}).") from error

    async def _keep_working(self, kind: str) -> None:
        """Run a worker, and another one when it ends: it ends when the database fails."""
        while kind not in self._closing:
            try:
                await self._app.run_worker_async(
                    queues=[kind],
                    concurrency=_CHORES_AT_ONCE if kind == _CHORES else _AT_ONCE,
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

    async def _rescue(self) -> None:
        """Queue the jobs of dead replicas anew, and remind of what was forgotten."""
        manager = self._app.job_manager
        for job in await manager.get_stalled_jobs(seconds_since_heartbeat=self.beat.stalled):
            _log.warning("taken from a dead replica", job=job.queueing_lock or job.task_name)
            # A new job takes its place, because a replica that comes back from the dead ends the
            # job it knew: that number must not be the one of the job another replica does now.
            if job.task_name != _RESCUE:
                await self._defer(
                    job.task_name,
                    queue=job.queue,
                    lock=job.lock,
                    queueing_lock=job.queueing_lock,
                    task_kwargs=job.task_kwargs,
                )
            with suppress(ConnectorException):
                await manager.finish_job(job, Status.FAILED, delete_job=True)
        for remind in self.reminders:
            await remind()


class _ReplicaStopping(Exception):
    """This replica stops, and there is something left to do for a key."""


class JobTasks(KeyedTasks[str]):
    """`KeyedTasks` whose keys are worked on by one replica at a time."""

    def __init__(self, jobs: Jobs, kind: str, work: Callable[[str], Awaitable[None]]) -> None:
        """Have a kind of job done.

        Args:
            jobs: Where they are queued.
            kind: Its name.
            work: Does all there is to do for a key, then returns.
        """
        super().__init__(work)
        self._jobs, self._kind = jobs, kind
        #: Keys on their way to the database.
        self._queueing = KeyedTasks[str](self._queue, restart_after=_PAUSE)
        jobs.add(kind, self._do)

    def wake(self, key: str) -> None:
        """There is something to do for this key."""
        if key in self._tasks:
            super().wake(key)
        elif not self._closing:
            self._queueing.wake(key)

    async def wake_at(self, key: str, at: datetime) -> None:
        """There is something to do for this key at that time.

        Raises:
            StoreDown: The database failed.
        """
        await self._jobs.put_at(self._kind, key, at)

    async def close(self, seconds: float) -> None:
        """Give what is held to other replicas, and wait so many seconds at most."""
        self._closing = True
        await asyncio.gather(
            asyncio.wait([asyncio.create_task(self._jobs.stop(self._kind))], timeout=seconds),
            self._queueing.finish(seconds),
        )

    async def _queue(self, key: str) -> None:
        await self._jobs.put(self._kind, key)

    async def _do(self, key: str) -> None:
        self._news.add(key)
        super().wake(key)
        if key in self._tasks:
            await self._tasks[key]
        if key in self._news:
            raise _ReplicaStopping  # it is queued again, for another replica
