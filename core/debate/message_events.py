"""Events of people's messages: answers and notes, and their edit_times and deletions."""

import itertools
from collections.abc import Mapping

from core.debate.contributions import Answer, Note
from core.debate.event import BaseEvent, Changes
from core.debate.people import Person
from core.debate.state import Debate


def is_before(message: str, other: str) -> bool:
    """Whether a message was written before another one of the same channel.

    Ids of messages are `channel:timestamp`; False for ids of another form.
    """
    channel, separator, ts = message.partition(":")
    other_channel, _, other_ts = other.partition(":")
    return bool(separator) and channel == other_channel and ts < other_ts


def _with_unique_name(debate: Debate, person: Person) -> Person:
    """The person, renamed to "Ann (2)" if somebody else in the debate is called Ann."""
    asker = debate.setup.asked_by
    names = {asker.id: asker.name, **debate.names}
    earlier_name, name = names.pop(person.id, ""), person.name
    if not name or name not in (taken_names := set(names.values())):
        return person
    if earlier_name.startswith(f"{name} ("):
        return person.model_copy(update={"name": earlier_name})
    numbered_names = (f"{name} ({number})" for number in itertools.count(2))
    unique_name = next(numbered for numbered in numbered_names if numbered not in taken_names)
    return person.model_copy(update={"name": unique_name})


def _updated_notes(debate: Debate, note_id: str, **changes: str) -> tuple[Note, ...]:
    """All notes, with changes to the one of this id, if there is one."""
    return tuple(
        note.model_copy(update=changes) if note.id == note_id else note for note in debate.all_notes
    )


def _edit_times(debate: Debate, origin: str, change: str) -> Mapping[str, str]:
    """The time of each message's last edit, updated by one change.

    `change` is the time of an edit, or `<origin>/<time>` as changed answers have it.
    """
    edit_time = change.removeprefix(f"{origin}/")
    if edit_time in {"", origin} or edit_time <= debate.edit_times.get(origin, ""):
        return debate.edit_times
    return {**debate.edit_times, origin: edit_time}


class NoteChanged(BaseEvent):
    """A person edited a note while the debate ran. The note has this text from then on.

    It is also recorded for an edit that leaves the text as it is, and for a message that is no
    note: events of older edit_times that arrive later are then ignored.
    """

    key_form = "note/{0.note}/{0.change}"
    #: Id of the note, or of a message that was only an answer.
    note: str
    text: str
    #: The time of the edit, in a form that the surface can order.
    change: str

    def _changes(self, debate: Debate) -> Changes:
        if self.note in debate.deleted_messages:
            return {}
        edit_times = _edit_times(debate, self.note, self.change)
        is_newer = any(
            note.id == self.note and note.change < self.change for note in debate.all_notes
        )
        if not is_newer:
            return {"edit_times": edit_times}
        notes = _updated_notes(debate, self.note, text=self.text, change=self.change)
        return {"all_notes": notes, "edit_times": edit_times}


class NoteWithdrawn(BaseEvent):
    key_form = "note/{0.note}/withdrawn"
    note: str

    def _changes(self, debate: Debate) -> Changes:
        notes = _updated_notes(debate, self.note, text="")
        return {"all_notes": notes, "deleted_messages": debate.deleted_messages | {self.note}}


class ClarificationAnswered(BaseEvent):
    key_form = "{0.answer.key}"
    answer: Answer

    def _changes(self, debate: Debate) -> Changes:
        answer, number = self.answer, self.answer.number
        edit_times = _edit_times(debate, answer.origin, answer.edited or answer.change)
        can_be_late = answer.change or debate.card_of_question(number).closed_by_event
        if can_be_late and not debate.is_asking(number):
            return {"edit_times": edit_times}  # agents may already have read the earlier answer
        answer = answer.model_copy(update={"by": _with_unique_name(debate, answer.by)})
        replies = debate.replies.get(number, ())
        replies = [reply for reply in replies if reply.origin != answer.origin]
        index = len(replies)
        # Replies are in the order of their messages. An edited one is placed at the time of its
        # edit, so it comes last.
        while index and not answer.edited and is_before(answer.origin, replies[index - 1].origin):
            index -= 1
        return {
            "replies": {**debate.replies, number: (*replies[:index], answer, *replies[index:])},
            "names": {**debate.names, answer.by.id: answer.by.name},
            "all_notes": _updated_notes(debate, answer.note, text=""),
            "edit_times": edit_times,
        }


class AnswerWithdrawn(BaseEvent):
    """A person withdrew an answer. The newest other answer to the question counts again.

    If there is no other answer and the agents have not continued, the question is open again.
    """

    key_form = "answer/{0.number}/withdrawn/{0.change}"
    number: int
    origin: str
    change: str

    def _changes(self, debate: Debate) -> Changes:
        edit_times = _edit_times(debate, self.origin, self.change)
        if not debate.is_asking(self.number):
            return {"edit_times": edit_times}
        replies = debate.replies.get(self.number, ())
        remaining = tuple(answer for answer in replies if answer.origin != self.origin)
        is_newest_withdrawn = remaining[-1:] != replies[-1:]
        if is_newest_withdrawn and not debate.card_of_question(self.number).closed_by_event:
            remaining = ()  # older versions reopened the question, whatever others had answered
        return {"replies": {**debate.replies, self.number: remaining}, "edit_times": edit_times}


class NoteAdded(BaseEvent):
    key_form = "note/{0.note.id}"
    note: Note

    def _changes(self, debate: Debate) -> Changes:
        index = len(debate.all_notes)
        author = _with_unique_name(debate, self.note.author)
        note = self.note.model_copy(update={"number": index + 1, "author": author})
        # Notes are in the order in which they were written, also if they arrived in another one.
        while index and is_before(note.id, debate.all_notes[index - 1].id):
            index -= 1
        return {
            "all_notes": (*debate.all_notes[:index], note, *debate.all_notes[index:]),
            "names": {**debate.names, author.id: author.name},
            "references": (*debate.references, *note.references),
            "edit_times": _edit_times(debate, note.id, note.change),
        }
