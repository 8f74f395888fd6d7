"""Signals between replicas: whoever has news says so, whoever it concerns hears it at once."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import sql

from bot.log import logger

_log = logger(__name__)

CHANNEL = "moot_debates"
#: Seconds without a signal after which the connection is tried.
_SILENCE = 5.0
_PAUSE = 0.5


class Signals:
    """Listens on PostgreSQL's NOTIFY, and listens again when the connection is lost.

    A signal may be lost with the connection, so whoever listens is told of each new beginning.
    """

    def __init__(
        self, conninfo: str, *, heard: Callable[[str], object], missed: Callable[[], None]
    ) -> None:
        """Keep whom to tell.

        Args:
            conninfo: The database.
            heard: Told of each signal.
            missed: Told whenever signals may have been missed.
        """
        self._conninfo = conninfo
        self._heard = heard
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
