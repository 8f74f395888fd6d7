"""Reminders of the current decision, once, in the morning of the person's time zone."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.views.board import board
from core.debate.debate_events import OutcomeAsked
from core.debate.people_events import DecisionRecorded
from core.debate.turn_events import VerdictReached
from core.debate.verdict import (
    NOT_DECIDED,
    Decision,
    DecisionKind,
    DecisionOutcome,
    OutcomeKind,
    Verdict,
)
from core.settings import OutcomeDates
from core.testing import Members, a_setup
from core.use_cases.decide import DecideOnVerdict
from core.use_cases.remind import Reminder, RemindPeople
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, verdict

DUE = datetime(2026, 1, 1, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


class Dates:
    """Dates in memory."""

    def __init__(self) -> None:
        self.kept: list[Reminder] = []

    async def put(self, reminder: Reminder) -> None:
        of = [(kept.debate_id, kept.decision) for kept in self.kept]
        if (reminder.debate_id, reminder.decision) not in of:
            self.kept.append(reminder)

    async def due(self, now: datetime) -> Sequence[Reminder]:
        return [reminder for reminder in self.kept if reminder.due_at <= now]

    async def forget(self, reminder: Reminder) -> None:
        self.kept.remove(reminder)


class Team:
    """A debate of a team in Berlin, with steps of days."""

    def __init__(self, ask_after_days: int = 90) -> None:
        self.log = Recording()
        self.people, self.dates = Members(zone=BERLIN), Dates()
        self.remind = RemindPeople(
            facts=self.log.facts,
            reminders=self.dates,
            people=self.people,
            dates=OutcomeDates(ask_after_days=ask_after_days),
        )

    async def decides(self, kind: DecisionKind, origin: str, **more: Any) -> None:
        decision = Decision(kind=kind, by=DANA, origin=origin, **more)
        await DecideOnVerdict(facts=self.log.facts).decide(await self.log.debate(), decision)
        await self.remind.put(await self.log.debate(), decision, self.log.clock.now())

    async def after(self, days: float) -> list[int]:
        """Advance the clock, check twice; return the numbers of all requests for an outcome."""
        self.log.clock.advance(days * 24 * 3600)
        await self.remind.look()
        await self.remind.look()
        events = [entry.event for entry in await self.log.store.events(DEBATE)]
        return [event.number for event in events if isinstance(event, OutcomeAsked)]


async def a_team(ask_after_days: int = 90) -> Team:
    team = Team(ask_after_days)
    await team.log.begin(verdict())
    return team


async def test_a_replaced_decision_causes_no_reminder() -> None:
    team = await a_team()
    for origin in ("V1", "V2"):
        await team.decides(DecisionKind.REVISIT, origin, revisit_on=date(2026, 3, int(origin[1])))
    mornings = [reminder.due_at for reminder in team.dates.kept]
    assert mornings == [datetime(2026, 3, day, 8, tzinfo=BERLIN) for day in (1, 2)]
    await team.after(60)
    assert (await team.log.debate()).reminded == {"V2"}
    assert team.dates.kept == []


@pytest.mark.parametrize(("hours", "is_sealed"), [(5, True), (4, False), (0, True)])
async def test_a_sealed_debate_is_revealed_after_its_hours(hours: int, *, is_sealed: bool) -> None:
    team = Team()
    setup = a_setup().model_copy(update={"sealed": True, "reveal_after_hours": hours})
    debate = await team.log.begin(verdict(), setup=setup)
    await team.remind.put_reveal(debate)
    assert bool(hours) is ("It is revealed" in board(debate).text)
    team.log.clock.advance(4 * 3600)
    await team.remind.look()
    assert (await team.log.debate()).is_sealed is is_sealed


async def test_an_accepted_verdict_without_a_decision_is_not_asked_about() -> None:
    team = Team()
    nothing = Verdict(decision=f"{NOT_DECIDED}.", solution="", confidence=None)
    accepted = Decision(kind=DecisionKind.ACCEPT, by=DANA, origin="V1")
    await team.log.begin(VerdictReached(verdict=nothing), DecisionRecorded(decision=accepted))
    await team.dates.put(Reminder(DEBATE, "V1", DUE))
    assert (await team.after(0), team.dates.kept) == ([], [])


async def test_people_are_asked_once_in_the_morning_90_days_after_they_accepted() -> None:
    team = await a_team()
    await team.decides(DecisionKind.ACCEPT, "V1")
    assert [reminder.due_at for reminder in team.dates.kept] == [
        datetime(2026, 4, 5, 8, tzinfo=BERLIN)
    ]
    assert await team.after(89) == []
    team.people.silent = True  # the surface does not answer
    assert await team.after(1) == []
    team.people.silent = False
    assert await team.after(0) == [1]
    debate = await team.log.debate()
    await team.remind.put(debate, debate.decisions[0], DUE)  # once more, after a crash
    assert (await team.after(300), team.dates.kept) == ([1], [])


@pytest.mark.parametrize(("ask_after_days", "channels"), [(0, None), (90, ())])
async def test_outcomes_are_not_asked_for_in_lost_channels_or_if_settings_forbid_it(
    ask_after_days: int, channels: tuple[str, ...] | None
) -> None:
    team = await a_team(ask_after_days)
    team.people.channels = channels
    await team.decides(DecisionKind.ACCEPT, "V1")
    early = DecisionOutcome(kind=OutcomeKind.TOO_EARLY, by=ALEX, origin="A1", decision="V1")
    await team.remind.put_again(await team.log.debate(), early, team.log.clock.now())
    assert (await team.after(4000), team.dates.kept) == ([], [])
