"""People add to a debate that runs: a note reaches the agents from their next turn on."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.events import NoteAdded
from core.models import Note, Person, SourceReference, Status
from core.redaction import redact
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_notes, check_size


@dataclass(frozen=True, kw_only=True)
class AddNote:
    """Adds notes. May raise `StoreDown`, and may then be called again."""

    facts: FactLog
    bounds: Bounds
    #: Notes are counted and added one after another, so that the bound holds in this process.
    _adding: asyncio.Lock = field(
        default_factory=asyncio.Lock, init=False, repr=False, compare=False
    )

    async def add(
        self,
        debate_id: str,
        *,
        note_id: str,
        author: Person,
        text: str,
        references: Sequence[SourceReference] = (),
    ) -> bool:
        """Add what a person said or attached to a running debate; False if it has ended.

        Calling it again with the same id changes nothing.

        Raises:
            BadInput: It is too long, or the debate takes no more notes.
        """
        async with self._adding:
            debate = await self.facts.debate(debate_id)
            if debate.status is not Status.RUNNING:
                return False
            if any(note.id == note_id for note in debate.notes):
                return True
            check_size(text, self.bounds)
            check_notes(debate, self.bounds)
            after = len(debate.contributions)
            note = Note(
                id=note_id,
                author=author,
                text=redact(text),
                after=after,
                references=tuple(references),
            )
            await self.facts.record(debate_id, NoteAdded(note=note))
        return True
