"""How a decision turned out: of accepted ones only, without secrets, the newest stands."""

import pytest

from core.debate.follow_up import Decision, DecisionKind, DecisionOutcome, OutcomeKind
from core.debate.people_events import DecisionRecorded, OutcomeGiven
from core.debate.turn_events import VerdictReached
from core.debate.verdict import NOT_DECIDED, Verdict
from core.errors import BadInput
from core.use_cases.decide import DecideOnVerdict
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, verdict

HELD = DecisionOutcome(kind=OutcomeKind.HELD, by=ALEX, origin="A1")


def decision(kind: DecisionKind, origin: str) -> DecisionRecorded:
    return DecisionRecorded(decision=Decision(kind=kind, by=DANA, origin=origin))


ACCEPTED = decision(DecisionKind.ACCEPT, "V1")


async def outcomes_in(log: Recording) -> list[DecisionOutcome]:
    events = [entry.event for entry in await log.store.events(DEBATE)]
    return [event.outcome for event in events if isinstance(event, OutcomeGiven)]


async def test_a_debate_that_decided_nothing_cannot_have_turned_out() -> None:
    log = Recording()
    nothing = Verdict(decision=f"{NOT_DECIDED}.", solution="", confidence=None)
    debate = await log.begin(VerdictReached(verdict=nothing), ACCEPTED)
    with pytest.raises(BadInput, match="decided nothing"):
        await DecideOnVerdict(facts=log.facts).say_outcome(debate, HELD)


async def test_saying_it_again_takes_no_reason_away_and_adds_nothing() -> None:
    log = Recording()
    decide, debate = DecideOnVerdict(facts=log.facts), await log.begin(verdict(), ACCEPTED)
    why = HELD.model_copy(update={"why": "Costs fell."})
    await decide.give_outcome(debate, why)
    outcome = await decide.say_outcome(await log.debate(), HELD.model_copy(update={"origin": "9"}))
    await decide.give_outcome(await log.debate(), why.model_copy(update={"origin": "10"}))
    assert outcome.why == "Costs fell."
    assert [outcome.why for outcome in await outcomes_in(log)] == ["Costs fell."]


async def test_a_secret_in_a_reason_is_not_kept() -> None:
    log = Recording()
    debate = await log.begin(verdict(), ACCEPTED)
    secret = "sk-proj-" + "a1B2" * 10
    reply = HELD.model_copy(update={"why": f"The key {secret} leaked."})
    await DecideOnVerdict(facts=log.facts).give_outcome(debate, reply)
    (outcome,) = await outcomes_in(log)
    assert secret not in outcome.why
    assert outcome.why.startswith("The key")
