"""People add to a debate that runs: once, within bounds, without secrets."""

import pytest

from core.debate.evidence import SourceKind, SourceReference
from core.debate.people import Person
from core.debate.state import Debate
from core.errors import BadInput, NotesFull
from core.use_cases.limits import Bounds
from core.use_cases.note import AddNote
from tests.core.use_cases.logs import DANA, DEBATE, Recording

SECRET = "xoxb-" + "1234567890-" * 3 + "abcdefghij"


async def add(notes: AddNote, text: str, note_id: str = "m1") -> bool:
    return await notes.add(DEBATE, note_id=note_id, author=DANA, text=text)


def adding(log: Recording, most: int = 2) -> AddNote:
    return AddNote(facts=log.facts, bounds=Bounds(notes_per_debate=most, note_characters=100))


async def texts(log: Recording) -> list[str]:
    debate: Debate = await log.debate()
    return [note.text for note in debate.notes]


async def test_a_note_is_kept_without_secrets() -> None:
    log = Recording()
    await log.begin()

    assert await add(adding(log), f"The key is {SECRET}.")

    assert await texts(log) == ["The key is [redacted]."]


async def test_a_note_delivered_again_is_not_refused_for_being_one_too_many() -> None:
    log = Recording()
    await log.begin()
    notes = adding(log, most=1)

    assert await add(notes, "Ten thousand.")
    assert await add(notes, "Ten thousand.")
    with pytest.raises(BadInput, match="has 1 notes, as many as one can take"):
        await add(notes, "Twenty.", "m2")

    assert await texts(log) == ["Ten thousand."]


async def test_one_person_writes_so_many_notes_an_hour_and_others_go_on() -> None:
    log = Recording()
    await log.begin()
    bounds = Bounds(notes_per_debate=100, notes_per_person_hour=2)
    notes = AddNote(facts=log.facts, bounds=bounds)

    for number in range(2):
        assert await add(notes, "More.", f"m{number}")
    with pytest.raises(NotesFull, match="2 notes to this debate within an hour"):
        await add(notes, "More.", "m2")
    assert await add(notes, "More.", "m1")  # delivered again
    other = Person(id="U9", name="Sam")
    assert await notes.add(DEBATE, note_id="m3", author=other, text="Mine.")
    await log.facts.clock.sleep(3600)
    assert await add(notes, "More.", "m4")

    assert len(await texts(log)) == 4


def links(count: int, host: str) -> list[SourceReference]:
    names = [f"https://{host}/{number}" for number in range(count)]
    return [
        SourceReference(kind=SourceKind.LINK, title=name, fetch=name, by=DANA, in_words=True)
        for name in names
    ]


async def test_what_words_link_to_again_is_there_once_and_needs_no_note() -> None:
    log = Recording()
    await log.begin()
    notes, references = adding(log, most=1), links(1, "a.example")

    for note in ("m1/links", "m1/links", "m2/links"):
        assert not await notes.link(DEBATE, note_id=note, author=DANA, links=references)
    assert await texts(log) == ["[Linked as evidence: https://a.example/0]"]
    with pytest.raises(BadInput, match="as many as one can take"):
        await notes.link(DEBATE, note_id="m3/links", author=DANA, links=links(1, "b.example"))
    assert len((await log.debate()).references) == 1
