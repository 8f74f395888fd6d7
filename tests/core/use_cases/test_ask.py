"""Asking after the verdict: what forbids it before any money is spent."""

from decimal import Decimal

import pytest

from core.debate.contributions import Failure
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.people import Person
from core.debate.turn import Act, Turn
from core.debate.turn_events import TurnFailed
from core.errors import BadInput
from core.settings import Caps
from core.testing import a_setup
from core.usage import Usage
from core.use_cases.ask import AskAboutDebate
from core.use_cases.limits import Bounds
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, verdict

CENTS = Decimal("0.06")


async def dana_decided_and_alex_spent(log: Recording) -> None:
    """Dana's debate has a verdict and cost nothing; one of Alex's cost six cents."""
    dana, alex = (a_setup().model_copy(update={"asked_by": person}) for person in (DANA, ALEX))
    await log.begin(verdict(), DebateConcluded(), setup=dana)
    started = DebateStarted(setup=alex)
    await log.store.create("dspent22", started, origin="other", at=log.clock.now())
    failure = Failure(
        turn=Turn(act=Act.PROPOSAL, round=1, agent="ann"),
        reason="No.",
        usage=Usage(cost=CENTS, attempts=1),
    )
    await log.store.append("dspent22", TurnFailed(failure=failure), at=log.clock.now())


def asking(log: Recording, **caps: Decimal) -> AskAboutDebate:
    return AskAboutDebate(
        facts=log.facts, bounds=Bounds(), caps=Caps.model_validate(caps), spending=log.store
    )


async def test_who_has_spent_the_day_does_not_ask_on_at_anothers_expense() -> None:
    log = Recording()
    await dana_decided_and_alex_spent(log)
    ask = asking(log, person_day_cost=CENTS)

    with pytest.raises(BadInput) as refused:
        await ask.ask(DEBATE, question_id="q1", by=ALEX, text="And Kafka?")
    assert str(refused.value) == (
        "You have spent what one person may spend in a day ($0.06), so the judge was not asked. "
        "Ask again tomorrow (UTC), or let whoever runs Moot raise the cap."
    )
    assert not (await log.debate()).follow_ups

    await ask.ask(DEBATE, question_id="q2", by=DANA, text="And Kafka?")
    log.clock.advance(24 * 60 * 60)
    await ask.ask(DEBATE, question_id="q3", by=ALEX, text="And Kafka?")
    assert [follow_up.by for follow_up in (await log.debate()).follow_ups] == [DANA, ALEX]


@pytest.mark.parametrize("by", [DANA, ALEX])
async def test_nobody_asks_when_the_money_of_everybodys_day_is_spent(by: Person) -> None:
    log = Recording()
    await dana_decided_and_alex_spent(log)

    with pytest.raises(BadInput, match="all debates of a day"):
        await asking(log, day_cost=CENTS).ask(DEBATE, question_id="q1", by=by, text="And Kafka?")
    assert not (await log.debate()).follow_ups
