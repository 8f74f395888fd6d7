"""People add to a debate that runs: once, within bounds, without secrets."""

import asyncio

import pytest

from core.errors import BadInput
from core.events import DebateConcluded
from core.models import Debate
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


async def test_after_the_end_there_are_no_notes() -> None:
    log = Recording()
    await log.begin(DebateConcluded())

    assert not await add(adding(log), "One thing more.")

    assert await texts(log) == []


async def test_a_note_delivered_again_is_not_refused_for_being_one_too_many() -> None:
    log = Recording()
    await log.begin()
    notes = adding(log, most=1)

    assert await add(notes, "Ten thousand.")
    assert await add(notes, "Ten thousand.")
    with pytest.raises(BadInput, match="has 1 notes, as many as one can take"):
        await add(notes, "Twenty.", "m2")

    assert await texts(log) == ["Ten thousand."]


async def test_notes_written_at_once_do_not_pass_the_bound_together() -> None:
    log = Recording()
    await log.begin()
    notes = adding(log)

    results = await asyncio.gather(
        *(add(notes, str(number), f"m{number}") for number in range(5)), return_exceptions=True
    )

    assert sum(isinstance(result, BadInput) for result in results) == 3
    assert len(await texts(log)) == 2
