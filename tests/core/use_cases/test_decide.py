"""What the team decides is recorded once, with its reason and without secrets."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.follow_up import Decision, DecisionKind, Feedback
from core.debate.log import RecordedEvent
from core.debate.people_events import DecisionRecorded
from core.debate.state import Status
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import OptionsMerged, VerdictReached
from core.debate.verdict import Verdict
from core.debate.vote import Option, Options, PeopleBallot, QuestionKind
from core.errors import BadInput
from core.llm.providers.offline_engine.checklist_replies import UNDECIDED
from core.testing import ManualClock, a_setup
from core.use_cases.decide import DecideOnVerdict
from tests.core.use_cases.logs import DANA, DEBATE, Recording, SlowStore, verdict

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
    feedback = Feedback(by=DANA, helpful=True, comment=f"The key is {SECRET}.", origin="V2")

    await DecideOnVerdict(facts=log.facts).give_feedback(debate, feedback)

    assert SECRET not in (await log.debate()).feedback[DANA.id].comment


def nothing_decided() -> VerdictReached:
    """What the offline engine writes where its checklists do not decide."""
    return VerdictReached(verdict=Verdict(decision=UNDECIDED, solution="", confidence=None))


async def test_what_was_accepted_with_an_older_version_can_be_rejected_since() -> None:
    log = Recording()
    accepted = DecisionRecorded(decision=accepting("It is cheap."))
    debate = await log.begin(nothing_decided(), accepted)
    rejected = Decision(kind=DecisionKind.REJECT, by=DANA, why="Nobody decided.", origin="V2")

    await DecideOnVerdict(facts=log.facts).decide(debate, rejected)

    assert (await log.debate()).decision == rejected


async def test_what_decides_nothing_can_be_neither_accepted_nor_stand_in_place() -> None:
    log = Recording()
    debate = await log.begin(nothing_decided())
    decide = DecideOnVerdict(facts=log.facts)

    with pytest.raises(BadInput, match="nothing to accept or reject"):
        await decide.decide(debate, accepting("It is cheap."))
    with pytest.raises(BadInput, match="no verdict that could stand"):
        decide.check_supersedes(debate, replace(debate, status=Status.CONCLUDED))
    decide.check_decision(debate)  # it can be debated on
    assert not (await log.debate()).decisions


async def test_without_a_verdict_there_is_nothing_to_decide_on() -> None:
    log = Recording()
    debate = await log.begin()

    with pytest.raises(BadInput, match="no verdict to decide on"):
        await DecideOnVerdict(facts=log.facts).decide(debate, accepting(""))


def options() -> OptionsMerged:
    """Two options that three agents named."""
    merged = Options(
        turn=Turn(act=Act.OPTIONS, round=0, agent=SUMMARIZER),
        question_kind=QuestionKind.CHOICE,
        items=(Option(id="o1", name="PostgreSQL"), Option(id="o2", name="Kafka")),
        stances={"architect": "o1", "security": "o2", "simplicity": "o1"},
    )
    return OptionsMerged(options=merged)


def choosing(*options: str, origin: str = "V1") -> PeopleBallot:
    return PeopleBallot(by=DANA, options=options, origin=origin)


async def test_pressing_the_same_thumb_again_takes_no_reason_away() -> None:
    log = Recording()
    debate = await log.begin(verdict())
    decide = DecideOnVerdict(facts=log.facts)
    feedback = Feedback(by=DANA, helpful=True, comment="It saved a week.", origin="V1")

    await decide.give_feedback(debate, feedback)
    again = feedback.model_copy(update={"comment": "", "origin": "V2"})
    await decide.say_helpful(await log.debate(), again)

    assert (await log.debate()).feedback[DANA.id].comment == "It saved a week."


async def test_only_a_newer_debate_with_a_verdict_can_stand_in_an_older_ones_place() -> None:
    log = Recording()
    older = await log.begin(verdict(), DebateConcluded())
    decide = DecideOnVerdict(facts=log.facts)
    with pytest.raises(BadInput, match="no newer debate with a verdict"):
        await decide.newer_than(older)

    for name, reached in (
        ("newer", verdict()),
        ("running", verdict()),
        ("undecided", nothing_decided()),
    ):
        log.clock.advance(1)
        started = DebateStarted(setup=a_setup())
        await log.store.create(name, started, origin=name, at=log.clock.now())
        await log.store.append(name, reached, at=log.clock.now())
        if name != "running":
            await log.store.append(name, DebateConcluded(), at=log.clock.now())

    assert list(await decide.newer_than(older)) == ["newer"]
    newer = await log.facts.debate("newer")
    with pytest.raises(BadInput, match="no newer debate with a verdict"):
        await decide.newer_than(newer)
    assert older.id == DEBATE


class OnASlowDisk(SlowStore):
    """A store that takes 0.4 seconds to read a log, by this clock."""

    clock: ManualClock | None = None

    async def events(self, debate_id: str, *, after: int = 0) -> Sequence[RecordedEvent]:
        if self.clock:
            self.clock.advance(0.4)
        return await super().events(debate_id, after=after)


async def test_the_newest_debates_are_offered_in_time_for_the_form_to_open() -> None:
    store = OnASlowDisk()
    log = Recording(store)
    older = await log.begin(verdict(), DebateConcluded())
    for name in ("d1", "d2", "d3", "d4", "d5", "undecided"):
        log.clock.advance(1)
        started, reached = DebateStarted(setup=a_setup()), verdict()
        reached = nothing_decided() if name == "undecided" else reached
        await log.store.create(name, started, origin=name, at=log.clock.now())
        await log.store.append(name, reached, at=log.clock.now())
        await log.store.append(name, DebateConcluded(), at=log.clock.now())
    store.clock = log.clock
    begun = log.clock.now()

    newer = await DecideOnVerdict(facts=log.facts).newer_than(older)

    assert list(newer) == ["d5", "d4"]
    assert (log.clock.now() - begun).total_seconds() < 1.5
