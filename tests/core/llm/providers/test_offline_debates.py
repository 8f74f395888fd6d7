"""Whole debates without a model: roles differ, minds change with a reason, sentences hold."""

import re
from itertools import combinations, pairwise

import pytest

from core.clock import SystemClock
from core.engine import Engine
from core.events import DebateStarted
from core.llm.call import ModelCalls
from core.llm.providers.offline import OfflineProvider
from core.models import Act, Debate, Person, Place
from core.opening import DebateRequest, open_debate
from core.rules.mind_changes import mind_changes
from core.settings import Settings
from core.store.memory import InMemoryStore
from core.testing import RecordingSink
from core.turns.take import Turns

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


#: Questions that no checklist covers.
OTHERS = (
    "Is abortion wrong?",
    "Should we fire Bob?",
    "Who should be tech lead, Ann or Bob?",
    "Tabs?",
    "#2",
    "How do we reduce churn?",
    "What colour should the bikeshed be?",
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
    wish = DebateRequest(
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
async def test_who_prefers_another_position_names_a_critique_of_the_one_before(
    question: str,
) -> None:
    debate = await debated(question)

    named = [change for change in mind_changes(debate) if change.moved_by]
    assert all(change.moved_by and change.moved_by.endswith(change.before) for change in named)


async def test_no_voter_is_for_its_own_position_more_often_than_texts_explain() -> None:
    debates = [await debated(question) for question in QUESTIONS]

    last = [ballot for debate in debates for ballot in debate.ballots.values() if ballot.turn.round]
    own = [ballot for ballot in last if ballot.ranking[0] == ballot.voter]
    assert 0 < len(own) < len(last) * 0.6


async def test_two_voters_hardly_ever_exchange_their_first_choices() -> None:
    debates = [await debated(question) for question in QUESTIONS]

    moves = [{(one.before, one.after) for one in mind_changes(debate)} for debate in debates]
    exchanged = [found for found in moves if any((b, a) in found for a, b in found)]
    assert len(exchanged) <= 1


async def test_positions_that_end_alike_are_told_apart_by_what_they_answer() -> None:
    debates = [await debated(question) for question in QUESTIONS]

    agreed = [d for d in debates if len({taken(d, agent.id)[-1] for agent in d.setup.agents}) == 1]
    clear = [debate for debate in agreed if debate.tally and not debate.tally.controversial]
    assert len(agreed) >= 4
    assert len(clear) >= len(agreed) / 2


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("question", [*QUESTIONS, *OTHERS])
async def test_the_verdict_starts_from_the_winner_of_the_vote(question: str, rounds: int) -> None:
    debate = await debated(question, rounds)

    assert debate.tally
    assert debate.verdict
    winner, *others = debate.tally.scores
    assert debate.verdict.decision == taken(debate, winner.position)[-1]
    if len(debate.tally.winners) > 1 and len({taken(debate, s.position)[-1] for s in others}) > 1:
        assert debate.setup.agent(winner.position).name in debate.verdict.solution
    assert f": {debate.verdict.decision}" not in debate.verdict.dissent


@pytest.mark.parametrize("question", OTHERS)
async def test_what_no_checklist_covers_is_said_to_be_so_and_steps_are_to_find_out(
    question: str,
) -> None:
    debate = await debated(question, 1)

    assert debate.verdict
    assert debate.verdict.confidence <= 25
    assert "do not cover this question" in debate.verdict.solution
    posts = "\n".join(made.text for made in debate.contributions.values())
    said = f"{posts}\n{debate.verdict.solution}\n{debate.verdict.implementation}"
    assert "do not cover this question" in posts
    assert not re.search(r"security fix|laptop|production|three years|deploy|cluster", said)
    assert debate.verdict.implementation.startswith("1. ")


async def test_where_most_roles_have_nothing_to_ask_the_verdict_is_unsure() -> None:
    debate = await debated("Should we work remotely on Fridays?", 1)

    assert debate.verdict
    assert debate.verdict.confidence <= 40
    assert "ask little about this" in debate.verdict.solution
    assert "security fix" not in debate.verdict.implementation


@pytest.mark.parametrize("question", ["How do we reduce churn?", "Tabs?", OTHERS[-1]])
async def test_an_open_question_is_not_answered_with_staying_as_it_is(question: str) -> None:
    debate = await debated(question, 1)

    taken_first = {taken(debate, agent.id)[0] for agent in debate.setup.agents}
    assert len(taken_first) > 1
    assert not [claim for claim in taken_first if "what we have" in claim]


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

    assert [change.voter for change in mind_changes(debate) if change.moved_by]
    assert taken(debate, "architect")[0] != taken(debate, "architect")[-1]
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
