"""People add to a debate that runs: a note reaches the agents from their next turn on."""

import asyncio
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.debate.contributions import Note
from core.debate.evidence import SourceReference
from core.debate.message_events import NoteAdded, NoteChanged
from core.debate.people import Person
from core.debate.state import Debate, Status
from core.errors import NotesFull
from core.figures import quantity
from core.recent import Recent
from core.redaction import redact
from core.rules.sources import MOST_SOURCES, linked_anew
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_notes, check_size

_HOUR = timedelta(hours=1)
#: Links that a note names; of more it says how many.
_MOST_NAMED = 10
#: Of so many people's notes the times are known, at most.
_MOST_WRITERS = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class AddNote:
    """Adds notes. May raise `StoreDown`, and may then be called again."""

    facts: FactLog
    bounds: Bounds
    #: Notes are counted and added one after another, so that the bound holds in this process.
    _adding: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    #: When notes were taken, by debate and person; a process that starts has forgotten.
    _times: Recent[tuple[str, str], deque[datetime]] = field(
        default_factory=lambda: Recent(_MOST_WRITERS), init=False
    )

    async def add(
        self,
        debate_id: str,
        *,
        note_id: str,
        author: Person,
        text: str,
        references: Sequence[SourceReference] = (),
        change: str = "",
    ) -> bool:
        """Add what a person said or attached to a running debate; False if it has ended.

        Calling it again with the same id changes nothing. `change` says when its message had been
        edited, in an order of its surface.

        Raises:
            BadInput: It is too long.
            NotesFull: The debate takes no more notes, or none of this person for now.
        """
        async with self._adding:
            debate = await self.facts.debate(debate_id)
            if debate.status is not Status.RUNNING:
                return False
            if note_id in debate.withdrawn or any(note.id == note_id for note in debate.all_notes):
                return True
            check_size(text, self.bounds)
            check_notes(debate, self.bounds)
            self.check_pace(debate_id, author)
            after = len(debate.contributions)
            note = Note(
                id=note_id,
                author=author,
                text=redact(text),
                after=after,
                references=tuple(references),
                change=change,
            )
            await self.facts.record(debate_id, NoteAdded(note=note))
            self.count(debate_id, author)
        return True

    def check_pace(self, debate_id: str, author: Person) -> None:
        """Raise `NotesFull`, with the time to wait, if the person has said too much."""
        times, now = self._times.get((debate_id, author.id), deque()), self.facts.clock.now()
        while times and times[0] <= now - _HOUR:
            times.popleft()
        most = self.bounds.notes_per_person_hour
        if len(times) >= most:
            minutes = math.ceil((times[0] + _HOUR - now) / timedelta(minutes=1))
            raise NotesFull(
                f"You wrote {quantity(most, 'note')} to this debate within an hour, as many as "
                "one person may. The agents did not get this one, nor what you write in the next "
                f"{quantity(minutes, 'minute')}."
            )

    def count(self, debate_id: str, author: Person) -> None:
        times = self._times.get((debate_id, author.id), deque())
        times.append(self.facts.clock.now())
        self._times[debate_id, author.id] = times

    async def link(
        self,
        debate_id: str,
        *,
        note_id: str,
        author: Person,
        links: Sequence[SourceReference],
    ) -> Sequence[SourceReference]:
        """Take what somebody's words link to as sources of a running debate, with a note.

        What the debate has already is not taken again. Returns what it has no room for.
        """
        async with self._adding:
            debate = await self.facts.debate(debate_id)
            new = linked_anew(links, debate.references)
            is_known = note_id in debate.withdrawn | {note.id for note in debate.all_notes}
            if debate.status is not Status.RUNNING or is_known:
                return ()
            room = max(0, MOST_SOURCES - len(debate.references))
            if references := new[:room]:
                check_notes(debate, self.bounds)
                names = ", ".join(reference.title for reference in references[:_MOST_NAMED])
                more = len(references) - _MOST_NAMED
                names += f" and {more} more" if more > 0 else ""
                note = Note(
                    id=note_id,
                    author=author,
                    text=f"[Linked as evidence: {names}]",
                    after=len(debate.contributions),
                    references=tuple(references),
                )
                await self.facts.record(debate_id, NoteAdded(note=note))
        return new[room:]

    async def change(self, debate: Debate, note_id: str, text: str, *, change: str) -> None:
        """Change the text of a note of a running debate, from the next turn on.

        Empty, it is in no prompt until it has text again.
        """
        note = next((note for note in debate.all_notes if note.id == note_id), None)
        if note is None or debate.status is not Status.RUNNING:
            return
        check_size(text, self.bounds)
        if note.text != redact(text):
            self.check_pace(debate.id, note.author)
            self.count(debate.id, note.author)
            changed = NoteChanged(note=note_id, text=redact(text), change=change)
            await self.facts.record(debate.id, changed)
