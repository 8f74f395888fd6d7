"""Debates played through without models, for tests of what people see.

`play` does what the engine does, with outcomes and their order drawn by the test.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from core.events import (
    BallotAbstained,
    BallotCast,
    ContributionMade,
    DebateStarted,
    Event,
    NoteAdded,
    Recorded,
    StopRequested,
    TurnFailed,
    VerdictReached,
    VoteTallied,
    apply,
    fold,
)
from core.formats import registry
from core.models import (
    Abstention,
    Act,
    Ballot,
    Call,
    Contribution,
    Debate,
    Failure,
    Note,
    NoteOutcome,
    Person,
    Setup,
    Stop,
    Turn,
    Usage,
    Verdict,
)
from core.testing import a_setup
from core.voting import count

DEBATE_ID = "dabc2345"
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


def a_record(seq: int, event: Event) -> Recorded:
    return Recorded(debate_id=DEBATE_ID, seq=seq, at=START + timedelta(seconds=seq), event=event)


def a_log(events: Sequence[Event]) -> list[Recorded]:
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
    if turn.act is Act.TALLY:
        voters = tuple(debate.ballots.values())
        positions = tuple(registry.format_of(debate).positions(debate))
        lost = [a.turn.agent for a in debate.abstentions.values()]
        return VoteTallied(tally=count(positions, voters, debate.setup.vote, lost))
    if turn.act is Act.SYNTHESIS:
        notes = tuple(NoteOutcome(note=n.id, used=True, explanation="Ok.") for n in debate.notes)
        return VerdictReached(verdict=a_verdict(notes=notes))
    if turn.act is Act.BALLOT:
        return _ballot(debate, turn, choice)
    if choice == 1:
        return TurnFailed(failure=Failure(turn=turn, reason="The provider does not answer."))
    return ContributionMade(contribution=_contribution(debate, turn))


def _contribution(debate: Debate, turn: Turn) -> Contribution:
    over = registry.format_of(debate).carried_over(debate, turn)
    if over:
        return Contribution(turn=turn, text=over.text, carried_from=over.turn.key)
    return Contribution(turn=turn, text=TEXTS[turn.act], call=CALL)


def _ballot(debate: Debate, turn: Turn, choice: int) -> Event:
    if choice == 1:
        return BallotAbstained(abstention=Abstention(turn=turn, reason="No ranking.", call=CALL))
    ranking = tuple(registry.format_of(debate).positions(debate))
    return BallotCast(ballot=Ballot(turn=turn, ranking=ranking, confidence=0.8, call=CALL))


def play(setup: Setup, choose: Choose = first, most_failures: int = 0) -> list[Recorded]:
    """The log of a whole debate.

    Args:
        setup: The debate's setup.
        choose: Which ready turn ends next, and how; and whether a person does something.
        most_failures: Turns that may fail.
    """
    log = [a_record(1, DebateStarted(setup=setup))]
    debate = apply(None, log[0])
    while (ending := registry.conclusion(debate)) is None:
        log.append(a_record(len(log) + 1, _next(debate, choose, most_failures)))
        debate = apply(debate, log[-1])
    return [*log, a_record(len(log) + 1, ending)]


def _next(debate: Debate, choose: Choose, most_failures: int) -> Event:
    if choose(12) == 1:
        said = f"C1:17000000{len(debate.notes):02}.000100"
        note = Note(id=said, author=Person(id="U2", name="Sam"), text="We have no Kafka people.")
        return NoteAdded(note=note)
    if choose(40) == 1 and not debate.stop:
        return StopRequested(stop=Stop(by=Person(id="U1", name="Dana")))
    ready = registry.ready(debate)
    may_fail = len(debate.failures) < most_failures
    return outcome(debate, ready[choose(len(ready))], choose(6) if may_fail else 0)
