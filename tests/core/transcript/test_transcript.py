"""A debate as text: report, decision, decision record, JSON, and why each turn ran."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from core.acts.take import Turns
from core.clock import SystemClock
from core.debate.contributions import Contribution, Failure, Note, NoteOutcome, Summary, SummaryKind
from core.debate.debate_events import DebateConcluded, DebateStarted
from core.debate.log import Event, RecordedEvent, event_from_json, fold
from core.debate.message_events import ClarificationAnswered, NoteAdded
from core.debate.people import Person
from core.debate.questions import Answer, Clarification, Clarifications
from core.debate.setup import Setup
from core.debate.state import Debate
from core.debate.turn import ENGINE, SUMMARIZER, Act, Turn
from core.debate.turn_events import (
    BallotAbstained,
    BallotCast,
    ClarificationsOpened,
    ContributionMade,
    SummaryMade,
    TurnFailed,
    VerdictReached,
    VoteTallied,
)
from core.debate.verdict import Verdict
from core.debate.vote import Abstention, Ballot, Tally
from core.debate.vote import Score as Points
from core.engine import Engine
from core.llm.call import ModelCalls
from core.llm.providers.offline import OfflineProvider
from core.store.memory import InMemoryStore
from core.testing import ManualClock, RecordingSink, a_setup, log_of
from core.transcript.adr import adr
from core.transcript.decision import decision_text
from core.transcript.explain import explanation
from core.transcript.markdown import code_block
from core.transcript.record import record_json
from core.transcript.report import report
from core.transcript.words import nested, table
from core.usage import Call, Usage

GOLDEN = Path(__file__).parents[2] / "golden" / "transcript"
DANA = Person(id="U1", name="Dana")
START = ManualClock().now()


def a_call(cost: str = "0.0125", source: str = "built-in") -> Call:
    usage = Usage(input_tokens=1200, output_tokens=80, cached_tokens=400, cost=cost, attempts=1)  # pyright: ignore[reportArgumentType] - read like JSON
    return Call(
        provider="openai", model="gpt-x", usage=usage, latency_ms=1500, prompt_source=source
    )


def speech(act: Act, agent: str, text: str, **more: object) -> ContributionMade:
    turn = Turn(
        act=act, round=1, agent=agent, target=str(more.pop("about")) if "about" in more else None
    )
    return ContributionMade(
        contribution=Contribution.model_validate(
            {"turn": turn, "text": text, "call": a_call(), **more}
        )
    )


def a_log() -> Sequence[RecordedEvent]:
    """One round of two agents with everything that can be in a report."""
    setup = a_setup(agents=("architect", "security"), rounds=1).model_copy(
        update={"context": "We run PostgreSQL 16.", "warnings": ("A warning of the setup.",)}
    )
    card = Clarifications(
        turn=Turn(act=Act.CLARIFICATION, round=0, agent=ENGINE, target="1"),
        items=(
            Clarification(
                number=1, question="How many jobs?", assumption="Few.", asked_by=("architect",)
            ),
            Clarification(
                number=2,
                question="Who runs it?",
                assumption="The team.",
                asked_by=("architect", "security"),
            ),
        ),
        until=START + timedelta(minutes=15),
    )
    events: list[Event] = [
        DebateStarted(setup=setup),
        ClarificationsOpened(clarifications=card),
        ClarificationAnswered(answer=Answer(number=1, text="```10``` a day", by=DANA)),
        BallotCast(ballot=a_ballot(0, "architect", "security", "architect")),
        speech(Act.PROPOSAL, "security", "# Kafka\n\nIt is *fast*."),
        speech(Act.PROPOSAL, "architect", "PostgreSQL."),
        speech(Act.CRITIQUE, "architect", "Too large.", about="security"),
        speech(Act.REFINEMENT, "security", "PostgreSQL too.", warnings=("No critique arrived.",)),
        *the_end(),
    ]
    return log_of(events)


def the_end() -> list[Event]:
    refused = Turn(act=Act.REFINEMENT, round=1, agent="architect")
    round_summary = Summary(
        turn=Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER),
        kind=SummaryKind.ROUND,
        text="Both say PostgreSQL.",
        before_chars=1000,
        after_chars=150,
        method="rounds",
        call=a_call(),
    )
    tally = Tally(
        scores=(
            Points(position="security", points=2, first_places=1, mean_confidence=0.8),
            Points(position="architect", points=1, first_places=0, mean_confidence=0.5),
        ),
        winners=("security",),
        controversial=True,
        voters=("architect",),
        abstained=("security",),
    )
    last = Turn(act=Act.BALLOT, round=1, agent="security")
    return [
        TurnFailed(failure=Failure(turn=refused, reason="The provider | does not answer.")),
        NoteAdded(note=Note(id="n1", author=DANA, text="Mind the budget.")),
        SummaryMade(summary=round_summary),
        BallotCast(ballot=a_ballot(1, "architect", "architect", "security")),
        BallotAbstained(abstention=Abstention(turn=last, reason="It could not be read.")),
        VoteTallied(tally=tally),
        VerdictReached(verdict=a_verdict()),
        DebateConcluded(),
    ]


def a_ballot(number: int, voter: str, *ranking: str) -> Ballot:
    return Ballot(
        turn=Turn(act=Act.BALLOT, round=number, agent=voter),
        ranking=ranking,
        reasons={position: f"{position} is clear" for position in ranking},
        confidence=0.8,
        moved_by="r1/critique/architect/security" if number else None,
        call=a_call(source="prompts/ballot.md"),
    )


def a_verdict() -> Verdict:
    return Verdict(
        decision="Use PostgreSQL.",
        solution="It is there.\n\n## Why\n\nBecause.",
        implementation="1. Create the table.",
        tradeoffs=("Throughput for simplicity",),
        recommendations=("Watch the queue",),
        unmet_requirements=("It must be free",),
        open_questions=("How long may a job take?",),
        dissent="Kafka would carry more.",
        overturned_by=("More than 50,000 jobs per second",),
        notes=(NoteOutcome(note="n1", used=True, explanation="Security took it up."),),
        confidence=40,
        warnings=("Turns that failed and are missing: 1.",),
        call=a_call(),
    )


async def whole_debate(setup: Setup) -> tuple[Debate, Sequence[RecordedEvent]]:
    """A whole debate by the offline engine."""
    clock, store = SystemClock(), InMemoryStore()
    calls = ModelCalls({"offline": OfflineProvider()}, clock)
    engine = Engine(store=store, turns=Turns(calls), sink=RecordingSink(), clock=clock)
    started = DebateStarted(setup=setup)
    await store.create("dabc2345", started, origin="test", at=clock.now())
    return await engine.run("dabc2345"), await store.events("dabc2345")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("report.md", report(fold(a_log()))),
        ("adr.md", adr(fold(a_log()))),
        ("decision.txt", decision_text(fold(a_log())) + "\n"),
        ("explain.txt", explanation(a_log())),
    ],
)
def test_a_text_is_as_it_was_approved(name: str, text: str) -> None:
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("provider", ["offline"])
async def test_the_record_can_be_read_back(provider: str) -> None:
    debate, log = await whole_debate(a_setup(rounds=1, provider=provider))
    record = json.loads(record_json(log))
    events = [event_from_json(json.dumps(entry["event"])) for entry in record["events"]]

    assert [recorded.event for recorded in log] == events
    assert record["debate_id"] == debate.id
    assert record["status"] == "concluded"


@pytest.mark.parametrize(
    ("text", "level", "expected"),
    [
        ("# A\ntext\n## B", 3, "#### A\n\ntext\n\n##### B"),
        ("##### A", 3, "##### A"),
        ("```\n# no heading\n```\n# A", 1, "```\n# no heading\n```\n\n## A"),
        ("#hashtag", 3, "#hashtag"),
        ("###### A\n# B", 4, "###### A\n\n##### B"),
        ("", 2, ""),
    ],
)
def test_headings_move_below_the_section_they_are_in(text: str, level: int, expected: str) -> None:
    assert nested(text, level) == expected


def test_a_fence_cannot_be_closed_from_inside() -> None:
    assert code_block("a\n````\nb") == "`````text\na\n````\nb\n`````"


def test_a_cell_stays_in_its_cell() -> None:
    assert table(("a",), [("x | y\nz",)]) == "| a |\n| --- |\n| x \\| y z |"


def with_tally(*winners: str, voters: tuple[str, ...] = ("architect",)) -> Debate:
    scores = tuple(
        Points(position=agent, points=1, first_places=0, mean_confidence=0.5)
        for agent in ("architect", "security")
    )
    tally = Tally(scores=scores, winners=winners, controversial=True, voters=voters)
    return fold(log_of([DebateStarted(setup=a_setup()), VoteTallied(tally=tally)]))


def test_who_says_the_same_as_another_is_named_with_that_one() -> None:
    kept, slow = "It keeps every job after a crash.", "It gets slow with a million jobs."
    said = [
        (Turn(act=Act.CRITIQUE, round=1, agent="architect", target="security"), kept),
        (Turn(act=Act.CRITIQUE, round=1, agent="security", target="architect"), slow),
        (Turn(act=Act.CRITIQUE, round=1, agent="simplicity", target="architect"), kept),
        (Turn(act=Act.CRITIQUE, round=1, agent="simplicity", target="security"), f"{kept} {slow}"),
    ]
    contributions = [Contribution(turn=turn, text=words, answer=words) for turn, words in said]
    made = [ContributionMade(contribution=contribution) for contribution in contributions]
    lines = report(fold(log_of([DebateStarted(setup=a_setup()), *made]))).splitlines()

    ends = [line.rpartition("** ")[2] for line in lines if "Critique of" in line]
    same = "As Architect: critique of Security, round 1."
    assert ends == [kept, slow, same, "All of it is said above."]


def test_a_tie_is_called_a_tie() -> None:
    text = report(with_tally("architect", "security"))

    assert "The vote is tied: Architect, Security" in text
    assert "The vote is tied: Architect, Security" in adr(with_tally("architect", "security"))
