"""Looks for decisions to be reminded of, for as long as the bot runs."""

import asyncio
from dataclasses import dataclass, field

from bot.log import logger
from core.errors import StoreError
from core.use_cases.remind import RemindPeople

_log = logger(__name__)

#: Seconds between two looks at the dates; nobody needs a reminder to the second.
LOOK_SECONDS = 60.0


@dataclass
class ReminderLoop:
    """Looks at once, then every minute."""

    remind: RemindPeople
    look_seconds: float = LOOK_SECONDS
    _looking: asyncio.Task[None] | None = field(default=None, init=False)

    def start(self) -> None:
        self._looking = asyncio.create_task(self._keep_looking(), name="reminders")

    async def close(self) -> None:
        """Stop; what is due then is done next time."""
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _keep_looking(self) -> None:
        while True:
            try:
                for debate_id, error in (await self.remind.look()).items():
                    _log.warning("cannot remind", debate=debate_id, reason=str(error))
            except StoreError as error:
                _log.warning("cannot look at dates", reason=str(error))
            await asyncio.sleep(self.look_seconds)
