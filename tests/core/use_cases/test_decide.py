"""Decisions, feedback and outcomes are recorded once, without secrets."""

from dataclasses import replace

import pytest

from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.people_events import DecisionRecorded
from core.debate.state import Status
from core.debate.turn_events import VerdictReached
from core.debate.verdict import (
    Decision,
    DecisionKind,
    DecisionOutcome,
    Feedback,
    OutcomeKind,
    Verdict,
)
from core.debate.vote import PeopleBallot
from core.errors import BadInput
from core.llm.providers.offline import UNDECIDED
from core.testing import a_setup
from core.use_cases.decide import DecideOnVerdict
from tests.core.use_cases.logs import ALEX, DANA, Recording, verdict
from tests.core.use_cases.test_steer import TWO

SECRET = "xoxb-" + "1234567890-" * 3 + "abcdefghij"
ACCEPTED = Decision(kind=DecisionKind.ACCEPT, by=DANA, why=f"The key is {SECRET}.", origin="V1")
HELD = DecisionOutcome(kind=OutcomeKind.HELD, by=ALEX, why=f"Costs fell. {SECRET}", origin="A1")
#: What the offline engine writes where its checklists do not decide.
UNDECIDED_VERDICT = VerdictReached(
    verdict=Verdict(decision=UNDECIDED, solution="", confidence=None)
)


def deciding(log: Recording) -> DecideOnVerdict:
    return DecideOnVerdict(facts=log.facts)


async def test_reasons_are_kept_without_secrets_and_saying_it_again_takes_none_away() -> None:
    log = Recording()
    decide, debate = deciding(log), await log.begin(verdict())
    await decide.decide(debate, ACCEPTED)
    await decide.give_outcome(await log.debate(), HELD)
    again = HELD.model_copy(update={"why": "", "origin": "A2"})
    assert await decide.say_outcome(await log.debate(), again) == (await log.debate()).outcome
    await decide.give_outcome(await log.debate(), HELD.model_copy(update={"origin": "A3"}))
    feedback = Feedback(by=DANA, helpful=True, comment=f"The key is {SECRET}.", origin="V2")
    await decide.give_feedback(debate, feedback)
    pressed = feedback.model_copy(update={"comment": "", "origin": "V3"})
    await decide.say_helpful(await log.debate(), pressed)

    debate = await log.debate()
    assert [item.why for item in debate.decisions] == ["The key is [redacted]."]
    assert [item.why for item in debate.outcomes] == ["Costs fell. [redacted]"]
    assert debate.feedback[DANA.id].comment == "The key is [redacted]."


async def test_a_decision_accepted_with_an_older_version_can_be_rejected() -> None:
    log = Recording()
    debate = await log.begin(UNDECIDED_VERDICT, DecisionRecorded(decision=ACCEPTED))
    with pytest.raises(BadInput, match="decided nothing"):
        await deciding(log).say_outcome(debate, HELD)
    rejected = Decision(kind=DecisionKind.REJECT, by=DANA, why="Nobody decided.", origin="V2")
    await deciding(log).decide(debate, rejected)
    assert (await log.debate()).decision == rejected


async def test_what_decides_nothing_can_be_neither_accepted_nor_stand_in_place() -> None:
    log = Recording()
    decide, debate = deciding(log), await log.begin()
    with pytest.raises(BadInput, match="no verdict to decide on"):
        await decide.decide(debate, ACCEPTED)
    await log.facts.record(debate.id, UNDECIDED_VERDICT)
    debate = await log.debate()
    with pytest.raises(BadInput, match="nothing to accept or reject"):
        await decide.decide(debate, ACCEPTED)
    with pytest.raises(BadInput, match="cannot supersede"):
        decide.check_supersedes(debate, replace(debate, status=Status.CONCLUDED))
    decide.check_decision(debate)  # it can be debated on
    assert not (await log.debate()).decisions


@pytest.mark.parametrize(
    ("options", "words"),
    [((), "Choose what"), (("o9",), "no such option"), (("o1", "o1"), "in two places")],
)
async def test_a_ballot_that_cannot_be_counted_says_what_to_do(
    options: tuple[str, ...], words: str
) -> None:
    log = Recording()
    with pytest.raises(BadInput, match="nothing to choose between yet"):
        deciding(log).check_ballot(await log.begin(), ALEX)
    for event in TWO:
        await log.store.append((await log.debate()).id, event, at=log.clock.now())
    ballot = PeopleBallot(by=ALEX, options=options, origin="V1")
    with pytest.raises(BadInput, match=words):
        await deciding(log).vote(await log.debate(), ballot)


async def more_debates(log: Recording, *names: str) -> None:
    """Create debates a second apart. They decide something and end, unless their names say not."""
    for name in names:
        log.clock.advance(1)
        started = DebateStarted(setup=a_setup())
        await log.store.create(name, started, origin=name, at=log.clock.now())
        reached = UNDECIDED_VERDICT if name == "undecided" else verdict()
        await log.store.append(name, reached, at=log.clock.now())
        if name != "running":
            await log.store.append(name, DebateConcluded(), at=log.clock.now())


async def test_only_a_newer_debate_with_a_verdict_can_stand_in_an_older_ones_place() -> None:
    log = Recording()
    older = await log.begin(verdict(), DebateConcluded())
    with pytest.raises(BadInput, match="no newer debate with a verdict"):
        await deciding(log).newer_than(older)
    await more_debates(log, "newer", "running", "undecided")
    assert list(await deciding(log).newer_than(older)) == ["newer"]
    with pytest.raises(BadInput, match="no newer debate with a verdict"):
        await deciding(log).newer_than(await log.facts.debate("newer"))
