"""What nobody asks for again is thrown away once a day: deliveries Slack will not repeat."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from bot.log import logger
from bot.store.deliveries import Deliveries
from core.errors import StoreError
from core.ports import Clock

_log = logger(__name__)

#: Slack repeats a delivery for some minutes at most; people repeat a click for seconds.
KEPT = timedelta(days=7)
_DAY_SECONDS = 24 * 60 * 60.0


@asynccontextmanager
async def housekeeping(deliveries: Deliveries, clock: Clock) -> AsyncGenerator[None]:
    """Keep house for as long as the block lasts."""
    task = asyncio.create_task(_every_day(deliveries, clock), name="housekeeping")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _every_day(deliveries: Deliveries, clock: Clock) -> None:
    while True:
        try:
            await deliveries.purge(clock.now() - KEPT)
        except StoreError as error:
            _log.warning("not tidied up", reason=str(error))
        await clock.sleep(_DAY_SECONDS)
