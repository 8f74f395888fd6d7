"""People answer what agents ask: which question, once, and what comes too late."""

import asyncio
from collections.abc import Mapping

import pytest

from core.debate.debate_events import ClarificationsClosed, DebateConcluded
from core.debate.message_events import ClarificationAnswered
from core.debate.people import Person
from core.debate.questions import Answer
from core.debate.state import Debate
from core.errors import BadInput
from core.use_cases.answer import AnswerQuestions, PersonsReply, ReplyOutcome
from core.use_cases.limits import Bounds
from core.use_cases.note import AddNote
from core.use_cases.reply_parsing import GivenAnswer
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, questions


def answering(log: Recording) -> AnswerQuestions:
    bounds = Bounds(note_characters=100)
    return AnswerQuestions(
        facts=log.facts, note=AddNote(facts=log.facts, bounds=bounds), bounds=bounds
    )


def texts(debate: Debate) -> Mapping[int, str]:
    return {number: answer.text for number, answer in debate.answers.items()}


def reply(text: str, origin: str = "m1") -> PersonsReply:
    return PersonsReply(debate_id=DEBATE, by=DANA, text=text, origin=origin)


async def test_a_reply_delivered_again_answers_no_second_question() -> None:
    log = Recording()
    first = Answer(number=2, text="Ten", by=ALEX, origin="m0")
    await log.begin(questions(3), ClarificationAnswered(answer=first))
    answer = answering(log)
    await answer.reply(reply("1: Nobody", "m2"))

    assert await answer.reply(reply("3: Ten thousand")) is ReplyOutcome.TAKEN
    assert await answer.reply(reply("3: Ten thousand")) is ReplyOutcome.TAKEN

    assert texts(await log.debate()) == {1: "Nobody", 2: "Ten", 3: "Ten thousand"}
    assert (await log.debate()).notes == ()


async def test_two_answers_at_the_same_moment_are_both_in_the_log_and_one_stands() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)

    await asyncio.gather(answer.reply(reply("1: Ten")), answer.reply(reply("1: Twenty", "m2")))

    debate = await log.debate()
    assert [answer.origin for answer in debate.replies[1]] == ["m1", "m2"]
    assert texts(debate) == {1: "Twenty"}
    assert debate.notes == ()


def persons_reply(by: Person, ts: str, text: str) -> PersonsReply:
    return PersonsReply(debate_id=DEBATE, by=by, text=text, origin=f"C1:{ts}")


async def test_the_newest_message_counts_in_whatever_order_messages_come() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)
    for ts, text in (("7.2", "1: 900"), ("7.1", "1: 700"), ("7.4", "Later"), ("7.3", "Earlier")):
        for _ in range(2):  # delivered twice
            await answer.reply(persons_reply(DANA, ts, text))

    debate = await log.debate()
    assert texts(debate) == {1: "900"}
    assert [(note.number, note.text) for note in debate.notes] == [(2, "Earlier"), (1, "Later")]


async def test_what_others_answered_is_kept_beside_the_newest_answer_until_they_take_it_back() -> (
    None
):
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)
    kim, other = Person(id="U5", name="Kim"), Person(id="U6", name="Kim")
    for ts, by, text in (("1", DANA, "700"), ("2", kim, "500"), ("3", other, "600")):
        await answer.reply(persons_reply(by, ts, f"1: {text}"))
    debate = await log.debate()
    assert (debate.answers[1].text, debate.answers[1].by.name) == ("600", "Kim (2)")
    beside = [(answer.by.name, answer.text) for answer in debate.other_answers(1)]
    assert beside == [(DANA.name, "700"), ("Kim", "500")]

    await answer.reply(persons_reply(kim, "4", "A note."))
    await answer.reply(persons_reply(other, "5", "A note."))
    await answer.withdraw(DEBATE, "C1:1")
    debate = await log.debate()
    assert [note.author.name for note in debate.notes] == ["Kim", "Kim (2)"]
    assert [answer.text for answer in debate.other_answers(1)] == ["500"]


async def test_a_question_stays_open_where_somebody_names_who_knows() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)

    outcome = await answer.reply(persons_reply(DANA, "1", "1: ten\n2: @priya knows that"))

    debate = await log.debate()
    assert outcome is ReplyOutcome.REFERRED
    assert texts(debate) == {1: "ten"}
    assert [note.text for note in debate.notes] == ["On question 2 (What of 2?): @priya knows that"]


