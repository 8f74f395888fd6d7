"""People edit and delete what they wrote: no words are lost, doubled, or taken for others."""

from core.acts.context import note_labels
from core.debate.message_events import NoteChanged
from core.transcript.record import record_json
from core.use_cases.answer import ReplyOutcome
from tests.core.use_cases.logs import DEBATE, Recording, questions
from tests.core.use_cases.test_answer import answering, edited, reply, texts


async def notes(log: Recording) -> list[str]:
    return [note.text for note in (await log.debate()).notes]


async def test_a_note_whose_answer_was_edited_away_can_be_chosen_for_that_question() -> None:
    log = Recording()
    await log.begin(questions(2))
    answer = answering(log)
    await answer.reply(reply("As many as last year.\n1: Ten"))
    assert await answer.edit(edited("As many as last year.")) is ReplyOutcome.UNCLEAR

    for _ in range(2):  # clicked twice
        await answer.choose(DEBATE, "m1", 1)

    assert texts(await log.debate()) == {1: "As many as last year."}
    assert await notes(log) == []


async def test_an_older_edit_that_comes_after_one_back_to_the_known_words_changes_nothing() -> None:
    log = Recording()
    await log.begin(questions(4))
    answer = answering(log)
    await answer.reply(reply("1: Ten"))
    await answer.reply(reply("2: Us", "m2"))
    await answer.reply(reply("2: All", "m3"))
    await answer.reply(reply("Mind Kim.", "m4"))
    messages = {"m1": "1: Ten", "m2": "2: Us", "m4": "Mind Kim."}

    for origin, words in messages.items():
        for _ in range(2):  # delivered twice
            await answer.edit(edited(words, at="6", origin=origin))
        for late in ("1: Wrong", "2: Wrong", "Wrong", ""):
            await answer.edit(edited(late, at="5", origin=origin))

    assert texts(await log.debate()) == {1: "Ten", 2: "All"}
    assert await notes(log) == ["Mind Kim."]
    for origin in messages:
        await answer.edit(edited("3: Two", at="7", origin=origin))
    assert texts(await log.debate()) == {2: "All", 3: "Two"}


async def test_a_message_whose_edit_was_heard_first_does_not_say_its_old_words() -> None:
    log = Recording()
    await log.begin(questions(3))
    answer = answering(log)
    await answer.edit(edited("2: Us"))

    assert await answer.reply(reply("Hello all.\n1: Ten")) is ReplyOutcome.TAKEN

    assert texts(await log.debate()) == {2: "Us"}
    assert await notes(log) == []


async def test_notes_keep_their_labels_whatever_becomes_of_others() -> None:
    log = Recording()
    await log.begin(questions(3))
    answer = answering(log)
    for number in range(1, 5):
        await answer.reply(reply(f"Mind the {number} of us.", f"m{number}"))

    await answer.withdraw(DEBATE, "m1")
    await answer.choose(DEBATE, "m2", 1)
    await answer.edit(edited("", origin="m4"))
    await answer.reply(reply("Mind Kim.", "m5"))
    assert note_labels(await log.debate()) == ("note3", "note5")

    await answer.edit(edited("Mind Alex.", at="6", origin="m4"))
    debate = await log.debate()
    assert note_labels(debate) == ("note3", "note4", "note5")


async def test_the_record_repeats_no_deleted_words_of_a_message_that_was_an_answer() -> None:
    log = Recording()
    await log.begin(questions(3))
    answer = answering(log)
    await answer.reply(reply("Our secret is Kim."))
    await answer.choose(DEBATE, "m1", 1)
    await answer.reply(reply("2: Kim, too", "m2"))
    await answer.reply(reply("2: Alex", "m3"))

    for origin in ("m1", "m2", "m1"):
        await answer.withdraw(DEBATE, origin)

    debate = await log.debate()
    assert texts(debate) == {2: "Alex"}
    text = record_json(await log.store.events(DEBATE))
    assert "Kim" not in text
    assert '"text": "Alex"' in text
    assert text.count("Deleted by its author.") == 3


async def test_of_two_edits_that_two_processes_record_the_newer_one_stands() -> None:
    log = Recording()
    await log.begin()
    await answering(log).reply(reply("We are three."))

    for time, text in (("6", "We are five."), ("5", "We are four.")):  # the older one is slower
        await log.facts.record(DEBATE, NoteChanged(note="m1", text=text, change=time))

    assert await notes(log) == ["We are five."]
