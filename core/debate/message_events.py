"""Events of people's messages: answers and notes, their edits and deletions."""

import itertools
from collections.abc import Mapping

from core.debate.contributions import Answer, Note
from core.debate.event import BaseEvent, Changes
from core.debate.people import Person
from core.debate.state import Debate


def is_before(message: str, other: str) -> bool:
    """Return whether a message was written before another one of its channel, by their ids."""
    place, parted, ts = message.partition(":")
    other_place, _, other_ts = other.partition(":")
    return bool(parted) and place == other_place and ts < other_ts


def _with_unique_name(debate: Debate, person: Person) -> Person:
    """The person under a name that nobody else in the debate has."""
    asker = debate.setup.asked_by
    others = {asker.id: asker.name, **debate.names}
    own, name = others.pop(person.id, ""), person.name
    if not name or name not in (names := set(others.values())):
        return person
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    name = own if own.startswith(f"{name} (") else next(n for n in numbered if n not in names)
    return person.model_copy(update={"name": name})


def _updated_notes(debate: Debate, which: str, **now: str) -> tuple[Note, ...]:
    """All notes, with what one of them says now; what is no note changes none."""
    return tuple(
        note.model_copy(update=now) if note.id == which else note for note in debate.all_notes
    )


def _edits(debate: Debate, origin: str, change: str) -> Mapping[str, str]:
    """When messages were edited last; a change of an answer has its message before the time."""
    edited = change.removeprefix(f"{origin}/")
    if edited in {"", origin} or edited <= debate.edits.get(origin, ""):
        return debate.edits
    return {**debate.edits, origin: edited}


class NoteChanged(BaseEvent):
    """A person edited a note while the debate ran: from then on it says this.

    Also an edit that changed nothing, of a message that may be no note: older ones count no more.
    """

    key_form = "note/{0.note}/{0.change}"
    #: Id of the note, or of a message that only answered.
    note: str
    text: str
    #: When it was edited, in an order of its surface.
    change: str

    def _changes(self, debate: Debate) -> Changes:
        if self.note in debate.withdrawn:
            return {}
        edits = _edits(debate, self.note, self.change)
        is_newer = any(
            note.id == self.note and note.change < self.change for note in debate.all_notes
        )
        if not is_newer:
            return {"edits": edits}
        notes = _updated_notes(debate, self.note, text=self.text, change=self.change)
        return {"all_notes": notes, "edits": edits}


class NoteWithdrawn(BaseEvent):
    key_form = "note/{0.note}/withdrawn"
    note: str

    def _changes(self, debate: Debate) -> Changes:
        notes = _updated_notes(debate, self.note, text="")
        return {"all_notes": notes, "withdrawn": debate.withdrawn | {self.note}}


class ClarificationAnswered(BaseEvent):
    key_form = "{0.answer.key}"
    answer: Answer

    def _changes(self, debate: Debate) -> Changes:
        answer, number = self.answer, self.answer.number
        edits = _edits(debate, answer.origin, answer.edited or answer.change)
        can_be_late = answer.change or debate.card_with(number).closed_by_event
        if can_be_late and not debate.is_asking(number):
            return {"edits": edits}  # agents may have read what was there
        answer = answer.model_copy(update={"by": _with_unique_name(debate, answer.by)})
        replies = debate.replies.get(number, ())
        others = [other for other in replies if other.origin != answer.origin]
        place = len(others)
        # An edit counts at its own time.
        while place and not answer.edited and is_before(answer.origin, others[place - 1].origin):
            place -= 1
        return {
            "replies": {**debate.replies, number: (*others[:place], answer, *others[place:])},
            "names": {**debate.names, answer.by.id: answer.by.name},
            "all_notes": _updated_notes(debate, answer.note, text=""),
            "edits": edits,
        }


class AnswerWithdrawn(BaseEvent):
    """A person took an answer back; what another message says to the question stands again.

    Where no other says anything, the question is open again, if agents have not gone on.
    """

    key_form = "answer/{0.number}/withdrawn/{0.change}"
    number: int
    origin: str
    change: str

    def _changes(self, debate: Debate) -> Changes:
        edits = _edits(debate, self.origin, self.change)
        if not debate.is_asking(self.number):
            return {"edits": edits}
        replies = debate.replies.get(self.number, ())
        left = tuple(answer for answer in replies if answer.origin != self.origin)
        stands = left[-1:] == replies[-1:]
        if not stands and not debate.card_with(self.number).closed_by_event:
            left = ()  # in logs of before the question was open again, whatever others had said
        return {"replies": {**debate.replies, self.number: left}, "edits": edits}


class NoteAdded(BaseEvent):
    key_form = "note/{0.note.id}"
    note: Note

    def _changes(self, debate: Debate) -> Changes:
        note, place = self.note, len(debate.all_notes)
        author = _with_unique_name(debate, note.author)
        numbered = note.model_copy(update={"number": place + 1, "author": author})
        # Before those that were written later and came earlier.
        while place and is_before(note.id, debate.all_notes[place - 1].id):
            place -= 1
        return {
            "all_notes": (*debate.all_notes[:place], numbered, *debate.all_notes[place:]),
            "names": {**debate.names, author.id: author.name},
            "references": (*debate.references, *note.references),
            "edits": _edits(debate, note.id, note.change),
        }
