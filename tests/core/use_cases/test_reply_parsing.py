"""What a reply means while agents wait for answers."""

from collections.abc import Mapping

import pytest

from core.use_cases.reply_parsing import parse_reply


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("2:10k rps", {2: "10k rps"}),
        ("1:500\n2:10k rps", {1: "500", 2: "10k rps"}),
        ("1:5\n2:1000 a second", {1: "5", 2: "1000 a second"}),
        ("2:50%", {2: "50%"}),
        ("2:99.9 %", {2: "99.9 %"}),
        ("2:10,000", {2: "10,000"}),
        ("2:75", {2: "75"}),
        ("2: about 10k rps", {2: "about 10k rps"}),
        ("1) yes\n2. no", {1: "yes", 2: "no"}),
        ("1: weiß nicht\n2: I don't know.", {1: "", 2: ""}),
        ("1: keine Ahnung!\n2: I know", {1: "", 2: "I know"}),
    ],
)
def test_a_numbered_line_answers_its_question_whatever_it_begins_with(
    text: str, answers: Mapping[int, str]
) -> None:
    found = parse_reply(text, {1, 2}, [1, 2])

    assert {said.number: said.text for said in found.answers} == answers


@pytest.mark.parametrize("unanswered", [[2], [1, 2]])
@pytest.mark.parametrize(("text", "rest"), [("2:", ""), ("Q2:", ""), ("Hi.\n2:", "Hi.")])
def test_a_bare_number_says_nothing_of_its_question(
    text: str, rest: str, unanswered: list[int]
) -> None:
    found = parse_reply(text, {1, 2}, unanswered)

    assert not found.answers
    assert (found.is_numbered, found.is_unclear) == (True, False)
    assert found.rest == rest


@pytest.mark.parametrize("text", ["2:30", "2:30 pm", "2:30pm on weekdays", "2:15, every night"])
def test_a_time_of_day_is_no_number_of_a_question(text: str) -> None:
    found = parse_reply(text, {1, 2}, [1])

    assert found.is_unclear
    assert not found.answers


@pytest.mark.parametrize(
    "text", ["42: what", "Q42: what", "*42:* what", "0) what", "1: yes\n42: what"]
)
def test_a_number_that_no_question_has_answers_none(text: str) -> None:
    found = parse_reply(text, {1, 2}, [1, 2])

    assert not found.answers
    assert not found.rest
    assert [number for number in found.unknown if number in {42, 0}] == list(found.unknown) != []


@pytest.mark.parametrize("text", ["10 people", "12:30 at the latest", "10. March", "3 - 5 of us"])
def test_a_figure_that_begins_a_plain_reply_is_no_number_of_a_question(text: str) -> None:
    found = parse_reply(text, {1, 2}, [2])

    assert found.is_unclear
    assert not found.answers
