"""Deletes expired records once a day: old deliveries, visits to the install page."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Protocol

from bot.log import logger
from core.errors import StoreError
from core.ports import Clock

_log = logger(__name__)

#: Slack repeats a delivery for some minutes at most; people repeat a click for seconds.
KEPT = timedelta(days=7)
_DAY_SECONDS = 24 * 60 * 60.0


class Expiring(Protocol):
    async def purge(self, before: datetime) -> Any: ...


@asynccontextmanager
async def deleting_daily(
    records: Expiring, clock: Clock, age: timedelta = KEPT
) -> AsyncGenerator[None]:
    """Delete what is older than `age` once a day, for as long as the block lasts."""

    async def every_day() -> None:
        while True:
            try:
                await records.purge(clock.now() - age)
            except StoreError as error:
                _log.warning("not tidied up", reason=str(error))
            await clock.sleep(_DAY_SECONDS)

    task = asyncio.create_task(every_day(), name="deleting daily")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
