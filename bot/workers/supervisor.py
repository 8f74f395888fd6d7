"""Starts workers, starts again those that die, and stops all of them together."""

import asyncio
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pydantic import ValidationError

from bot.log import logger
from bot.running.worker_count import check_workers
from bot.settings import BotSettings, Mode, mode_of
from bot.slack.connection.binding import bind
from bot.workers.states import (
    NEWS_SECONDS,
    SILENT_SECONDS,
    WorkerNews,
    WorkerOrders,
    WorkerState,
    WorkerStates,
    WorkState,
)
from core.errors import ConfigurationBroken
from core.retry import RetryPolicy, retry

_log = logger(__name__)

#: Seconds that a clean end may take; a worker's own limit is ten.
STOP_SECONDS = 15.0
#: After a worker has died. One that was at work for `_STEADY` seconds begins anew.
_RESTARTS = RetryPolicy(first_wait=0.5, longest_wait=30.0)
_STEADY = 60.0
#: Deaths in a row after which everything ends, if no other worker is at work either.
_MOST_DEATHS = 5
#: Exit codes of a process that would end the same way again: bad arguments, configuration.
_HOPELESS = (2, 4)
#: Workers of a supervisor that was killed need some seconds to let go of the port.
_PORT = RetryPolicy(tries=12, first_wait=0.5, longest_wait=0.5)
_PROGRAM = (sys.executable, "-c", "from bot.cli import main; main()")


async def supervise(
    settings: BotSettings, mode: Mode | None, count: int, stopped: asyncio.Event
) -> int:
    """Run workers until told to stop; return the exit code.

    Args:
        settings: What the environment says; each worker reads it for itself.
        mode: How Slack reaches the bot; None: what the tokens are for.
        count: How many workers.
        stopped: Set when they shall end.

    Raises:
        ConfigurationBroken: So many workers cannot share the work, or the port is taken.
    """
    check_workers(settings, mode or mode_of(settings), count)
    sockets = await retry(
        lambda: bind(settings.moot_host, settings.moot_port),
        _PORT,
        asyncio.sleep,
        on=ConfigurationBroken,
    )
    words = ("--mode", mode.value) if mode else ()
    supervisor = Supervisor(count=count, sockets=sockets, words=words, stopped=stopped)
    try:
        return await supervisor.run()
    finally:
        for one in sockets:
            one.close()


@dataclass
class _Place:
    """One worker after another."""

    number: int
    process: asyncio.subprocess.Process | None = None
    writer: asyncio.StreamWriter | None = None
    news: WorkerNews = field(default_factory=lambda: WorkerNews(state=WorkState.STARTING))
    heard_at: float = 0.0
    #: Set once a worker here is at work.
    is_ready: asyncio.Event = field(default_factory=asyncio.Event)
    was_ever_ready: bool = False
    restarts: int = 0

    def state(self) -> WorkerState:
        """How it stands here."""
        state = self.news.state
        if self.process is None:
            state = WorkState.RESTARTING
        elif state is WorkState.READY and time.monotonic() - self.heard_at > SILENT_SECONDS:
            state = WorkState.SILENT
        return WorkerState(
            worker=self.number, state=state, report=self.news.report, restarts=self.restarts
        )


