"""A worker's side of the connection to its supervisor."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Self

from pydantic import ValidationError

from bot.log import logger
from bot.workers.states import (
    NEWS_SECONDS,
    SILENT_SECONDS,
    WorkerNews,
    WorkerOrders,
    WorkerState,
    WorkerStates,
    WorkState,
    whole_report,
)

_log = logger(__name__)


class SupervisorLink:
    """Tells the supervisor how this worker is, and knows how the others are.

    When the supervisor is gone, this process ends itself as SIGTERM would: a worker that nobody
    watches or stops must not go on beside those of the next supervisor.
    """

    def __init__(self, orders: WorkerOrders) -> None:
        """Take over the files that the supervisor opened."""
        self.number = orders.number
        #: Bound already; all workers accept from them.
        self.sockets: Sequence[socket.socket] = [
            socket.socket(fileno=number) for number in orders.listening
        ]
        self._channel = socket.socket(fileno=orders.channel)
        self._states = WorkerStates()
        self._heard_at = time.monotonic()
        self._hearing: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        reader, self._writer = await asyncio.open_connection(sock=self._channel)

        async def hear() -> None:
            with suppress(OSError):
                async for line in reader:
                    with suppress(ValidationError):
                        self._states = WorkerStates.model_validate_json(line)
                        self._heard_at = time.monotonic()
            _log.warning("the supervisor is gone, ending")
            os.kill(os.getpid(), signal.SIGTERM)

        self._hearing = asyncio.create_task(hear(), name="supervisor")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._hearing:
            self._hearing.cancel()
            await asyncio.gather(self._hearing, return_exceptions=True)
        if self._writer:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()

    @asynccontextmanager
    async def telling(
        self, report: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> AsyncGenerator[None]:
        """Say that this worker is at work for as long as the block lasts, then that it stops.

        Args:
            report: What `/health` says of this worker.
        """

        async def tell() -> None:
            while True:
                self._say(WorkerNews(state=WorkState.READY, report=await report()))
                await asyncio.sleep(NEWS_SECONDS)

        telling = asyncio.create_task(tell(), name="news")
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            self._say(WorkerNews(state=WorkState.STOPPING))

    @property
    def is_any_ready(self) -> bool:
        """Whether one of the other workers is at work and well."""
        return any(
            one.state is WorkState.READY and one.report.get("status") == "ok"
            for one in self._others()
        )

    def with_own(self, report: Mapping[str, Any], *, is_ready: bool) -> Mapping[str, Any]:
        """Return what `/health` says of all workers; see `OtherWorkers`."""
        state = WorkState.READY if is_ready else WorkState.STARTING
        restarts = [one.restarts for one in self._states.workers if one.worker == self.number]
        own = WorkerState(
            worker=self.number, state=state, report=report, restarts=max(restarts, default=0)
        )
        return whole_report(sorted((own, *self._others()), key=lambda one: one.worker))

    def _others(self) -> Sequence[WorkerState]:
        """The other workers; silent when the supervisor has said nothing for long."""
        is_old = time.monotonic() - self._heard_at > SILENT_SECONDS
        update = {"state": WorkState.SILENT} if is_old else {}
        return [
            one.model_copy(update=update)
            for one in self._states.workers
            if one.worker != self.number
        ]

    def _say(self, news: WorkerNews) -> None:
        # What a frozen supervisor does not read must not pile up here.
        if self._writer and not self._writer.transport.get_write_buffer_size():
            self._writer.write(news.line())
