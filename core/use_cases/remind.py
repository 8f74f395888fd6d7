"""Reminds people of decisions and asks how they turned out; reveals sealed debates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Protocol

from core.debate.debate_events import OutcomeAsked, ReminderDue
from core.debate.people import Person
from core.debate.people_events import BallotsRevealed
from core.debate.state import Debate
from core.debate.verdict import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.errors import BadInput, DebateUnknown, MootError, StoreDown, StoreError, reading
from core.ports import PeopleDirectory
from core.rules.sealing import reveals_at
from core.settings import OutcomeDates
from core.use_cases.fact_log import FactLog

#: Time of day for reminders, in the person's time zone.
AT = time(8, 0)
#: Replaces a decision's origin in a reminder that reveals a sealed debate, by no person.
_REVEAL, _NOBODY = "reveal", Person(id="", name="")


@dataclass(frozen=True)
class Reminder:
    debate_id: str
    #: The decision's origin.
    decision: str
    due_at: datetime


class ReminderStore(Protocol):
    """Stores reminders until they are sent. Every method may raise `StoreDown`."""

    async def put(self, reminder: Reminder) -> None:
        """Store a reminder, unless there is one for this decision."""
        ...

    async def due(self, now: datetime) -> Sequence[Reminder]: ...

    async def forget(self, reminder: Reminder) -> None: ...


@dataclass(frozen=True, kw_only=True)
class RemindPeople:
    """Schedules reminders for the morning in a person's time zone, and records those due."""

    facts: FactLog
    reminders: ReminderStore
    people: PeopleDirectory
    dates: OutcomeDates = field(default_factory=OutcomeDates)

    async def put(self, debate: Debate, decision: Decision, at: datetime) -> None:
        days = self.dates.ask_after_days
        if decision.kind is DecisionKind.ACCEPT and days:
            await self._put(debate, decision.origin, decision.by, at, after=days)
        elif decision.revisit_on is not None:
            await self._put(debate, decision.origin, decision.by, decision.revisit_on)

    async def put_reveal(self, debate: Debate) -> None:
        if at := reveals_at(debate):
            await self.reminders.put(Reminder(debate.id, _REVEAL, at))

    async def put_again(self, debate: Debate, outcome: DecisionOutcome, at: datetime) -> None:
        if outcome.kind is OutcomeKind.TOO_EARLY and outcome.decision and self.dates.ask_after_days:
            days = self.dates.again_after_days
            await self._put(debate, outcome.decision, outcome.by, at, after=days)

    async def _put(
        self, debate: Debate, decision: str, by: Person, on: date | datetime, *, after: int = 0
    ) -> None:
        """Store a reminder for the morning, in the time zone of `by`, `after` days from `on`."""
        zone = await self.people.zone_of(by.id, debate.setup.place.workspace)
        day = on.astimezone(zone).date() if isinstance(on, datetime) else on
        due = datetime.combine(day + timedelta(days=after), AT, zone)
        await self.reminders.put(Reminder(debate.id, decision, due))

    async def look(self) -> Mapping[str, MootError]:
        """Record everything that is due.

        A reminder is deleted after its event is recorded; recording it twice has one effect.
        Nothing is recorded for a replaced decision or a deleted channel.

        Returns:
            Errors by debate; the reminders of these debates are kept.
        """
        errors: dict[str, MootError] = {}
        for reminder in await self.reminders.due(self.facts.clock.now()):
            try:
                debate = await self.facts.debate(reminder.debate_id)
                with reading(debate.id):
                    due = _due(debate, reminder.decision)
                if due and await self.people.has_place(debate.setup.place):
                    await self.facts.record(reminder.debate_id, due)
            except DebateUnknown:
                pass
            except StoreDown:
                raise
            except (BadInput, StoreError) as error:
                # The error concerns this debate only: go on with the others.
                errors[reminder.debate_id] = error
                continue
            await self.reminders.forget(reminder)
        return errors


def _due(debate: Debate, origin: str) -> ReminderDue | OutcomeAsked | BallotsRevealed | None:
    """Return the event to record for a reminder; None if it is obsolete."""
    if origin == _REVEAL:
        return BallotsRevealed(by=_NOBODY) if debate.is_sealed else None
    decision, outcome = debate.decision, debate.outcome
    if decision is None or decision.origin != origin:
        return None
    if decision.kind is not DecisionKind.ACCEPT:
        return ReminderDue(decision=origin)
    if debate.verdict and not debate.decides:
        return None  # in older versions people could accept a verdict that decided nothing
    if outcome and outcome.kind is not OutcomeKind.TOO_EARLY:
        return None
    count = debate.outcomes_asked.get(origin, 0)
    # Ask again only if a person answered "too early" after the last time.
    newest = OutcomeAsked(decision=origin, number=count).key
    if count and not (outcome and debate.came_first(newest, f"outcome/{outcome.origin}")):
        return None
    return OutcomeAsked(decision=origin, number=count + 1)
