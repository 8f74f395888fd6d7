"""Changed minds with their causes, and single ballots or sources on which a verdict depends."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.views.verdict import short_text
from core.debate.contributions import Contribution
from core.debate.evidence import Citation, CitationStatus, Source, SourceKind, SourceReference
from core.debate.log import fold
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.verdict import Decision, DecisionKind, Verdict
from core.rules.movement import cause_words, hinge_words, mind_changes
from core.rules.sources import reading_turn
from core.testing import on_own_models
from tests.core.rules.formats.debates import AGENTS, a_format_setup, debate_with, options, voted
from tests.core.transcript.splits import split_log

SAYS = "; Architect says: “It scales.”"


@pytest.mark.parametrize(
    ("moved_by", "words"),
    [
        (None, SAYS),
        ("security", f", moved by Security{SAYS}"),
        # Old logs have the agent's newest text, which may be later than the change.
        ("r2/rebuttal/security", f", moved by Security{SAYS}"),
        (
            "r1/critique/security/architect",
            f", moved by Security's critique of Architect in round 1{SAYS}",
        ),
        ("e1", f", moved by the source e1 (load.md){SAYS}"),
        ("architect", SAYS),
        ("gone", SAYS),
    ],
)
def test_the_cause_is_the_one_that_the_voter_names_with_its_words(
    moved_by: str | None, words: str
) -> None:
    """Architect goes from PostgreSQL to Kafka and names this cause."""
    debate = fold(split_log())
    own_ballots = [ballot for ballot in debate.ballots.values() if ballot.voter == "architect"]
    (final,) = [ballot for ballot in own_ballots if ballot.turn.round]
    with_cause = final.model_copy(update={"moved_by": moved_by, "why_moved": "It scales."})
    turns = [
        Turn(act=Act.CRITIQUE, round=1, agent="security", target="architect"),
        Turn(act=Act.REBUTTAL, round=2, agent="security"),
    ]
    texts = {turn.key: Contribution(turn=turn, text="No.") for turn in turns}
    ballots = {**debate.ballots, final.turn.key: with_cause}
    reference = SourceReference(kind=SourceKind.FILE, title="load.md", fetch="", by=Person(id="U1"))
    changes = {
        "ballots": ballots,
        "contributions": {**debate.contributions, **texts},
        "sources": (Source(turn=reading_turn(1), reference=reference, text="2000 jobs"),),
    }
    debate = replace(debate, **changes)

    (change,) = [change for change in mind_changes(debate) if change.voter == "architect"]
    assert cause_words(debate, change) == words


VERIFIED, LOST = CitationStatus.VERIFIED, CitationStatus.UNVERIFIED


def first_ballots(*shares: float) -> Debate:
    """First ballots with these probabilities of Kafka (o1); the last ones are for PostgreSQL."""
    first = [voted(0, agent, o1=p, o2=1 - p) for agent, p in zip(AGENTS, shares, strict=False)]
    last = [voted(1, agent, o1=0.1, o2=0.9) for agent in AGENTS]
    setup = on_own_models(a_format_setup("critique"))
    return debate_with(setup, options("Kafka", "PostgreSQL"), *first, *last)


def a_verdict(*quotes: tuple[str, CitationStatus]) -> Verdict:
    citations = tuple(Citation(source=e, words="w", status=status) for e, status in quotes)
    return Verdict(decision="So.", solution="", confidence=None, option="o2", citations=citations)


@pytest.mark.parametrize(
    ("shares", "led", "voters"),
    [
        ((0.9, 0.4, 0.4), "Kafka", "without Architect"),
        ((0.6, 0.6, 0.35), "Kafka", "without Architect, or without Security"),
        # One voter alone can hold the mean.
        ((0.1, 0.6, 0.6), "PostgreSQL", "without Architect"),
        ((0.9, 0.8, 0.7), "", ""),
        ((0.8, 0.45, 0.55), "", ""),  # without the first it is a tie
        ((0.9, 0.2), "", ""),  # of two each one decides
        ((), "", ""),
    ],
)
def test_people_read_which_option_led_and_which_would_have(
    shares: Sequence[float], led: str, voters: str
) -> None:
    other = {"Kafka": "PostgreSQL", "PostgreSQL": "Kafka"}.get(led)
    words = f'Among the first ballots "{led}" led; {voters}, "{other}" would have led.'
    assert hinge_words(first_ballots(*shares), a_verdict()) == (words if led else "")


@pytest.mark.parametrize(
    ("quotes", "source"),
    [
        ((("e2", VERIFIED), ("e2", VERIFIED)), "e2"),
        ((("e2", VERIFIED), ("e1", LOST)), "e2"),
        ((("e2", VERIFIED), ("e1", VERIFIED)), ""),
        ((("e1", LOST),), ""),
    ],
)
def test_only_verified_quotes_count(
    quotes: Sequence[tuple[str, CitationStatus]], source: str
) -> None:
    words = f"The verdict's checked quotes all come from one source: {source}."
    assert hinge_words(first_ballots(), a_verdict(*quotes)) == (words if source else "")


def test_the_short_form_ends_with_the_teams_reason() -> None:
    dana, verdict = Person(id="U1", name="Dana"), a_verdict()
    decision = Decision(kind=DecisionKind.ACCEPT, by=dana, why="It is quick.", origin="V1")
    debate = replace(first_ballots(0.9, 0.4, 0.4), verdict=verdict, decisions=(decision,))
    text = short_text(debate, verdict)
    assert text.endswith("It is quick.")
