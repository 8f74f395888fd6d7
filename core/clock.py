"""The machine's clock."""

import asyncio
from datetime import UTC, datetime


class SystemClock:
    """The `Clock` of a running program."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the Clock

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(seconds)
