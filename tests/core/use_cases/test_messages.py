"""Answers, notes, edits and deletions: nothing is lost, doubled, or misread."""

import asyncio
from collections.abc import Mapping

import pytest

from core.acts.context import note_labels
from core.debate.debate_events import ClarificationsClosed, DebateConcluded
from core.debate.evidence import SourceKind, SourceReference
from core.debate.message_events import NoteChanged
from core.debate.people import Person
from core.debate.state import Debate
from core.errors import BadInput, NotesFull
from core.transcript.record import record_json
from core.use_cases.limits import Bounds
from core.use_cases.messages import AddNote, AnswerQuestions, PersonsReply, ReplyOutcome
from core.use_cases.reply_parsing import GivenAnswer
from tests.core.use_cases.logs import ALEX, DANA, DEBATE, Recording, questions

SECRET = "xoxb-" + "1234567890-" * 3 + "abcdefghij"


class Thread:
    """The thread of a debate with open questions, as messages arrive from Slack."""

    def __init__(self, log: Recording) -> None:
        bounds = Bounds(note_characters=100)
        self.log = log
        note = AddNote(facts=log.facts, bounds=bounds)
        self.answer = AnswerQuestions(facts=log.facts, note=note)

    async def says(
        self, text: str, origin: str = "m1", by: Person = DANA, edited: str = ""
    ) -> ReplyOutcome:
        """Deliver a message; an edited one if `edited` is set."""
        reply = PersonsReply(debate_id=DEBATE, by=by, text=text, origin=origin, edited=edited)
        return await self.answer.take(reply)

    async def fills(self, *answers: GivenAnswer) -> list[int]:
        """Submit a form; return the numbers of answers that came too late."""
        reply = PersonsReply(debate_id=DEBATE, by=DANA, origin="V1")
        return list(await self.answer.form(reply, answers))

    async def deletes(self, *origins: str) -> None:
        for origin in origins:
            await self.answer.withdraw(DEBATE, origin)

    async def debate(self) -> Debate:
        return await self.log.debate()

    async def answers(self) -> Mapping[int, str]:
        return {number: answer.text for number, answer in (await self.debate()).answers.items()}

    async def notes(self) -> list[str]:
        return [note.text for note in (await self.debate()).notes]


async def a_thread(count: int, *, closed_by_event: bool = False) -> Thread:
    log = Recording()
    await log.begin(questions(count, closed_by_event=closed_by_event))
    return Thread(log)


async def test_a_reply_delivered_again_answers_no_second_question() -> None:
    thread = await a_thread(3)
    await thread.says("2: Ten", "m0", ALEX)
    await thread.says("1: Nobody", "m2")
    for _ in range(2):
        assert await thread.says("3: Ten thousand") is ReplyOutcome.TAKEN
    assert await thread.answers() == {1: "Nobody", 2: "Ten", 3: "Ten thousand"}
    assert await thread.notes() == []


async def test_two_simultaneous_answers_are_both_logged_and_one_counts() -> None:
    thread = await a_thread(2)
    await asyncio.gather(thread.says("1: Ten"), thread.says("1: Twenty", "m2"))
    origins = [answer.origin for answer in (await thread.debate()).replies[1]]
    assert (origins, await thread.answers()) == (["m1", "m2"], {1: "Twenty"})
    assert await thread.notes() == []


async def test_the_newest_message_counts_in_whatever_order_messages_come() -> None:
    thread = await a_thread(2)
    for ts, text in (("7.2", "1: 900"), ("7.1", "1: 700"), ("7.4", "Later"), ("7.3", "Earlier")):
        for _ in range(2):  # delivered twice
            await thread.says(text, f"C1:{ts}")
    notes = [(note.number, note.text) for note in (await thread.debate()).notes]
    assert (await thread.answers(), notes) == ({1: "900"}, [(2, "Earlier"), (1, "Later")])


async def test_what_others_answered_is_kept_beside_the_newest_until_they_take_it_back() -> None:
    thread = await a_thread(2)
    kim, other = Person(id="U5", name="Kim"), Person(id="U6", name="Kim")
    for ts, by, text in (("1", DANA, "700"), ("2", kim, "500"), ("3", other, "600")):
        await thread.says(f"1: {text}", f"C1:{ts}", by)
    debate = await thread.debate()
    assert (debate.answers[1].text, debate.answers[1].by.name) == ("600", "Kim (2)")
    beside = [(answer.by.name, answer.text) for answer in debate.other_answers(1)]
    assert beside == [(DANA.name, "700"), ("Kim", "500")]

    await thread.says("A note.", "C1:4", kim)
    await thread.says("A note.", "C1:5", other)
    await thread.deletes("C1:1")
    debate = await thread.debate()
    assert [note.author.name for note in debate.notes] == ["Kim", "Kim (2)"]
    assert [answer.text for answer in debate.other_answers(1)] == ["500"]


