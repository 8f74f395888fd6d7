"""People answer what agents ask: which question, once, and what comes too late."""

import pytest

from core.errors import BadInput
from core.events import ClarificationAnswered, DebateConcluded, StopRequested
from core.models import Answer, Stop
from core.use_cases.answer import AnswerQuestions, PersonsReply
from core.use_cases.limits import Bounds
from core.use_cases.note import AddNote
from core.use_cases.reply_parsing import GivenAnswer
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, questions


def answering(log: Recording) -> AnswerQuestions:
    bounds = Bounds(note_characters=100)
    return AnswerQuestions(
        facts=log.facts, note=AddNote(facts=log.facts, bounds=bounds), bounds=bounds
    )


def reply(text: str, origin: str = "m1") -> PersonsReply:
    return PersonsReply(debate_id=DEBATE, by=DANA, text=text, origin=origin)


async def test_a_reply_delivered_again_answers_no_second_question() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)

    assert await answer.reply(reply("Ten thousand"))
    assert await answer.reply(reply("Ten thousand"))

    debate = await log.debate()
    assert {number: one.text for number, one in debate.answers.items()} == {1: "Ten thousand"}
    assert debate.notes == ()


async def test_a_form_delivered_again_says_of_no_answer_that_it_came_too_late() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)
    given = [GivenAnswer(1, "Ten"), GivenAnswer(2, "")]

    assert list(await answer.form(reply("", "V1"), given)) == []
    assert list(await answer.form(reply("", "V1"), given)) == []

    debate = await log.debate()
    assert sorted(debate.answers) == [1, 2]
    assert debate.notes == ()


async def test_a_numbered_answer_that_came_too_late_reaches_the_agents_as_a_note() -> None:
    log = Recording()
    first = Answer(number=1, text="Ten", by=ALEX, origin="m0")
    await log.begin(questions(2), ClarificationAnswered(answer=first))

    assert await answering(log).reply(reply("1: Twenty"))

    debate = await log.debate()
    assert debate.answers[1].text == "Ten"
    assert [note.text for note in debate.notes] == ["On question 1 (What of 1?): Twenty"]


async def test_after_a_stop_a_reply_is_a_note_and_no_answer() -> None:
    log = Recording()
    await log.begin(questions(1), StopRequested(stop=Stop(by=DANA)))

    assert await answering(log).reply(reply("Ten thousand"))

    debate = await log.debate()
    assert debate.answers == {}
    assert [note.text for note in debate.notes] == ["Ten thousand"]


async def test_an_answer_is_kept_without_secrets_and_within_its_bound() -> None:
    log = Recording()
    await log.begin(questions(2))
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"

    await answering(log).reply(reply(f"Use {secret}"))
    with pytest.raises(BadInput, match="the most is 100"):
        await answering(log).reply(reply("x" * 101, "m2"))

    debate = await log.debate()
    assert secret not in debate.answers[1].text
    assert list(debate.answers) == [1]


async def test_a_form_sent_after_the_end_leaves_no_note_that_nobody_will_read() -> None:
    log = Recording()
    before = await log.begin(questions(1), DebateConcluded())

    assert list(await answering(log).form(reply("", "V1"), [GivenAnswer(1, "Ten")])) == [1]

    assert await log.debate() == before


async def test_of_a_form_with_an_answer_that_is_too_long_nothing_is_recorded() -> None:
    log = Recording()
    before = await log.begin(questions(2))

    with pytest.raises(BadInput, match="the most is 100"):
        await answering(log).form(
            reply("", "V1"), [GivenAnswer(1, "Ten"), GivenAnswer(2, "x" * 101)]
        )

    assert await log.debate() == before
