"""Without whom the first answers lean elsewhere, and whether one source carries a verdict."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.views.verdict import short_text
from core.debate.evidence import Citation, CitationStatus
from core.debate.follow_up import Decision, DecisionKind
from core.debate.people import Person
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.rules.hinges import decisive_voters, hinge_words, only_source
from core.testing import on_own_models
from tests.core.rules.formats.told import AGENTS, a_format_setup, debate_with, options, voted

ARCHITECT, SECURITY, SIMPLICITY = AGENTS


def first_ballots(*shares: float) -> Debate:
    """How likely each agent held Kafka (o1) at first; the last ballots all hold PostgreSQL."""
    first = [voted(0, agent, o1=p, o2=1 - p) for agent, p in zip(AGENTS, shares, strict=False)]
    last = [voted(1, agent, o1=0.1, o2=0.9) for agent in AGENTS]
    setup = on_own_models(a_format_setup("critique"))
    return debate_with(setup, options("Kafka", "PostgreSQL"), *first, *last)


@pytest.mark.parametrize(
    ("shares", "voters"),
    [
        ((0.9, 0.4, 0.4), (ARCHITECT,)),
        ((0.4, 0.9, 0.4), (SECURITY,)),
        ((0.1, 0.6, 0.6), (ARCHITECT,)),  # who held out kept the mean where it was
        ((0.9, 0.8, 0.7), ()),
        ((0.9, 0.9, 0.1), ()),
        ((0.8, 0.45, 0.55), ()),  # without the first it is a tie
        ((0.9, 0.2), ()),  # of two each one decides
        ((), ()),
    ],
)
def test_who_is_decisive_is_read_from_the_first_ballots(
    shares: Sequence[float], voters: tuple[str, ...]
) -> None:
    assert tuple(voter for voter, _ in decisive_voters(first_ballots(*shares))) == voters


def test_people_read_which_option_led_and_which_would_have() -> None:
    debate = first_ballots(0.9, 0.4, 0.4)
    assert hinge_words(debate, a_verdict()) == (
        'Among the first ballots "Kafka" led; without Architect, "PostgreSQL" would have led.'
    )
    debate = first_ballots(0.6, 0.6, 0.35)
    assert hinge_words(debate, a_verdict()) == (
        'Among the first ballots "Kafka" led; '
        'without Architect, or without Security, "PostgreSQL" would have led.'
    )
    assert not hinge_words(first_ballots(0.9, 0.8, 0.7), a_verdict())


def a_verdict(*quotes: tuple[str, str]) -> Verdict:
    lost, there = CitationStatus.UNVERIFIED, CitationStatus.VERIFIED
    citations = tuple(
        Citation(source=source, words=words, status=lost if words == "lost" else there)
        for source, words in quotes
    )
    return Verdict(decision="So.", solution="", confidence=None, citations=citations)


@pytest.mark.parametrize(
    ("quotes", "source"),
    [
        ((), ""),
        ((("e2", "one"),), "e2"),
        ((("e2", "one"), ("e2", "two")), "e2"),
        ((("e2", "one"), ("e1", "lost")), "e2"),
        ((("e2", "one"), ("e1", "two")), ""),
        ((("e1", "lost"),), ""),
    ],
)
def test_only_verified_quotes_count(quotes: Sequence[tuple[str, str]], source: str) -> None:
    assert only_source(a_verdict(*quotes)) == source


def test_what_a_verdict_hangs_on_is_not_read_as_the_teams_reason() -> None:
    dana = Person(id="U1", name="Dana")
    decision = Decision(kind=DecisionKind.ACCEPT, by=dana, why="It is quick.", origin="V1")
    verdict = Verdict(decision="PostgreSQL.", solution="", confidence=None, option="o2")
    debate = replace(first_ballots(0.9, 0.4, 0.4), verdict=verdict, decisions=(decision,))
    text = short_text(debate, verdict)
    assert "without Architect" in text
    assert text.endswith("It is quick.")