async def test_an_answer_that_comes_too_late_is_a_note() -> None:
    thread = await a_thread(1)
    await thread.says("1: Ten", "m0", ALEX)
    assert await thread.says("1: Twenty") is ReplyOutcome.TAKEN
    for _ in range(2):
        await thread.says("Thirty", "m0", ALEX, edited="5")
    late = ["On question 1 (What of 1?): Twenty", "On question 1 (What of 1?): Thirty"]
    assert (await thread.answers(), await thread.notes()) == ({1: "Ten"}, late)


async def test_an_answer_that_the_agents_going_on_overtakes_is_a_note() -> None:
    thread = await a_thread(1, closed_by_event=True)
    closed = ClarificationsClosed(which=questions(1).key)
    await asyncio.gather(thread.log.facts.record(DEBATE, closed), thread.says("1: Ten"))
    assert list((await thread.debate()).times)[-2:] == ["answer/1", "note/m1"]
    assert await thread.answers() == {}
    assert await thread.notes() == ["On question 1 (What of 1?): Ten"]


async def test_deleting_an_answer_restores_the_answer_before_it() -> None:
    thread = await a_thread(2)
    await thread.says("1: Ten")
    await thread.deletes("m1", "m1")
    await thread.says("1: Ten")  # the deleted one, delivered again
    assert await thread.answers() == {}
    await thread.says("1: Twenty", "m2")
    await thread.says("2: Us", "m3")
    await thread.deletes("m2")  # the agents may have read it
    assert await thread.answers() == {1: "Twenty", 2: "Us"}

    thread = await a_thread(1, closed_by_event=True)
    for ts, by, text in (("1", ALEX, "Ten"), ("2", DANA, "Twenty"), ("3", DANA, "Thirty")):
        await thread.says(f"1: {text}", f"C1:{ts}", by)
    for origin, stands in (("C1:3", {1: "Twenty"}), ("C1:2", {1: "Ten"}), ("C1:1", {})):
        await thread.deletes(origin)
        assert await thread.answers() == stands


async def test_after_the_end_notes_stand_as_agents_read_them_and_forms_leave_none() -> None:
    thread = await a_thread(1)
    await thread.says("We are three.")
    await thread.log.facts.record(DEBATE, DebateConcluded())
    before = await thread.debate()
    await thread.says("We are four.", edited="5")
    await thread.deletes("m1")
    assert await thread.fills(GivenAnswer(1, "Ten")) == [1]
    assert await thread.debate() == before


async def test_a_form_is_taken_once_or_not_at_all() -> None:
    thread = await a_thread(2)
    before = await thread.debate()
    with pytest.raises(BadInput, match="the most is 100"):
        await thread.fills(GivenAnswer(1, "Ten"), GivenAnswer(2, "x" * 101))
    assert await thread.debate() == before
    for _ in range(2):
        assert await thread.fills(GivenAnswer(1, "Ten"), GivenAnswer(2, "")) == []
    assert (await thread.answers(), await thread.notes()) == ({1: "Ten", 2: ""}, [])


async def test_a_number_that_no_question_has_is_refused_but_not_in_a_note_delivered_again() -> None:
    log = Recording()
    await log.begin()
    thread, list_of_two = Thread(log), "1) We are three.\n2) It is late."
    await thread.says(list_of_two)
    await log.facts.record(DEBATE, questions(1))
    before = await thread.debate()
    assert await thread.says(list_of_two) is ReplyOutcome.TAKEN
    told = r"no question 2\. Still open: 1\. Nothing was recorded\. Write for example “1: your"
    with pytest.raises(BadInput, match=told):
        await thread.says("2: Ten", "m2")
    with pytest.raises(BadInput, match=told):
        await thread.says("2: Ten", edited="5")
    assert await thread.debate() == before


async def test_a_note_whose_answer_was_edited_away_can_be_chosen_for_that_question() -> None:
    thread = await a_thread(2)
    await thread.says("As many as last year.\n1: Ten")
    assert await thread.says("As many as last year.", edited="5") is ReplyOutcome.UNCLEAR
    for _ in range(2):  # clicked twice
        await thread.answer.choose(DEBATE, "m1", 1)
    assert (await thread.answers(), await thread.notes()) == ({1: "As many as last year."}, [])


