"""How a position changed: which words went, which came, and from which text."""

from hypothesis import given
from hypothesis import strategies as st

from core.events import ContributionMade, DebateStarted, fold
from core.models import Act, Contribution, Turn
from core.testing import a_setup, recorded
from core.transcript.differences import MOST_WORDS, Kind, position_before, word_changes

texts = st.lists(st.sampled_from(["a", "b", "c", "queue", "jobs.", "not"]), max_size=40).map(
    " ".join
)


def told(before: str, after: str) -> list[tuple[str, str]]:
    return [(run.kind.value, run.words) for run in word_changes(before, after)]


def test_words_that_stayed_went_and_came_are_told_apart() -> None:
    before = "Use Kafka for the queue, because it scales, and nobody waits."
    after = "Use PostgreSQL for the queue, because it is there, and nobody waits."
    assert told(before, after) == [
        ("kept", "Use"),
        ("removed", "Kafka"),
        ("added", "PostgreSQL"),
        ("kept", "for the queue, because it"),
        ("removed", "scales,"),
        ("added", "is there,"),
        ("kept", "and nobody waits."),
    ]


def test_a_few_words_that_stayed_between_changes_are_no_island() -> None:
    assert told("one and two with rest of it", "three and four with rest of it") == [
        ("removed", "one and two"),
        ("added", "three and four"),
        ("kept", "with rest of it"),
    ]


def test_equal_texts_and_none_have_no_change() -> None:
    assert told("a b", "a b") == [("kept", "a b")]
    assert told("", "") == []
    assert told("", "a") == [("added", "a")]


@given(texts, texts)
def test_no_word_is_lost_or_made_up(before: str, after: str) -> None:
    runs = list(word_changes(before, after))
    old = " ".join(run.words for run in runs if run.kind is not Kind.ADDED)
    new = " ".join(run.words for run in runs if run.kind is not Kind.REMOVED)
    assert (old, new) == (before, after)


def test_of_a_giant_text_the_beginning_is_compared() -> None:
    (run,) = word_changes("word " * 50_000, "word " * 60_000)
    assert len(run.words.split()) == MOST_WORDS


def test_a_position_follows_the_agents_own_position_before_it() -> None:
    setup = a_setup(rounds=2)
    one, other = setup.agents[0].id, setup.agents[1].id
    said = [
        Contribution(turn=Turn(act=Act.PROPOSAL, round=1, agent=one), text="first"),
        Contribution(turn=Turn(act=Act.PROPOSAL, round=1, agent=other), text="others"),
        Contribution(turn=Turn(act=Act.CRITIQUE, round=1, agent=one, target=other), text="no"),
        Contribution(turn=Turn(act=Act.REFINEMENT, round=1, agent=one), text="second"),
        Contribution(
            turn=Turn(act=Act.PROPOSAL, round=2, agent=one), text="second", carried_from="x"
        ),
        Contribution(turn=Turn(act=Act.REFINEMENT, round=2, agent=one), text="third"),
    ]
    events = [DebateStarted(setup=setup), *(ContributionMade(contribution=made) for made in said)]
    debate = fold(recorded(events))
    before = [position_before(debate, made) for made in said]
    assert [made.text if made else "" for made in before] == ["", "", "", "first", "", "second"]
