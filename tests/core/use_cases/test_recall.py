"""Which questions ask for a decision that was taken, and what the register answers."""

import pytest

from core.debate.debate_events import DebateStarted
from core.errors import BadInput, StoreError
from core.store.memory import InMemoryStore
from core.testing import ManualClock, Members, a_setup
from core.use_cases.limits import Bounds
from core.use_cases.recall import RecallDecisions, asks_what_was_decided, word_shares
from tests.bot.plays import play


@pytest.mark.parametrize(
    "question",
    [
        "Why did we choose PostgreSQL?",
        "What did we decide about remote work?",
        "what  was decided on the move?",
        "Have we decided on Kafka or on PostgreSQL?",
        "Was haben wir entschieden zum Homeoffice?",
        "Warum haben wir uns für Kafka entschieden?",
    ],
)
def test_questions_about_decisions(question: str) -> None:
    assert asks_what_was_decided(question)


@pytest.mark.parametrize(
    "question",
    [
        "Kafka or PostgreSQL for our jobs?",
        "Why do we lose jobs when Redis restarts?",
        "What should we use as a queue?",
        "Should we decide this week?",
        "What is our stance going to be: build or buy?",
        "Warum haben wir zwei Cluster, sollen wir sie zusammenlegen?",
    ],
)
def test_questions_to_be_debated(question: str) -> None:
    assert not asks_what_was_decided(question)


def test_words_count_by_their_stems_and_may_be_cut_short() -> None:
    texts = ["Use PostgreSQL for background jobs.", "Keep the licences of the editors."]
    assert word_shares("Why did we choose postgres for a job?", texts) == [1.0, 0.0]
    assert word_shares("What about the licence for an editor, and its price?", texts) == [
        0.0,
        2 / 3,
    ]
    assert word_shares("Was war mit Warteschlangen?", ["Die Warteschlange bleibt."]) == [1.0]


@pytest.mark.parametrize("question", ["What did we decide?", "Why?", "", "?!"])
def test_a_question_about_nothing_finds_nothing(question: str) -> None:
    assert word_shares(question, ["We decided on Kafka."]) == [0.0]
    assert word_shares(question, []) == []


async def a_store() -> InMemoryStore:
    """Has one decided debate, on a job queue, in channel C1."""
    store, clock = InMemoryStore(), ManualClock()
    start, *rest = play(a_setup())
    assert isinstance(start.event, DebateStarted)
    await store.create(start.debate_id, start.event, origin="o1", at=clock.now())
    for entry in rest:
        await store.append(start.debate_id, entry.event, at=clock.now())
    return store


def nothing_is_broken(debate_id: str, error: StoreError) -> None:
    raise AssertionError(f"{debate_id}: {error}")


async def test_only_decisions_of_the_persons_channels_are_told() -> None:
    store, question = await a_store(), "Why did we choose Postgres for our jobs?"
    inside = RecallDecisions(store=store, people=Members({"C1"}), on_unreadable=nothing_is_broken)
    outside = RecallDecisions(store=store, people=Members({"C2"}), on_unreadable=nothing_is_broken)
    nowhere = RecallDecisions(store=store, people=Members(()), on_unreadable=nothing_is_broken)

    (decision,) = await inside.for_person(question, person="U1", workspace="T1")
    assert decision.debate.verdict
    assert not await inside.for_person(question, person="U1", workspace="T2")
    assert not await outside.for_person(question, person="U1", workspace="T1")
    assert not await nowhere.for_person(question, person="U1", workspace="T1")


async def test_a_question_that_is_too_long_is_refused_before_anything_is_looked_up() -> None:
    register = RecallDecisions(
        store=await a_store(),
        people=Members({"C1"}),
        on_unreadable=nothing_is_broken,
        bounds=Bounds(question_characters=30),
    )
    assert await register.for_person("Why Postgres for the queue?", person="U1", workspace="T1")
    with pytest.raises(BadInput, match="The question has 40,001 characters; the most is 30"):
        await register.for_person("Why " + "x" * 39_997, person="U1", workspace="T1")


async def test_whoever_has_the_database_is_told_everything_that_fits() -> None:
    register = RecallDecisions(store=await a_store(), on_unreadable=nothing_is_broken)
    assert await register.anywhere("What did we decide on the queue?")
    assert not await register.anywhere("Was war mit dem Sommerfest?")
    assert await register.anywhere("Why PostgreSQL?")  # once more, from what is remembered