def edited(text: str, at: str = "5", origin: str = "m1") -> PersonsReply:
    return PersonsReply(debate_id=DEBATE, by=DANA, text=text, origin=origin, edited=at)


async def test_an_answer_edited_after_the_questions_are_closed_is_a_note() -> None:
    log = Recording()
    await log.begin(questions(1))
    answer = answering(log)
    await answer.reply(reply("1: Ten"))

    for _ in range(2):
        await answer.edit(edited("Twenty"))

    debate = await log.debate()
    assert texts(debate) == {1: "Ten"}
    assert [note.text for note in debate.notes] == ["On question 1 (What of 1?): Twenty"]


async def test_deleting_an_answer_opens_its_question_again() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)
    await answer.reply(reply("1: Ten"))

    for _ in range(2):
        await answer.withdraw(DEBATE, "m1")
    assert texts(await log.debate()) == {}
    await answer.reply(reply("1: Ten"))  # the deleted one, delivered again
    assert texts(await log.debate()) == {}

    await answer.reply(reply("1: Twenty", "m2"))
    await answer.reply(reply("2: Us", "m3"))
    await answer.withdraw(DEBATE, "m2")  # the agents may have read it

    assert texts(await log.debate()) == {1: "Twenty", 2: "Us"}


async def test_deleting_a_correction_brings_back_what_another_message_answers() -> None:
    log = Recording()
    await log.begin(questions(1, closed_by_event=True))
    answer = answering(log)
    for ts, by, text in (("1", ALEX, "Ten"), ("2", DANA, "Twenty"), ("3", DANA, "Thirty")):
        await answer.reply(persons_reply(by, ts, f"1: {text}"))

    for origin, stands in (("C1:3", {1: "Twenty"}), ("C1:2", {1: "Ten"}), ("C1:1", {})):
        await answer.withdraw(DEBATE, origin)
        assert texts(await log.debate()) == stands


async def test_an_answer_that_the_agents_going_on_overtakes_is_a_note() -> None:
    log = Recording()
    card = questions(1, closed_by_event=True)
    await log.begin(card)

    gone_on = log.facts.record(DEBATE, ClarificationsClosed(which=card.key))
    await asyncio.gather(gone_on, answering(log).reply(reply("1: Ten")))

    debate = await log.debate()
    assert list(debate.times)[-2:] == ["answer/1", "note/m1"]
    assert debate.answers == {}
    assert [note.text for note in debate.notes] == ["On question 1 (What of 1?): Ten"]


async def test_after_the_end_notes_stand_as_agents_read_them() -> None:
    log = Recording()
    await log.begin()
    answer = answering(log)
    await answer.reply(reply("We are three."))
    before = await log.facts.debate(DEBATE)
    await log.facts.record(DEBATE, DebateConcluded())

    await answer.edit(edited("We are four."))
    await answer.withdraw(DEBATE, "m1")

    assert (await log.debate()).notes == before.notes


async def test_a_form_delivered_again_says_of_no_answer_that_it_came_too_late() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)
    answers = [GivenAnswer(1, "Ten"), GivenAnswer(2, "")]

    assert list(await answer.form(reply("", "V1"), answers)) == []
    assert list(await answer.form(reply("", "V1"), answers)) == []

    debate = await log.debate()
    assert sorted(debate.answers) == [1, 2]
    assert debate.notes == ()


async def test_a_numbered_answer_that_came_too_late_reaches_the_agents_as_a_note() -> None:
    log = Recording()
    first = Answer(number=1, text="Ten", by=ALEX, origin="m0")
    await log.begin(questions(1), ClarificationAnswered(answer=first))

    assert await answering(log).reply(reply("1: Twenty")) is ReplyOutcome.TAKEN

    debate = await log.debate()
    assert debate.answers[1].text == "Ten"
    assert [note.text for note in debate.notes] == ["On question 1 (What of 1?): Twenty"]


async def test_an_answer_is_kept_without_secrets_and_within_its_bound() -> None:
    log = Recording()
    await log.begin(questions(2))
    secret = "xoxb-" + "1234567890-" * 3 + "abcdefghij"

    await answering(log).reply(reply(f"1: Use {secret}"))
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
