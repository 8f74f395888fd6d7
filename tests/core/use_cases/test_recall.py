"""Recognizing questions about earlier decisions, and finding the decisions."""

import pytest

from core.debate.debate_events import DebateStarted
from core.errors import BadInput, StoreError
from core.ports import Embedder
from core.testing import InMemoryStore, ManualClock, Members, a_setup
from core.use_cases.limits import Bounds
from core.use_cases.recall import RecallDecisions, is_about_decision, word_shares
from tests.bot.plays import play


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Why did we choose PostgreSQL?", True),
        ("what  was decided on the move?", True),
        ("Was haben wir entschieden zum Homeoffice?", True),
        ("Warum haben wir uns für Kafka entschieden?", True),
        ("Kafka or PostgreSQL for our jobs?", False),
        ("Why do we lose jobs when Redis restarts?", False),
        ("Should we decide this week?", False),
        ("Warum haben wir zwei Cluster, sollen wir sie zusammenlegen?", False),
    ],
)
def test_a_question_about_a_decision_is_known_by_how_it_begins(
    question: str, *, asks: bool
) -> None:
    assert is_about_decision(question) is asks


def test_words_count_by_their_stems_and_may_be_cut_short() -> None:
    texts = ["Use PostgreSQL for background jobs.", "Keep the licences of the editors."]
    assert word_shares("Why did we choose postgres for a job?", texts) == [1.0, 0.0]
    shares = word_shares("What about the licence for an editor, and its price?", texts)
    assert shares == [0.0, 2 / 3]
    assert word_shares("Was war mit Warteschlangen?", ["Die Warteschlange bleibt."]) == [1.0]
    for nothing in ("What did we decide?", "?!"):
        assert word_shares(nothing, ["We decided on Kafka."]) == [0.0]


def nothing_is_broken(debate_id: str, error: StoreError) -> None:
    raise AssertionError(f"{debate_id}: {error}")


async def a_register(
    channels: set[str] | None = None, most: int = 4000, embedder: Embedder | None = None
) -> RecallDecisions:
    """Has one decided debate, on a job queue, in channel C1."""
    store, clock = InMemoryStore(), ManualClock()
    start, *rest = play(a_setup())
    assert isinstance(start.event, DebateStarted)
    await store.create(start.debate_id, start.event, origin="o1", at=clock.now())
    for entry in rest:
        await store.append(start.debate_id, entry.event, at=clock.now())
    return RecallDecisions(
        store=store,
        people=None if channels is None else Members(channels),
        on_unreadable=nothing_is_broken,
        bounds=Bounds(question_characters=most),
        embedder=embedder,
    )


@pytest.mark.parametrize(
    ("channels", "workspace", "found"),
    [({"C1"}, "T1", 1), ({"C1"}, "T2", 0), ({"C2"}, "T1", 0), (set[str](), "T1", 0)],
)
async def test_recall_shows_only_decisions_of_the_persons_channels(
    channels: set[str], workspace: str, found: int
) -> None:
    register = await a_register(channels, most=60)
    question = "Why did we choose Postgres for our jobs?"
    decisions = await register.for_person(question, person="U1", workspace=workspace)
    assert len(decisions) == found
    with pytest.raises(BadInput, match="The question has 40,001 characters; the most is 60"):
        await register.for_person("Why " + "x" * 39_997, person="U1", workspace=workspace)


async def test_recall_in_the_terminal_shows_decisions_of_all_channels() -> None:
    register = await a_register()
    assert await register.anywhere("What did we decide on the queue?")
    assert not await register.anywhere("Was war mit dem Sommerfest?")
    assert await register.anywhere("Why PostgreSQL?")  # once more, from what is remembered
