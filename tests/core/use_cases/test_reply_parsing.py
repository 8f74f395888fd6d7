"""Parsing replies to the agents' questions."""

from collections.abc import Mapping, Sequence

import pytest

from core.use_cases.reply_parsing import ParsedReply, parse_reply

QUESTIONS = {1, 2, 3}


def parsed(text: str, unanswered: Sequence[int] = (1, 2, 3)) -> ParsedReply:
    return parse_reply(text, QUESTIONS, unanswered)


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("2:10k rps", {2: "10k rps"}),
        ("1:5\n2:1000 a second", {1: "5", 2: "1000 a second"}),
        ("2:50%", {2: "50%"}),
        ("2:99.9 %", {2: "99.9 %"}),
        ("2:10,000", {2: "10,000"}),
        ("2:75", {2: "75"}),
        ("1) yes\n2. no", {1: "yes", 2: "no"}),
        ("1: weiß nicht\n2: I don't know.", {1: "", 2: ""}),
        ("1: keine Ahnung!\n2: I know", {1: "", 2: "I know"}),
        ("1: a 2: b 3: c", {1: "a", 2: "b", 3: "c"}),
        ("1: ten, 2: none; 3: us", {1: "ten", 2: "none", 3: "us"}),
        ("• 1: ten\n- 2: us", {1: "ten", 2: "us"}),
        ("1\uff1aten 2\uff1aus", {1: "ten", 2: "us"}),
        ("1) ten 3) us", {1: "ten", 3: "us"}),
        ("1. ten 2. none 3. us", {1: "ten", 2: "none", 3: "us"}),
        ("1:10k 2:none", {1: "10k", 2: "none"}),
        ("1. We have 3. More come.", {1: "We have 3. More come."}),
        ("1: at 2:30 pm", {1: "at 2:30 pm"}),
        ("1: see http://h:2/x", {1: "see http://h:2/x"}),
        ("1: some 7: of them", {1: "some 7: of them"}),
        ("*Q1*: as I said:\n> ten or so", {1: "as I said:\n> ten or so"}),
    ],
)
def test_each_question_gets_its_own_answer(text: str, answers: Mapping[int, str]) -> None:
    assert {answer.number: answer.text for answer in parsed(text).answers} == answers


@pytest.mark.parametrize("unanswered", [[2], [1, 2]])
@pytest.mark.parametrize(("text", "rest"), [("2:", ""), ("Q2:", ""), ("Hi.\n2:", "Hi.")])
def test_a_bare_number_says_nothing_of_its_question(
    text: str, rest: str, unanswered: list[int]
) -> None:
    assert parsed(text, unanswered) == ParsedReply([], rest, is_numbered=True)


@pytest.mark.parametrize(
    "text",
    [
        *("2:30", "2:30 pm", "2:30pm on weekdays", "2:15, every night"),
        *("10 people", "12:30 at the latest", "10. March", "3 - 5 of us"),
    ],
)
def test_no_time_and_no_figure_is_the_number_of_a_question(text: str) -> None:
    reply = parse_reply(text, {1, 2}, [2])
    assert reply == ParsedReply(rest=text, is_unclear=True)


@pytest.mark.parametrize(
    "text", ["42: what", "Q42: what", "*42:* what", "0) what", "1: yes\n42: what"]
)
def test_a_number_that_no_question_has_answers_none(text: str) -> None:
    assert parsed(text) == ParsedReply(unknown=[0 if text[0] == "0" else 42])
