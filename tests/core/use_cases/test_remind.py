"""Reminders: of the decision that stands, once, and none held up by another debate's damage."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot.views.board import board
from core.debate.debate_events import OutcomeAsked, ReminderDue
from core.debate.follow_up import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.debate.log import RecordedEvent
from core.debate.people_events import DecisionRecorded
from core.debate.state import Debate
from core.debate.turn_events import VerdictReached
from core.debate.verdict import NOT_DECIDED, Verdict
from core.errors import LogBroken
from core.settings import OutcomeDates
from core.testing import Members, a_setup
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.remind import Reminder, RemindPeople
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, SlowStore, verdict

DUE = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 24 * 3600.0


BERLIN = ZoneInfo("Europe/Berlin")
IN_BERLIN = Members(zone=BERLIN)


class Dates:
    """Dates in memory."""

    def __init__(self, *reminders: Reminder) -> None:
        self.kept = list(reminders)

    async def put(self, reminder: Reminder) -> None:
        of = [(reminder.debate_id, reminder.decision) for reminder in self.kept]
        if (reminder.debate_id, reminder.decision) not in of:
            self.kept.append(reminder)

    async def due(self, now: datetime) -> Sequence[Reminder]:
        return [reminder for reminder in self.kept if reminder.due_at <= now]

    async def forget(self, reminder: Reminder) -> None:
        self.kept.remove(reminder)


class Damaged(SlowStore):
    """A store in which one other debate cannot be read."""

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        if debate_id == "damaged":
            raise LogBroken("It cannot be read.")
        return await super().events(debate_id, after=after)


class Team:
    """A debate with a verdict, and what the team does about it as days go by."""

    def __init__(self, dates: OutcomeDates | None = None) -> None:
        self.log = Recording()
        self.people, self.kept = Members(zone=BERLIN), Dates()
        self.remind = RemindPeople(
            facts=self.log.facts,
            reminders=self.kept,
            people=self.people,
            dates=dates or OutcomeDates(),
        )
        self.decide = DecideOnVerdict(facts=self.log.facts)

    async def begin(self) -> "Team":
        await self.log.begin(verdict())
        return self

    async def debate(self) -> Debate:
        return await self.log.debate()

    async def decides(self, kind: DecisionKind, origin: str, **more: Any) -> None:
        decision = Decision(kind=kind, by=DANA, origin=origin, **more)
        await self.decide.decide(await self.debate(), decision)
        await self.remind.put(await self.debate(), decision, self.log.clock.now())

    async def says(self, kind: OutcomeKind, origin: str, why: str = "") -> DecisionOutcome:
        outcome = DecisionOutcome(kind=kind, by=ALEX, why=why, origin=origin)
        new_outcome = await self.decide.say_outcome(await self.debate(), outcome)
        await self.remind.put_again(await self.debate(), new_outcome, self.log.clock.now())
        return new_outcome

    async def after(self, days: float) -> list[int]:
        """Let days go by, look twice; return the numbers of all times people were asked."""
        self.log.clock.advance(days * DAY)
        await self.remind.look()
        await self.remind.look()
        events = [entry.event for entry in await self.log.store.events(DEBATE)]
        return [event.number for event in events if isinstance(event, OutcomeAsked)]


def putting_off(origin: str) -> DecisionRecorded:
    kind, day = DecisionKind.REVISIT, date(2026, 1, 1)
    return DecisionRecorded(decision=Decision(kind=kind, by=DANA, origin=origin, revisit_on=day))


async def reminded_of(log: Recording) -> list[str]:
    events = [entry.event for entry in await log.store.events(DEBATE)]
    return [event.decision for event in events if isinstance(event, ReminderDue)]


async def test_a_decision_that_was_replaced_reminds_nobody() -> None:
    log = Recording()
    await log.begin(verdict(), putting_off("V1"), putting_off("V2"))
    dates = Dates(Reminder(DEBATE, "V1", DUE), Reminder(DEBATE, "V2", DUE))

    await RemindPeople(facts=log.facts, reminders=dates, people=IN_BERLIN).look()

    assert await reminded_of(log) == ["V2"]
    assert dates.kept == []


async def test_a_sealed_debate_is_revealed_after_its_hours() -> None:
    for hours, is_sealed in ((5, True), (4, False), (0, True)):
        log, dates = Recording(), Dates()
        setup = a_setup().model_copy(update={"sealed": True, "reveal_after_hours": hours})
        debate = await log.begin(verdict(), setup=setup)
        remind = RemindPeople(facts=log.facts, reminders=dates, people=IN_BERLIN)
        await remind.put_reveal(debate)
        assert bool(hours) is ("It is revealed" in board(debate).text)

        log.clock.advance(4 * 3600)
        await remind.look()

        assert (await log.debate()).is_sealed is is_sealed
        assert (await log.debate()).verdict is None or not is_sealed


async def test_what_decided_nothing_is_not_asked_about_though_it_was_accepted() -> None:
    log = Recording()
    nothing = Verdict(decision=f"{NOT_DECIDED}.", solution="", confidence=None)
    accepted = Decision(kind=DecisionKind.ACCEPT, by=DANA, origin="V1")
    await log.begin(VerdictReached(verdict=nothing), DecisionRecorded(decision=accepted))
    dates = Dates(Reminder(DEBATE, "V1", DUE))

    await RemindPeople(facts=log.facts, reminders=dates, people=IN_BERLIN).look()

    assert not (await log.debate()).outcomes_asked
    assert dates.kept == []


async def test_a_damaged_debate_keeps_its_date_and_holds_up_no_other() -> None:
    log = Recording(Damaged())
    await log.begin(verdict(), putting_off("V1"))
    dates = Dates(Reminder("damaged", "V0", DUE), Reminder(DEBATE, "V1", DUE))

    failed = await RemindPeople(facts=log.facts, reminders=dates, people=IN_BERLIN).look()

    assert list(failed) == ["damaged"]
    assert await reminded_of(log) == ["V1"]
    assert dates.kept == [Reminder("damaged", "V0", DUE)]


async def test_a_date_that_was_named_is_for_that_morning_where_its_person_is() -> None:
    team = await Team().begin()
    await team.decides(DecisionKind.REVISIT, "V1", revisit_on=date(2026, 3, 1))
    (reminder,) = team.kept.kept
    assert reminder.due_at == datetime(2026, 3, 1, 8, tzinfo=BERLIN)


async def test_people_are_asked_once_in_the_morning_90_days_after_they_accepted() -> None:
    team = await Team().begin()
    await team.decides(DecisionKind.ACCEPT, "V1")
    (reminder,) = team.kept.kept
    assert reminder.due_at == datetime(2026, 4, 5, 8, tzinfo=BERLIN)
    assert await team.after(89) == []
    assert await team.after(1) == [1]
    assert await team.after(300) == [1]
    assert team.kept.kept == []


async def test_a_date_that_is_put_again_after_a_crash_asks_nobody_twice() -> None:
    team = await Team().begin()
    await team.decides(DecisionKind.ACCEPT, "V1")
    assert await team.after(91) == [1]
    decision = (await team.debate()).decisions[0]
    await team.remind.put(await team.debate(), decision, DUE)
    assert await team.after(100) == [1]


async def test_nobody_is_asked_where_the_channel_is_gone_or_the_setting_says_so() -> None:
    without_channel, never = (
        await Team().begin(),
        await Team(OutcomeDates(ask_after_days=0)).begin(),
    )
    without_channel.people.channels = ()
    for team in (without_channel, never):
        await team.decides(DecisionKind.ACCEPT, "V1")
        await team.says(OutcomeKind.TOO_EARLY, "A1")
        assert await team.after(4000) == []
        assert team.kept.kept == []


async def test_a_date_is_kept_while_the_surface_does_not_answer() -> None:
    team = await Team().begin()
    await team.decides(DecisionKind.ACCEPT, "V1")
    team.people.silent = True
    assert await team.after(91) == []
    team.people.silent = False
    assert await team.after(0) == [1]
