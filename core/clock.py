"""The machine's clock."""

import asyncio
from datetime import UTC, datetime


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
