"""Decisions are found in other words: 60 pairs in English and German, near misses among them."""

import pytest

from bench.recall import by_full_text, by_likeness, measured, read_pairs
from core.evidence.likeness import ANSWERS_FROM, likeness


async def test_paraphrases_are_found_that_full_text_does_not_find() -> None:
    pairs = read_pairs()
    before = measured(pairs, await by_full_text(pairs))
    after = measured(pairs, by_likeness(pairs))

    assert len(pairs) == 60
    assert before.found == 0
    assert (after.found, after.asked) == (34, 44)
    assert after.first == 27
    # Words alone cannot tell some of them: that is why answers are called the closest, not the one.
    assert (after.misled, after.near_misses) == (10, 16)


@pytest.mark.parametrize(
    ("asked", "decided"),
    [
        ("Which queue keeps our jobs?", "Keep tasks in a message broker: RabbitMQ."),
        ("Was ist mit den Gehältern?", "Wird der Lohn am Ersten gezahlt? Ja."),
        ("Who may deploy?", "Only seniors release on Fridays."),
        ("What about autherization of partners?", "Authorization of partners by contract."),
    ],
)
def test_other_words_for_the_same_count(asked: str, decided: str) -> None:
    assert likeness(asked, [decided, "Plant trees around the car park."])[0] >= ANSWERS_FROM


def test_nothing_is_like_words_that_say_nothing() -> None:
    assert likeness("What did we decide?", ["We decided on Kafka."]) == [0.0]
    assert likeness("Why?", []) == []


def test_what_shares_no_word_is_not_alike() -> None:
    assert likeness("Which queue keeps jobs?", ["Plant trees around the car park."]) == [0.0]


def test_of_long_texts_the_beginning_counts() -> None:
    """Else the cost grows with the question's length times all that was ever decided."""
    said = [f"{'abcdefghij'[at // 26]}{chr(97 + at % 26)}x" for at in range(200)]
    after = " ".join(["kafka", *said])
    assert likeness(" ".join(said[:60]), [" ".join(said[:40])]) == [1.0]
    assert likeness(" ".join([*said[:40], "kafka"]), ["Kafka."]) == [0.0]
    assert likeness("Kafka?", [after, " ".join([*said, "kafka"])]) == [1.0, 0.0]
