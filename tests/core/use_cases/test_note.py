"""People add to a debate that runs: once, within bounds, without secrets."""

import pytest

from core.debate.evidence import SourceKind, SourceReference
from core.debate.people import Person
from core.errors import BadInput, NotesFull
from core.use_cases.limits import Bounds
from core.use_cases.note import AddNote
from tests.core.use_cases.logs import DANA, DEBATE, Recording

SECRET = "xoxb-" + "1234567890-" * 3 + "abcdefghij"


async def add(notes: AddNote, text: str, note_id: str = "m1", by: Person = DANA) -> bool:
    return await notes.add(DEBATE, note_id=note_id, author=by, text=text)


async def texts(log: Recording) -> list[str]:
    return [note.text for note in (await log.debate()).notes]


async def test_a_note_is_kept_without_secrets_and_delivered_again_not_one_too_many() -> None:
    log = Recording()
    await log.begin()
    notes = AddNote(facts=log.facts, bounds=Bounds(notes_per_debate=1))
    for _ in range(2):
        assert await add(notes, f"The key is {SECRET}.")
    with pytest.raises(BadInput, match="has 1 notes, as many as one can take"):
        await add(notes, "Twenty.", "m2")
    assert await texts(log) == ["The key is [redacted]."]


async def test_one_person_writes_so_many_notes_an_hour_and_others_go_on() -> None:
    log = Recording()
    await log.begin()
    notes = AddNote(facts=log.facts, bounds=Bounds(notes_per_person_hour=2))
    for number in range(2):
        assert await add(notes, "More.", f"m{number}")
    with pytest.raises(NotesFull, match="2 notes to this debate within an hour"):
        await add(notes, "More.", "m2")
    assert await add(notes, "More.", "m1")  # delivered again
    assert await add(notes, "Mine.", "m3", Person(id="U9", name="Sam"))
    log.clock.advance(3600)
    assert await add(notes, "More.", "m4")
    assert len(await texts(log)) == 4


async def test_what_words_link_to_again_is_there_once_and_needs_no_note() -> None:
    log = Recording()
    await log.begin()
    notes = AddNote(facts=log.facts, bounds=Bounds(notes_per_debate=1))
    here, there = (
        SourceReference(kind=SourceKind.LINK, title=url, fetch=url, by=DANA, in_words=True)
        for url in ("https://a.example/0", "https://b.example/0")
    )
    for note in ("m1/links", "m1/links", "m2/links"):
        assert not await notes.link(DEBATE, note_id=note, author=DANA, links=[here])
    assert await texts(log) == ["[Linked as evidence: https://a.example/0]"]
    with pytest.raises(BadInput, match="as many as one can take"):
        await notes.link(DEBATE, note_id="m3/links", author=DANA, links=[there])
    assert (await log.debate()).references == (here,)
