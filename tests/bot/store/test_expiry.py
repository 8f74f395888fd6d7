"""What nobody asks for again goes."""

import asyncio
from datetime import timedelta
from pathlib import Path

from bot.store.expiry import KEPT, deleting_daily
from bot.store.records import Deliveries
from bot.store.tables import prepare
from core.store.database import Database
from core.testing import ManualClock


class Days(ManualClock):
    """A clock that tells when a day has been slept away."""

    def __init__(self) -> None:
        super().__init__()
        self.slept = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.set()
        await asyncio.sleep(seconds)


async def test_old_deliveries_go_and_young_ones_stay(tmp_path: Path) -> None:
    clock = Days()
    async with await Database.open(f"sqlite+aiosqlite:///{tmp_path / 'moot.db'}") as database:
        await prepare(database)
        deliveries = Deliveries(database)
        old = clock.now() - KEPT - timedelta(seconds=1)
        await deliveries.seen("event", "old", old)
        await deliveries.seen("event", "young", clock.now())
        async with deleting_daily(deliveries, clock):
            await clock.slept.wait()

        assert not await deliveries.seen("event", "old", clock.now())
        assert await deliveries.seen("event", "young", clock.now())
