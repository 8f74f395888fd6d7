"""Debates played through without models, for tests of what people see.

`play` does what the engine does, with outcomes and their order drawn by the test.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

from core.debate.contributions import Contribution, Failure, Note, NoteOutcome, Question
from core.debate.debate_events import ClarificationsClosed, DebateStarted
from core.debate.log import Event, RecordedEvent, apply, fold
from core.debate.message_events import NoteAdded
from core.debate.people import Person, Stop
from core.debate.people_events import (
    DebatePaused,
    DebateResumed,
    DebateWanted,
    StopRequested,
    VoteCalled,
)
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import (
    BallotAbstained,
    BallotCast,
    ContributionMade,
    FacilitatorDecided,
    OptionsMerged,
    TurnFailed,
    VerdictReached,
)
from core.debate.verdict import Verdict
from core.debate.vote import Abstention, Ballot, Guidance, NextStep, Option, Options, QuestionKind
from core.rules import schedule
from core.rules.ending import reopening_fault
from core.rules.formats.registry import format_of
from core.testing import a_setup
from core.usage import Call, Usage
from tests.core import dice

DEBATE_ID = "dabc2345"
DANA, SAM = Person(id="U1", name="Dana"), Person(id="U2", name="Sam")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
CALL = Call(
    provider="scripted",
    model="scripted-1",
    usage=Usage(input_tokens=900, output_tokens=200, cost=Decimal("0.0031"), attempts=1),
    latency_ms=2400,
)
TEXTS = {
    Act.PROPOSAL: "## Proposal\n\nUse **PostgreSQL**, `SKIP LOCKED`.\n\n- one system less\n- ACID",
    Act.CRITIQUE: "It says nothing about *retries*: what happens when a worker dies?",
    Act.REFINEMENT: "PostgreSQL with `SKIP LOCKED`, and a lease per job.\n\nAccepted: retries.",
}
#: Picks one of so many possibilities.
Choose = Callable[[int], int]


def first(_: int) -> int:
    """Always the first possibility."""
    return 0


def a_record(seq: int, event: Event) -> RecordedEvent:
    return RecordedEvent(
        debate_id=DEBATE_ID, seq=seq, at=START + timedelta(seconds=seq), event=event
    )


def a_log(events: Sequence[Event]) -> list[RecordedEvent]:
    return [a_record(seq, event) for seq, event in enumerate(events, start=1)]


def a_debate(*events: Event, setup: Setup | None = None) -> Debate:
    """The debate after these events."""
    return fold(a_log([DebateStarted(setup=setup or a_setup()), *events]))


def a_verdict(**changes: object) -> Verdict:
    whole = Verdict(
        decision="Use **PostgreSQL** as the job queue.",
        solution="It keeps every job and the team knows it.",
        implementation="1. Create the table\n2. Claim with `SKIP LOCKED`",
        tradeoffs=("Throughput for simplicity",),
        recommendations=("Watch the depth of the queue",),
        unmet_requirements=("Fan-out to many consumers",),
        open_questions=("How long may a job take?",),
        dissent="Performance would take Kafka.",
        overturned_by=("More than 50,000 jobs per second",),
        confidence=72,
        call=CALL,
    )
    return whole.model_copy(update=changes)


def outcome(debate: Debate, turn: Turn, choice: int = 0) -> Event:
    """What comes of a turn; the choice 1 is a failure."""
    if turn.act is Act.SYNTHESIS:
        notes = tuple(NoteOutcome(note=n.id, used=True, explanation="Ok.") for n in debate.notes)
        return VerdictReached(verdict=a_verdict(notes=notes), edition=debate.edition)
    if turn.act is Act.OPTIONS:  # where no model answers, rules merge them
        return OptionsMerged(options=some_options(debate, turn))
    if turn.act in dice.SURE or turn.act is Act.CROSS_CHECK:
        return dice.outcome(debate, turn, Random(0))
    if turn.act is Act.BALLOT:
        return _ballot(debate, turn, choice)
    if choice == 1:
        return TurnFailed(failure=Failure(turn=turn, reason="The provider does not answer."))
    if turn.act is Act.FACILITATION:
        steps = {2: NextStep.VOTE, 3: NextStep.ASK}
        question = Question(text="How many jobs a second?", assumption="100")
        guidance = Guidance(
            turn=turn,
            next_step=steps.get(choice, NextStep.GO_ON),
            focus="Retries.",
            question=question if choice == 3 else None,
        )
        return FacilitatorDecided(guidance=guidance)
    over = format_of(debate).carried_over(debate, turn)
    said = Contribution(turn=turn, text=TEXTS.get(turn.act, TEXTS[Act.CRITIQUE]), call=CALL)
    if over:
        said = Contribution(turn=turn, text=over.text, carried_from=over.turn.key)
    return ContributionMade(contribution=said)


def some_options(debate: Debate, turn: Turn) -> Options:
    """PostgreSQL, for which the first agent stands, and Kafka."""
    drafts = list(format_of(debate).drafts(debate))
    return Options(
        turn=turn,
        question_kind=QuestionKind.CHOICE,
        items=(Option(id="o1", name="PostgreSQL"), Option(id="o2", name="Kafka")),
        stances={agent: "o1" if agent == drafts[0] else "o2" for agent in drafts},
        call=CALL,
    )


def _ballot(debate: Debate, turn: Turn, choice: int) -> Event:
    if choice == 1:
        return BallotAbstained(abstention=Abstention(turn=turn, reason="No ranking.", call=CALL))
    ranking = tuple(format_of(debate).positions(debate))
    shares = {"o1": 0.8, "o2": 0.2} if debate.options else {}
    ballot = Ballot(turn=turn, ranking=ranking, probabilities=shares, confidence=None, call=CALL)
    return BallotCast(ballot=ballot)


def play(
    setup: Setup, choose: Choose = first, most_failures: int = 0, *, reopens: bool = False
) -> list[RecordedEvent]:
    """The log of a whole debate.

    Args:
        setup: The debate's setup.
        choose: Which ready turn ends next, and how; and whether a person does something.
        most_failures: Turns that may fail.
        reopens: Whether somebody wants it debated if it was skipped, and it ends once more.
    """
    log = [a_record(1, DebateStarted(setup=setup))]
    debate = apply(None, log[0])
    while (ending := schedule.conclusion(debate)) is None:
        log.append(a_record(len(log) + 1, _next(debate, choose, most_failures)))
        debate = apply(debate, log[-1])
        ending = schedule.conclusion(debate)
        if ending and reopens and not debate.reopened_by and not reopening_fault(debate):
            for event in (ending, DebateWanted(by=DANA)):
                log.append(a_record(len(log) + 1, event))
                debate = apply(debate, log[-1])
    return [*log, a_record(len(log) + 1, ending)]


def _next(debate: Debate, choose: Choose, most_failures: int) -> Event:
    fact = _interference(debate, choose)
    if fact:
        return fact
    ready = schedule.ready(debate)
    if not ready:
        which = next(key for key in debate.clarifications if key not in debate.closed_cards)
        return ClarificationsClosed(which=which)
    turn = ready[choose(len(ready))]
    may_fail = len(debate.failures) < most_failures or turn.act is Act.FACILITATION
    return outcome(debate, turn, choose(6) if may_fail else 0)


def _interference(debate: Debate, choose: Choose) -> Event | None:
    """What a person does, now and then; a paused debate goes on at once."""
    if debate.paused_by:
        return DebateResumed(by=DANA, origin=str(debate.seq))
    if choose(12) == 1:
        text = f"C1:17000000{len(debate.notes):02}.000100"
        return NoteAdded(note=Note(id=text, author=SAM, text="We have no Kafka people."))
    if choose(25) == 1:
        return DebatePaused(by=DANA, origin=str(debate.seq))
    if choose(60) == 1 and not debate.stop:
        return StopRequested(stop=Stop(by=DANA))
    if choose(60) == 1 and not debate.vote_called_by:
        return VoteCalled(by=DANA)
    return None
