"""What nobody asks for again is thrown away once a day: old deliveries, visits to install."""

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
    """What gets old."""

    async def purge(self, before: datetime) -> Any:
        """Throw away what is older than that.

        Raises:
            StoreError: The database failed.
        """
        ...


@asynccontextmanager
async def deleting_daily(
    kept: Expiring, clock: Clock, age: timedelta = KEPT
) -> AsyncGenerator[None]:
    """Throw away what is older than `age`, for as long as the block lasts."""
    task = asyncio.create_task(_every_day(kept, clock, age), name="deleting daily")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _every_day(kept: Expiring, clock: Clock, age: timedelta) -> None:
    while True:
        try:
            await kept.purge(clock.now() - age)
        except StoreError as error:
            _log.warning("not tidied up", reason=str(error))
        await clock.sleep(_DAY_SECONDS)
