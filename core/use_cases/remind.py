"""Reminds people on the day they wanted to look at a decision again; survives restarts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Protocol

from core.errors import DebateUnknown, StoreDown, StoreError
from core.events import ReminderDue
from core.models import Debate, Decision
from core.ports import PeopleDirectory
from core.use_cases.fact_log import FactLog


@dataclass(frozen=True)
class Reminder:
    """A date to look at a decision again."""

    debate_id: str
    #: The decision's origin.
    decision: str
    due_at: datetime


class ReminderStore(Protocol):
    """Keeps dates until people were reminded. Every method may raise `StoreDown`."""

    async def put(self, debate_id: str, decision: Decision, zone: tzinfo) -> None:
        """Remember the date of a decision, if it names one; again changes nothing."""
        ...

    async def due(self, now: datetime) -> Sequence[Reminder]:
        """What people are to be reminded of by now, oldest first."""
        ...

    async def forget(self, reminder: Reminder) -> None:
        """People were reminded."""
        ...


@dataclass(frozen=True, kw_only=True)
class RemindPeople:
    """Keeps dates, each for the morning of the person who named it."""

    facts: FactLog
    reminders: ReminderStore
    people: PeopleDirectory

    async def put(self, debate: Debate, decision: Decision) -> None:
        """Remember when a decision is to be looked at again, if it names a date.

        Raises:
            StoreDown: The database failed.
        """
        if decision.revisit_on is None:
            return
        zone = await self.people.zone_of(decision.by.id, debate.setup.place.workspace)
        await self.reminders.put(debate.id, decision, zone)

    async def look(self) -> Mapping[str, StoreError]:
        """Remind people of everything that is due.

        Each reminder is recorded, then its date is forgotten: twice has one effect. A decision
        that was replaced meanwhile reminds nobody.

        Returns:
            Debates nobody could be reminded of, and why; their dates are kept.

        Raises:
            StoreDown: The database failed; nothing is forgotten.
        """
        failed: dict[str, StoreError] = {}
        for reminder in await self.reminders.due(self.facts.clock.now()):
            try:
                debate = await self.facts.debate(reminder.debate_id)
                if debate.decision and debate.decision.origin == reminder.decision:
                    due = ReminderDue(decision=reminder.decision)
                    await self.facts.record(reminder.debate_id, due)
            except DebateUnknown:
                pass
            except StoreDown:
                raise
            except StoreError as error:  # of this debate alone: others are not held up by it
                failed[reminder.debate_id] = error
                continue
            await self.reminders.forget(reminder)
        return failed
