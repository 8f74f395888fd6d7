"""When two clarifying questions are one: never where an answer to one could miss the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules.formats.same_question import is_same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How many users do we have?", "How many admins do we have?"),
        ("What is the expected read latency?", "What is the expected write latency?"),
        ("Which cloud do you run in production?", "Which database do you run in production?"),
        ("How many users will it have?", "How many paying users will it have?"),
        ("How many jobs do you expect?", "How many jobs do you expect at peak?"),
        ("When do we migrate?", "Why do we migrate?"),
        ("Is a job kept in Q1?", "Is a job kept in Q2?"),
        ("Is 99.9 % enough?", "Is 99.5 % enough?"),
        ("May it cost 5 %?", "May it cost 5 $?"),
        ("Do you write C?", "Do you write C#?"),
        ("Do we move from Kafka to SQS?", "Do we move from SQS to Kafka?"),
        ("Is reading rarer than writing?", "Is writing rarer than reading?"),
        ("Do we need backups?", "Do we not need backups?"),
        ("How many did you lose?", "How many do you lose?"),
        ("利用者は何人ですか?", "顧客は何人ですか?"),
        ("Есть ли нагрузка ночью?", "Есть ли нагрузка утром?"),
        ("Is it?", "Are you?"),
    ],
)
def test_a_word_that_can_change_the_answer_keeps_questions_apart(one: str, other: str) -> None:
    assert not is_same(one, other)
    assert not is_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who is on call?", "who is ON CALL"),
        ("Who is on call?", "On call: who is it?"),
        ("What's the budget?", "What is your budget?"),
        ("What’s the budget?", "What is the **budget**?"),
        ("Which database do you use?", "What database do you use?"),
        ("How many jobs a day?", "How many jobs per day?"),
        ("From Kafka do we move to SQS?", "Do we move to SQS from Kafka?"),
        ("Wie viele Nutzer haben wir?", "Wie viele Nutzer haben wir, bitte?"),
        ("利用者は何人ですか?", "利用者は何人ですか。"),
    ],
)
def test_the_same_words_in_another_order_case_or_dress_are_one_question(
    one: str, other: str
) -> None:
    assert is_same(one, other)
    assert is_same(other, one)


@given(st.text(), st.sampled_from(["?", "!", " ", "…", "”"]))
def test_any_question_is_the_same_as_itself_with_other_marks_around_it(
    text: str, mark: str
) -> None:
    assert is_same(text, f"{mark} {text} {mark}")
