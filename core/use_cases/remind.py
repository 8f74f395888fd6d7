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

#: The time of day at which people are reminded, where they are.
AT = time(8, 0)
#: In place of a decision: the debate itself is revealed then, by nobody.
_REVEAL, _NOBODY = "reveal", Person(id="", name="")


@dataclass(frozen=True)
class Reminder:
    debate_id: str
    #: The decision's origin.
    decision: str
    due_at: datetime


class ReminderStore(Protocol):
    """Keeps dates until people were reminded. Every method may raise `StoreDown`."""

    async def put(self, reminder: Reminder) -> None:
        """Remember a date; where there is one for this decision, that one stays."""
        ...

    async def due(self, now: datetime) -> Sequence[Reminder]: ...

    async def forget(self, reminder: Reminder) -> None: ...


@dataclass(frozen=True, kw_only=True)
class RemindPeople:
    """Keeps dates, each for the morning of the person it concerns."""

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
        """Remember the morning of a day, or of so many days after a moment, where `by` is."""
        zone = await self.people.zone_of(by.id, debate.setup.place.workspace)
        day = on.astimezone(zone).date() if isinstance(on, datetime) else on
        due = datetime.combine(day + timedelta(days=after), AT, zone)
        await self.reminders.put(Reminder(debate.id, decision, due))

    async def look(self) -> Mapping[str, MootError]:
        """Remind people of everything that is due.

        Each reminder is recorded, then its date is forgotten: twice has one effect. A decision
        that was replaced meanwhile reminds nobody, and neither does one whose channel is gone.

        Returns:
            Debates nobody could be reminded of, and why; their dates are kept.
        """
        failed: dict[str, MootError] = {}
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
                # Of this debate alone: others are not held up by it.
                failed[reminder.debate_id] = error
                continue
            await self.reminders.forget(reminder)
        return failed


def _due(debate: Debate, origin: str) -> ReminderDue | OutcomeAsked | BallotsRevealed | None:
    """The reminder that is due for a decision, or the reveal; None: none any more."""
    if origin == _REVEAL:
        return BallotsRevealed(by=_NOBODY) if debate.is_sealed else None
    stands, outcome = debate.decision, debate.outcome
    if stands is None or stands.origin != origin:
        return None
    if stands.kind is not DecisionKind.ACCEPT:
        return ReminderDue(decision=origin)
    if debate.verdict and not debate.decides:
        return None  # an older version let people accept what decided nothing
    if outcome and outcome.kind is not OutcomeKind.TOO_EARLY:
        return None
    count = debate.outcomes_asked.get(origin, 0)
    # Somebody said that it was too early, after they were asked: then it is asked again.
    newest = OutcomeAsked(decision=origin, number=count).key
    if count and not (outcome and debate.came_first(newest, f"outcome/{outcome.origin}")):
        return None
    return OutcomeAsked(decision=origin, number=count + 1)