async def test_an_older_edit_that_comes_after_one_back_to_the_known_words_changes_nothing() -> None:
    thread = await a_thread(4)
    messages = {"m1": "1: Ten", "m2": "2: Us", "m3": "2: All", "m4": "Mind Kim."}
    for origin, words in messages.items():
        await thread.says(words, origin)
    del messages["m3"]
    for origin, words in messages.items():
        for _ in range(2):  # delivered twice
            await thread.says(words, origin, edited="6")
        for late in ("1: Wrong", "2: Wrong", "Wrong", ""):
            await thread.says(late, origin, edited="5")
    assert await thread.answers() == {1: "Ten", 2: "All"}
    assert await thread.notes() == ["Mind Kim."]
    for origin in messages:
        await thread.says("3: Two", origin, edited="7")
    assert await thread.answers() == {2: "All", 3: "Two"}


async def test_a_message_whose_edit_was_heard_first_does_not_say_its_old_words() -> None:
    thread = await a_thread(3)
    await thread.says("2: Us", edited="5")
    assert await thread.says("Hello all.\n1: Ten") is ReplyOutcome.TAKEN
    assert (await thread.answers(), await thread.notes()) == ({2: "Us"}, [])


async def test_of_two_edits_recorded_by_two_processes_the_newer_one_counts() -> None:
    thread = await a_thread(1)
    await thread.says("We are three.")
    for time, text in (("6", "We are five."), ("5", "We are four.")):  # the older one is slower
        await thread.log.facts.record(DEBATE, NoteChanged(note="m1", text=text, change=time))
    assert await thread.notes() == ["We are five."]


async def test_notes_keep_their_labels_whatever_becomes_of_others() -> None:
    thread = await a_thread(3)
    for number in range(1, 5):
        await thread.says(f"Mind the {number} of us.", f"m{number}")
    await thread.deletes("m1")
    await thread.answer.choose(DEBATE, "m2", 1)
    await thread.says("", "m4", edited="5")
    await thread.says("Mind Kim.", "m5")
    assert note_labels(await thread.debate()) == ("note3", "note5")
    await thread.says("Mind Alex.", "m4", edited="6")
    assert note_labels(await thread.debate()) == ("note3", "note4", "note5")


async def test_the_record_repeats_no_deleted_words_of_a_message_that_was_an_answer() -> None:
    thread = await a_thread(3)
    await thread.says("Our secret is Kim.")
    await thread.answer.choose(DEBATE, "m1", 1)
    await thread.says("2: Kim, too", "m2")
    await thread.says("2: Alex", "m3")
    await thread.deletes("m1", "m2", "m1")
    assert await thread.answers() == {2: "Alex"}
    text = record_json(await thread.log.store.events(DEBATE))
    assert "Kim" not in text
    assert '"text": "Alex"' in text
    assert text.count("Deleted by its author.") == 3


async def with_notes(bounds: Bounds) -> tuple[Recording, AddNote]:
    log = Recording()
    await log.begin()
    return log, AddNote(facts=log.facts, bounds=bounds)


async def add(notes: AddNote, text: str, note_id: str = "m1", by: Person = DANA) -> bool:
    return await notes.add(DEBATE, note_id=note_id, author=by, text=text)


async def texts(log: Recording) -> list[str]:
    return [note.text for note in (await log.debate()).notes]


async def test_a_note_is_kept_without_secrets_and_delivered_again_not_one_too_many() -> None:
    log, notes = await with_notes(Bounds(notes_per_debate=1))
    for _ in range(2):
        assert await add(notes, f"The key is {SECRET}.")
    with pytest.raises(BadInput, match="has 1 notes, the most for one debate"):
        await add(notes, "Twenty.", "m2")
    assert await texts(log) == ["The key is [redacted]."]


async def test_the_hourly_limit_of_notes_is_per_person() -> None:
    log, notes = await with_notes(Bounds(notes_per_person_hour=2))
    for number in range(2):
        assert await add(notes, "More.", f"m{number}")
    with pytest.raises(NotesFull, match="2 notes to this debate within an hour"):
        await add(notes, "More.", "m2")
    assert await add(notes, "More.", "m1")  # delivered again
    assert await add(notes, "Mine.", "m3", Person(id="U9", name="Sam"))
    log.clock.advance(3600)
    assert await add(notes, "More.", "m4")
    assert len(await texts(log)) == 4


async def test_a_repeated_link_is_one_source_and_adds_no_note() -> None:
    log, notes = await with_notes(Bounds(notes_per_debate=1))
    here, there = (
        SourceReference(kind=SourceKind.LINK, title=url, fetch=url, by=DANA, in_words=True)
        for url in ("https://a.example/0", "https://b.example/0")
    )
    for note in ("m1/links", "m1/links", "m2/links"):
        assert not await notes.link(DEBATE, note_id=note, author=DANA, links=[here])
    assert await texts(log) == ["[Linked as evidence: https://a.example/0]"]
    with pytest.raises(BadInput, match="the most for one debate"):
        await notes.link(DEBATE, note_id="m3/links", author=DANA, links=[there])
    assert (await log.debate()).references == (here,)
