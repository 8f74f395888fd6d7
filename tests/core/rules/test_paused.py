"""A pause extends the time that people have to answer."""

from datetime import timedelta

from core.debate.people_events import DebatePaused, DebateResumed
from core.rules import schedule
from tests.core.use_cases.logs import DANA, Recording, questions

PAUSED = DebatePaused(by=DANA, origin="0")
A_DAY = 86_400.0


async def test_no_deadline_for_answers_passes_during_a_pause() -> None:
    log = Recording()
    running = await log.begin(questions(1))
    until = questions(1).clarifications.until
    late = until + timedelta(hours=1)
    assert schedule.overdue(running, late)
    assert schedule.due(running) == until

    await log.facts.record(running.id, PAUSED)
    paused = await log.debate()
    assert schedule.overdue(paused, late) is None
    assert schedule.due(paused) is None

    log.clock.advance(A_DAY)
    await log.facts.record(running.id, DebateResumed(by=DANA, origin="1"))
    resumed = await log.debate()
    assert schedule.due(resumed) == until + timedelta(seconds=A_DAY)
