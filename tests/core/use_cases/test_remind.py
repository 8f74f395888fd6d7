"""Reminders: of the decision that stands, once, and none held up by another debate's damage."""

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, tzinfo

from core.errors import LogBroken
from core.events import DecisionRecorded, Recorded, ReminderDue
from core.models import Decision, DecisionKind, Place
from core.use_cases.remind import Reminder, RemindPeople
from tests.core.use_cases.logs import DANA, DEBATE, Recording, SlowStore, verdict

DUE = datetime(2026, 1, 1, tzinfo=UTC)


class Dates:
    """Dates in memory."""

    def __init__(self, *kept: Reminder) -> None:
        self.kept = list(kept)

    async def put(self, debate_id: str, decision: Decision, zone: tzinfo) -> None:
        raise NotImplementedError

    async def due(self, now: datetime) -> Sequence[Reminder]:
        return [one for one in self.kept if one.due_at <= now]

    async def forget(self, reminder: Reminder) -> None:
        self.kept.remove(reminder)


class Nobody:
    """A surface that knows nobody."""

    async def may_see(self, person: str, place: Place) -> bool:
        raise NotImplementedError

    async def channels_of(self, person: str, workspace: str) -> Collection[str]:
        raise NotImplementedError

    async def zone_of(self, person: str, workspace: str) -> tzinfo:
        raise NotImplementedError


class Damaged(SlowStore):
    """A store in which one other debate cannot be read."""

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[Recorded]:
        if debate_id == "damaged":
            raise LogBroken("It cannot be read.")
        return await super().events(debate_id, after=after)


def putting_off(origin: str) -> DecisionRecorded:
    kind, day = DecisionKind.REVISIT, date(2026, 1, 1)
    return DecisionRecorded(decision=Decision(kind=kind, by=DANA, origin=origin, revisit_on=day))


async def reminded_of(log: Recording) -> list[str]:
    events = [one.event for one in await log.store.events(DEBATE)]
    return [event.decision for event in events if isinstance(event, ReminderDue)]


async def test_a_decision_that_was_replaced_reminds_nobody() -> None:
    log = Recording()
    await log.begin(verdict(), putting_off("V1"), putting_off("V2"))
    dates = Dates(Reminder(DEBATE, "V1", DUE), Reminder(DEBATE, "V2", DUE))

    await RemindPeople(facts=log.facts, reminders=dates, people=Nobody()).look()

    assert await reminded_of(log) == ["V2"]
    assert dates.kept == []


async def test_a_damaged_debate_keeps_its_date_and_holds_up_no_other() -> None:
    log = Recording(Damaged())
    await log.begin(verdict(), putting_off("V1"))
    dates = Dates(Reminder("damaged", "V0", DUE), Reminder(DEBATE, "V1", DUE))

    failed = await RemindPeople(facts=log.facts, reminders=dates, people=Nobody()).look()

    assert list(failed) == ["damaged"]
    assert await reminded_of(log) == ["V1"]
    assert dates.kept == [Reminder("damaged", "V0", DUE)]
