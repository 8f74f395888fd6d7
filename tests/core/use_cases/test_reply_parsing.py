"""What a reply means while agents wait for answers."""

from collections.abc import Mapping, Sequence

import pytest

from core.use_cases.reply_parsing import ParsedReply, parse_reply

QUESTIONS = {1: "How many jobs a second?", 2: "Which data is in a job?", 3: "Who runs it?"}


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
        ("1) ten 3) us", {1: "ten", 3: "us"}),
        ("1. ten 2. none 3. us", {1: "ten", 2: "none", 3: "us"}),
        ("1:10k 2:none", {1: "10k", 2: "none"}),
        ("1. We have 3. More come.", {1: "We have 3. More come."}),
        ("1: at 2:30 pm", {1: "at 2:30 pm"}),
        ("1: see http://h:2/x", {1: "see http://h:2/x"}),
        ("1: some 7: of them", {1: "some 7: of them"}),
        ("1: ten\n> 2. Which data is in a job?\nNone.", {1: "ten", 2: "None."}),
        ("> *2. Which data\n> is in a job?*\nNone,\nor few.", {2: "None,\nor few."}),
        ("> Which data is in a job?\nNone\n> Who runs it?\nUs", {2: "None", 3: "Us"}),
        ("1: as I said:\n> ten or so", {1: "as I said:\n> ten or so"}),
    ],
)
def test_each_question_gets_its_own_answer(text: str, answers: Mapping[int, str]) -> None:
    assert {answer.number: answer.text for answer in parsed(text).answers} == answers


@pytest.mark.parametrize("unanswered", [[2], [1, 2]])
@pytest.mark.parametrize(("text", "rest"), [("2:", ""), ("Q2:", ""), ("Hi.\n2:", "Hi.")])
def test_a_bare_number_says_nothing_of_its_question(
    text: str, rest: str, unanswered: list[int]
) -> None:
    assert parsed(text, unanswered) == ParsedReply([], rest, is_numbered=True, referrals=[])


@pytest.mark.parametrize(
    "text",
    [
        *("2:30", "2:30 pm", "2:30pm on weekdays", "2:15, every night"),
        *("10 people", "12:30 at the latest", "10. March", "3 - 5 of us"),
    ],
)
def test_no_time_and_no_figure_is_the_number_of_a_question(text: str) -> None:
    reply = parse_reply(text, {1: QUESTIONS[1], 2: QUESTIONS[2]}, [2])
    assert reply == ParsedReply(rest=text, is_unclear=True)


@pytest.mark.parametrize(
    "text", ["42: what", "Q42: what", "*42:* what", "0) what", "1: yes\n42: what"]
)
def test_a_number_that_no_question_has_answers_none(text: str) -> None:
    assert parsed(text) == ParsedReply(unknown=[0 if text[0] == "0" else 42])


@pytest.mark.parametrize(
    ("text", "is_referral"),
    [
        ("2: @priya knows that", True),
        ("2: @Priya Nair should know this.", True),
        ("2: ask @priya", True),
        ("2: No idea, @priya or @sam?", True),
        ("2: @priya", True),
        ("2: frag @priya", True),
        ("3: @priya", False),
        ("3: @Priya Nair", False),
        ("3: ask @priya", True),
        ("2: @priya says that it is names only", False),
        ("2: names, as @priya knows", False),
        ("2: @priya runs Kafka and knows that", False),
    ],
)
def test_who_only_names_who_knows_answers_nothing(text: str, *, is_referral: bool) -> None:
    reply = parsed(text)
    assert (len(reply.referrals), len(reply.answers)) == ((1, 0) if is_referral else (0, 1))
