"""Reminds people on the day they wanted to look at a decision again; survives restarts."""

import asyncio
from dataclasses import dataclass, field

from bot.commands import Commands
from bot.log import logger
from bot.slack.access import Accesses
from bot.store.reminders import Reminder, Reminders
from core.errors import DebateUnknown, StoreDown, StoreError
from core.events import ReminderDue, fold
from core.models import Debate, Decision

_log = logger(__name__)

#: Seconds between two looks at the dates; nobody needs a reminder to the second.
LOOK_SECONDS = 60.0


@dataclass(frozen=True)
class MorningReminders:
    """Keeps dates, each for the morning of who named it."""

    reminders: Reminders
    access: Accesses

    async def put(self, debate: Debate, decision: Decision) -> None:
        """Remember when a decision is to be looked at again, if it names a date.

        Raises:
            StoreDown: The database failed.
        """
        if decision.revisit_on is None:
            return
        team = debate.setup.place.workspace
        zone = await self.access.of(team).zone_of(decision.by.id)
        await self.reminders.put(debate.id, decision, zone)


@dataclass
class Reminding:
    """Looks at the dates for as long as the bot runs."""

    reminders: Reminders
    commands: Commands
    look_seconds: float = LOOK_SECONDS
    _looking: asyncio.Task[None] | None = field(default=None, init=False)

    def start(self) -> None:
        """Look now, and again and again."""
        self._looking = asyncio.create_task(self._keep_looking(), name="reminders")

    async def close(self) -> None:
        """Stop; what is due then is done next time."""
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _keep_looking(self) -> None:
        while True:
            try:
                await self.look()
            except StoreError as error:
                _log.warning("cannot look at dates", reason=str(error))
            await asyncio.sleep(self.look_seconds)

    async def look(self) -> None:
        """Remind people of everything that is due.

        Raises:
            StoreDown: The database failed; nothing is forgotten.
        """
        for reminder in await self.reminders.due(self.commands.clock.now()):
            try:
                await self._remind(reminder)
            except StoreDown:
                raise
            except StoreError as error:  # of this debate alone: others are not held up by it
                _log.warning("cannot remind", debate=reminder.debate_id, reason=str(error))

    async def _remind(self, reminder: Reminder) -> None:
        """Record it, then forget the date: twice has one effect. Only what still stands counts."""
        try:
            debate = fold(await self.commands.store.events(reminder.debate_id))
        except DebateUnknown:
            debate = None
        if debate and debate.decision and debate.decision.origin == reminder.decision:
            due = ReminderDue(decision=reminder.decision)
            await self.commands.record(reminder.debate_id, due)
        await self.reminders.forget(reminder)
