"""How a decision turned out: of accepted ones only, without secrets, the newest stands."""

import pytest

from core.errors import BadInput
from core.events import DecisionRecorded, OutcomeGiven, VerdictReached
from core.models import (
    NOT_DECIDED,
    Decision,
    DecisionKind,
    DecisionOutcome,
    OutcomeKind,
    Place,
    Verdict,
)
from core.testing import a_setup
from core.use_cases.decide import DecideOnVerdict
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, verdict

HELD = DecisionOutcome(kind=OutcomeKind.HELD, by=ALEX, origin="A1")


def decision(kind: DecisionKind, origin: str) -> DecisionRecorded:
    return DecisionRecorded(decision=Decision(kind=kind, by=DANA, origin=origin))


ACCEPTED = decision(DecisionKind.ACCEPT, "V1")


async def given(log: Recording) -> list[DecisionOutcome]:
    events = [one.event for one in await log.store.events(DEBATE)]
    return [event.outcome for event in events if isinstance(event, OutcomeGiven)]


async def test_a_verdict_nobody_accepted_cannot_have_turned_out() -> None:
    log = Recording()
    debate = await log.begin(verdict(), decision(DecisionKind.REJECT, "V1"))
    with pytest.raises(BadInput, match="has not accepted the verdict"):
        await DecideOnVerdict(facts=log.facts).say_outcome(debate, HELD)
    assert await given(log) == []


async def test_a_debate_that_decided_nothing_cannot_have_turned_out() -> None:
    log = Recording()
    nothing = Verdict(decision=f"{NOT_DECIDED}.", solution="", confidence=None)
    debate = await log.begin(VerdictReached(verdict=nothing), ACCEPTED)
    with pytest.raises(BadInput, match="decided nothing"):
        await DecideOnVerdict(facts=log.facts).say_outcome(debate, HELD)


async def test_on_a_terminal_the_verdict_is_accepted_first_as_well() -> None:
    log = Recording()
    setup = a_setup().model_copy(update={"place": Place(surface="terminal")})
    debate = await log.begin(verdict(), setup=setup)
    with pytest.raises(BadInput, match=f"Accept it first: moot accept {debate.id}"):
        await DecideOnVerdict(facts=log.facts).say_outcome(debate, HELD)
    assert (await log.debate()).outcome is None


async def test_an_outcome_is_of_the_accepted_decision_and_the_newest_stands() -> None:
    log = Recording()
    decide, debate = DecideOnVerdict(facts=log.facts), await log.begin(verdict(), ACCEPTED)
    await decide.say_outcome(debate, HELD)
    later = HELD.model_copy(update={"kind": OutcomeKind.REVERSED, "origin": "A2"})
    await decide.say_outcome(await log.debate(), later)
    debate = await log.debate()
    assert [outcome.kind for outcome in debate.outcomes] == [OutcomeKind.HELD, OutcomeKind.REVERSED]
    assert debate.outcome == later.model_copy(update={"decision": "V1"})
    # Accepted anew: what was said of the first time says nothing of this one.
    await log.facts.record(DEBATE, decision(DecisionKind.REJECT, "V2"))
    await log.facts.record(DEBATE, decision(DecisionKind.ACCEPT, "V3"))
    assert (await log.debate()).outcome is None


async def test_saying_it_again_takes_no_reason_away_and_adds_nothing() -> None:
    log = Recording()
    decide, debate = DecideOnVerdict(facts=log.facts), await log.begin(verdict(), ACCEPTED)
    why = HELD.model_copy(update={"why": "Costs fell."})
    await decide.give_outcome(debate, why)
    standing = await decide.say_outcome(await log.debate(), HELD.model_copy(update={"origin": "9"}))
    await decide.give_outcome(await log.debate(), why.model_copy(update={"origin": "10"}))
    assert standing.why == "Costs fell."
    assert [one.why for one in await given(log)] == ["Costs fell."]


async def test_a_secret_in_a_reason_is_not_kept() -> None:
    log = Recording()
    debate = await log.begin(verdict(), ACCEPTED)
    secret = "sk-proj-" + "a1B2" * 10
    told = HELD.model_copy(update={"why": f"The key {secret} leaked."})
    await DecideOnVerdict(facts=log.facts).give_outcome(debate, told)
    (kept,) = await given(log)
    assert secret not in kept.why
    assert kept.why.startswith("The key")