class Supervisor:
    """Keeps so many workers at work."""

    def __init__(
        self,
        *,
        count: int,
        sockets: Sequence[socket.socket],
        words: Sequence[str],
        stopped: asyncio.Event,
    ) -> None:
        """Keep what workers are started with.

        Args:
            count: How many.
            sockets: Bound; all workers accept from them, so nothing that waits there is lost with
                one of them.
            words: Further words of the command.
            stopped: Set when they shall end.
        """
        self._places = [_Place(number) for number in range(1, count + 1)]
        self._sockets = sockets
        self._words = words
        self._stopped = stopped
        #: Why everything ends, if nobody asked for it.
        self._code = 0

    async def run(self) -> int:
        """Keep the workers going until told to stop; return the exit code."""
        telling = asyncio.create_task(self._tell(), name="states")
        first, *others = self._places
        # The first one brings tables up to date, and says what is wrong with the settings, once.
        keeping = [asyncio.create_task(self._keep(first), name="worker 1")]
        beginning = asyncio.create_task(first.is_ready.wait())
        stopping = asyncio.create_task(self._stopped.wait())
        await asyncio.wait([beginning, stopping], return_when=asyncio.FIRST_COMPLETED)
        beginning.cancel()
        if not self._stopped.is_set():
            keeping += [asyncio.create_task(self._keep(one)) for one in others]
        await stopping
        _log.info("stopping workers")
        for place in self._places:
            self._signal(place, signal.SIGTERM)
        late = (await asyncio.wait(keeping, timeout=STOP_SECONDS))[1]
        if late:
            _log.error("workers did not end in time and are killed", seconds=STOP_SECONDS)
            for place in self._places:
                self._signal(place, signal.SIGKILL)
        await asyncio.gather(*keeping)
        telling.cancel()
        return self._code or int(bool(late))

    async def _keep(self, place: _Place) -> None:
        """Have a worker here until all shall end."""
        deaths = 0
        while not self._stopped.is_set():
            began = time.monotonic()
            code = await self._live(place)
            if self._stopped.is_set():
                return
            deaths = 1 if time.monotonic() - began > _STEADY else deaths + 1
            pause = _RESTARTS.wait_after(deaths) or 0.0
            _log.error("worker died", worker=place.number, code=code, again_in_seconds=pause)
            if self._is_hopeless(place, code, deaths):
                _log.error("giving up: workers cannot be started", code=code)
                self._code = code if code > 0 else 1
                self._stopped.set()
                return
            place.restarts += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), pause)

    def _is_hopeless(self, place: _Place, code: int, deaths: int) -> bool:
        """Whether starting it again would only repeat what went wrong."""
        if code in _HOPELESS and not place.was_ever_ready:
            return True
        is_anybody_ready = any(one.is_ready.is_set() for one in self._places)
        return not is_anybody_ready and (code in _HOPELESS or deaths >= _MOST_DEATHS)

    async def _live(self, place: _Place) -> int:
        """Start a worker and hear it until it has ended; return its exit code."""
        ours, its = socket.socketpair()
        listening = tuple(one.fileno() for one in self._sockets)
        orders = WorkerOrders(number=place.number, channel=its.fileno(), listening=listening)
        with its:
            process = await asyncio.create_subprocess_exec(
                *(*_PROGRAM, "run", *self._words, "--as-worker", orders.model_dump_json()),
                pass_fds=(its.fileno(), *listening),
                # Ctrl-C on a terminal goes to the supervisor alone, which passes it on.
                start_new_session=True,
            )
        place.news, place.process = WorkerNews(state=WorkState.STARTING), process
        reader, place.writer = await asyncio.open_connection(sock=ours)
        _log.info("worker started", worker=place.number, pid=process.pid)
        hearing = asyncio.create_task(self._hear(place, reader))
        try:
            return await process.wait()
        finally:
            place.process = None
            place.is_ready.clear()
            hearing.cancel()
            place.writer.close()
            await asyncio.gather(hearing, return_exceptions=True)

    async def _hear(self, place: _Place, reader: asyncio.StreamReader) -> None:
        async for line in reader:
            with suppress(ValidationError):
                place.news, place.heard_at = WorkerNews.model_validate_json(line), time.monotonic()
            if place.news.state is WorkState.READY:
                place.is_ready.set()
                place.was_ever_ready = True

    async def _tell(self) -> None:
        """Tell each worker how all are."""
        while True:
            line = WorkerStates(workers=tuple(one.state() for one in self._places)).line()
            for place in self._places:
                # What a frozen worker does not read must not pile up here.
                if place.writer and not place.writer.transport.get_write_buffer_size():
                    place.writer.write(line)
            await asyncio.sleep(NEWS_SECONDS / 2)

    def _signal(self, place: _Place, number: signal.Signals) -> None:
        if place.process is not None:
            with suppress(ProcessLookupError):
                place.process.send_signal(number)
