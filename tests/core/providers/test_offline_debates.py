"""Whole debates without a model: roles differ, minds change with a reason, sentences hold."""

import re
from itertools import combinations, pairwise

import pytest

from core.clock import SystemClock
from core.engine import Engine
from core.events import DebateStarted
from core.mind_changes import mind_changes
from core.model_call import ModelCalls
from core.models import Act, Debate, Person, Place
from core.opening import Wish, open_debate
from core.providers.offline import OfflineProvider
from core.settings import Settings
from core.store.memory import InMemoryStore
from core.testing import RecordingSink
from core.turns import Turns

COURIERS = (
    "React Native, two native apps or a web app for our couriers? It must work offline, customers' "
    "addresses must stay private, and three developers have 4 months to build it."
)
MONOLITH = (
    "Should we split our monolith into microservices or keep it? Releases must not break checkout, "
    "14 people work on it, and we deploy twice a week."
)
ASSISTANTS = (
    "Should we let AI assistants write production code, run a pilot, or stay as we are? No "
    "customer data may leak, every change must be reviewed, and it should pay off within 6 months."
)
LOGIN = (
    "Build our own login or buy Auth0? It must support SSO, cost at most 20,000 EUR a year and be "
    "live in 3 months."
)
QUESTIONS = (
    COURIERS,
    MONOLITH,
    ASSISTANTS,
    LOGIN,
    (
        "React Native or two native apps for our mobile app? It must work offline, launch in 4 "
        "months, and we have 3 developers."
    ),
    (
        "Should we adopt Kubernetes or stay on Heroku? We must deploy in under 10 minutes, 6 "
        "developers, budget 3,000 EUR a month."
    ),
    "Should we store customer data in MongoDB or PostgreSQL? Data must be deletable in 30 days.",
    "Should we hire a second designer or work with a freelancer? Budget is 60,000 EUR.",
    "Datadog or Prometheus for monitoring? The budget is 15,000 EUR a year.",
    "Should we launch the beta now or wait until the audit is done? Customers were promised March.",
    (
        "Launch the portal now, start with a pilot, or wait for the security audit? No customer "
        "data may leak, it must be live by March, and four people build it."
    ),
    (
        "Should we store sessions in Redis or in the database? Sign-in must keep working when one "
        "machine fails."
    ),
    "Should we rewrite our Java backend in Go or keep it? It must handle 500 requests per second.",
    "Should our API be public?",
    "Should we work from home or in the office? Papers must stay confidential.",
    "Tabs or spaces?",
)


_HELD: dict[tuple[str, int, tuple[str, ...]], Debate] = {}


async def debated(
    question: str,
    rounds: int = 3,
    agents: tuple[str, ...] = ("architect", "security", "simplicity"),
) -> Debate:
    """A debate held once per question, since it is the same one each time."""
    key = (question, rounds, agents)
    if key not in _HELD:
        _HELD[key] = await _debated(*key)
    return _HELD[key]


async def _debated(question: str, rounds: int, agents: tuple[str, ...]) -> Debate:
    clock, store = SystemClock(), InMemoryStore()
    wish = Wish(
        question=question,
        asked_by=Person(id="U1"),
        place=Place(surface="terminal"),
        rounds=rounds,
        agents=list(agents),
    )
    setup = open_debate(wish, Settings(), delimiter="8f3a")
    await store.create("d1", DebateStarted(setup=setup), origin="test", at=clock.now())
    turns = Turns(ModelCalls({"offline": OfflineProvider()}, clock))
    return await Engine(store=store, turns=turns, sink=RecordingSink(), clock=clock).run("d1")


def taken(debate: Debate, agent: str) -> list[str]:
    """The decision in each version of an agent's position."""
    texts = [debate.text_of(Act.PROPOSAL, 1, agent)]
    texts += [
        debate.text_of(Act.REFINEMENT, number, agent)
        for number in range(1, debate.setup.rounds + 1)
    ]
    return [text.split("**")[1] for text in texts if text]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_nobody_moves_twice_and_nobody_changes_places(question: str) -> None:
    debate = await debated(question)

    ways = [taken(debate, agent.id) for agent in debate.setup.agents]
    assert all(sum(old != new for old, new in pairwise(way)) <= 1 for way in ways)
    for one, other in combinations(ways, 2):
        for (a, b), (c, d) in zip(pairwise(one), pairwise(other), strict=True):
            assert not (a != b and (a, b) == (d, c))


@pytest.mark.parametrize("question", QUESTIONS)
async def test_only_those_who_moved_prefer_another_position_afterwards(question: str) -> None:
    debate = await debated(question)

    for change in mind_changes(debate):
        assert len(set(taken(debate, change.voter))) > 1
        assert change.moved_by is not None
        assert change.moved_by.endswith(change.voter)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_the_decision_is_what_a_winner_of_the_vote_takes(question: str) -> None:
    debate = await debated(question)

    assert debate.tally
    assert debate.verdict
    assert debate.verdict.decision in {taken(debate, winner)[-1] for winner in debate.tally.winners}


@pytest.mark.parametrize("question", QUESTIONS)
async def test_posts_are_whole_sentences(question: str) -> None:
    debate = await debated(question)

    posts = [made.text for made in debate.contributions.values()]
    faults = (
        r"\b(\w+) \1\b",
        r"apps (?:is|makes|helps|does)\b",
        r" \.|,\.|\.\.(?!\.)|\(\)|“”",
        r"\bbecause\W*$",
        r"\bNone\b|\{|\}",
    )
    assert not [found for text in posts for fault in faults if (found := re.search(fault, text))]


async def test_default_roles_differ_in_half_of_the_questions() -> None:
    debates = [await debated(question) for question in QUESTIONS]

    differing = [
        debate
        for debate in debates
        if len({taken(debate, agent.id)[0] for agent in debate.setup.agents}) > 1
    ]
    assert len(differing) >= len(QUESTIONS) // 2


async def test_a_debate_ends_with_a_moved_mind_and_a_dissent() -> None:
    debate = await debated(COURIERS)

    (change,) = mind_changes(debate)
    assert (change.voter, change.after) == ("architect", "security")
    assert change.moved_by
    assert "security/architect" in change.moved_by
    assert debate.verdict
    assert debate.verdict.decision == "Choose two native apps for our couriers."
    assert "Choose a web app for our couriers." in debate.verdict.dissent
    assert debate.verdict.implementation.startswith("1. ")


async def test_simplicity_keeps_the_monolith_and_it_is_called_by_its_name() -> None:
    debate = await debated(MONOLITH)

    assert taken(debate, "simplicity") == ["Keep our monolith."] * 4
    posts = "\n".join(made.text for made in debate.contributions.values())
    assert "keeping our monolith" in posts
    assert "keeping our monolith into" not in posts


async def test_two_agents_who_disagree_never_swap() -> None:
    debate = await debated(MONOLITH, agents=("architect", "simplicity"))

    last = {taken(debate, agent.id)[-1] for agent in debate.setup.agents}
    assert "Keep our monolith." in last
