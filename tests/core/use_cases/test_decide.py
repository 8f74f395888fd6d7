"""What the team decides is recorded once, with its reason and without secrets."""

import pytest

from core.errors import BadInput
from core.models import Decision, DecisionKind, Feedback
from core.use_cases.decide import DecideOnVerdict
from tests.core.use_cases.logs import DANA, Recording, verdict

SECRET = "xoxb-" + "1234567890-" * 3 + "abcdefghij"


def accepting(why: str) -> Decision:
    return Decision(kind=DecisionKind.ACCEPT, by=DANA, why=why, origin="V1")


async def test_the_reason_of_a_decision_is_kept_without_secrets() -> None:
    log = Recording()
    debate = await log.begin(verdict())

    await DecideOnVerdict(facts=log.facts).decide(debate, accepting(f"The key is {SECRET}."))

    decision = (await log.debate()).decision
    assert decision
    assert SECRET not in decision.why
    assert decision.why.startswith("The key is ")


async def test_what_people_say_of_a_verdict_is_kept_without_secrets() -> None:
    log = Recording()
    debate = await log.begin(verdict())
    given = Feedback(by=DANA, helpful=True, comment=f"The key is {SECRET}.", origin="V2")

    await DecideOnVerdict(facts=log.facts).give_feedback(debate, given)

    assert SECRET not in (await log.debate()).feedback[DANA.id].comment


async def test_a_form_sent_twice_is_one_decision() -> None:
    log = Recording()
    debate = await log.begin(verdict())
    decide = DecideOnVerdict(facts=log.facts)

    await decide.decide(debate, accepting("It is cheap."))
    await decide.decide(debate, accepting("It is cheap."))

    assert len((await log.debate()).decisions) == 1


async def test_without_a_verdict_there_is_nothing_to_decide_on() -> None:
    log = Recording()
    debate = await log.begin()

    with pytest.raises(BadInput, match="no verdict to decide on"):
        await DecideOnVerdict(facts=log.facts).decide(debate, accepting(""))
