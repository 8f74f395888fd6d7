"""Records what people write while a debate runs: notes, and answers to the agents' questions.

Agents read a note from their next turn on. An answer that comes too late, and text that names no
question, is recorded as a note. Answers can be corrected. The author of a review's subject can
submit a revised text.
"""

import asyncio
import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from core.debate.contributions import Answer, Note
from core.debate.evidence import SourceReference
from core.debate.message_events import (
    AnswerWithdrawn,
    ClarificationAnswered,
    NoteAdded,
    NoteChanged,
    NoteWithdrawn,
)
from core.debate.people import Person
from core.debate.state import Debate, Status
from core.errors import BadInput, NotesFull
from core.figures import quantity
from core.redaction import redact
from core.rules.formats import review
from core.rules.formats.review import handing_in_words
from core.rules.schedule import is_cut_short, open_questions
from core.rules.sources import MOST_SOURCES, new_links
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_notes, check_size
from core.use_cases.reply_parsing import GivenAnswer, ParsedReply, answer_in, parse_reply
from core.values import Recent

_HOUR = timedelta(hours=1)
#: Most pairs of debate and person whose times of notes are remembered.
_MOST_WRITERS = 1000
_CLOSED = (
    "This question is answered already, or its time is over. What you wrote stays a note for the "
    "agents."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class AddNote:
    """Adds notes. After a `StoreDown` a call can be repeated."""

    facts: FactLog
    bounds: Bounds
    #: Serializes counting and adding, so that the bound holds within this process.
    _adding: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    #: Times of recent notes by debate and person, since the start of the process.
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
        """Add a note with its attachments to a running debate. Return False if it has ended.

        Calling it again with the same id changes nothing. `change` is the time of the message's
        edit, sortable within its surface; empty: not edited.

        Raises:
            BadInput: The text is too long.
            NotesFull: The debate takes no more notes, or none of this person for now.
        """
        async with self._adding:
            debate = await self.facts.debate(debate_id)
            if debate.status is not Status.RUNNING:
                return False
            if note_id in debate.deleted_messages or any(
                note.id == note_id for note in debate.all_notes
            ):
                return True
            check_size(text, self.bounds)
            check_notes(debate, self.bounds)
            self.count(debate_id, author)
            note = Note(
                id=note_id,
                author=author,
                text=redact(text),
                after=len(debate.contributions),
                references=tuple(references),
                change=change,
            )
            await self.facts.record(debate_id, NoteAdded(note=note))
        return True

    def count(self, debate_id: str, author: Person) -> None:
        """Count a note of the person. Raise `NotesFull`, with the time to wait, if too many."""
        times, now = self._times.get((debate_id, author.id), deque()), self.facts.clock.now()
        while times and times[0] <= now - _HOUR:
            times.popleft()
        most = self.bounds.notes_per_person_hour
        if len(times) >= most:
            minutes = math.ceil((times[0] + _HOUR - now) / timedelta(minutes=1))
            raise NotesFull(
                f"You wrote {quantity(most, 'note')} to this debate within an hour, the most for "
                "one person. The agents did not get this one, and will not get what you write in "
                f"the next {quantity(minutes, 'minute')}."
            )
        times.append(now)
        self._times[debate_id, author.id] = times

    async def link(
        self, debate_id: str, *, note_id: str, author: Person, links: Sequence[SourceReference]
    ) -> Sequence[SourceReference]:
        """Add the links in a person's message to the sources of a running debate, with a note.

        Links that are sources already are skipped. Returns the links beyond the maximum.
        """
        async with self._adding:
            debate = await self.facts.debate(debate_id)
            is_known = note_id in debate.deleted_messages | {note.id for note in debate.all_notes}
            if debate.status is not Status.RUNNING or is_known:
                return ()
            new = new_links(links, debate.references)
            room = max(0, MOST_SOURCES - len(debate.references))
            if references := tuple(new[:room]):
                check_notes(debate, self.bounds)
                titles = ", ".join(source.title for source in references)
                note = Note(
                    id=note_id,
                    author=author,
                    text=f"[Linked as evidence: {titles}]",
                    after=len(debate.contributions),
                    references=references,
                )
                await self.facts.record(debate_id, NoteAdded(note=note))
        return new[room:]

    async def change(self, debate: Debate, note_id: str, text: str, *, change: str) -> None:
        """Change the text of a note of a running debate; agents read it from the next turn on.

        A note without text is in no prompt.
        """
        note = next((note for note in debate.all_notes if note.id == note_id), None)
        if note is None or debate.status is not Status.RUNNING:
            return
        check_size(text, self.bounds)
        if note.text != redact(text):
            self.count(debate.id, note.author)
            event = NoteChanged(note=note_id, text=redact(text), change=change)
            await self.facts.record(debate.id, event)


@dataclass(frozen=True, kw_only=True)
class PersonsReply:
    debate_id: str
    by: Person
    text: str = ""
    #: Mentions before the text ("@Alex "). A note includes them, an answer does not.
    to: str = ""
    #: Id of the message or form, the same on every delivery.
    origin: str
    #: Time of the edit, sortable within its surface; empty if the message was not edited.
    edited: str = ""
    #: Whether its author can edit it (a message, not a form).
    is_editable: bool = False


class ReplyOutcome(Enum):
    #: Recorded as an answer, a note or both; or nothing changed. No response is needed.
    TAKEN = auto()
    #: Recorded as a note. Ask the author which question it answers, if any.
    UNCLEAR = auto()
    #: The debate has ended: no agent will read it.
    AFTER_END = auto()


@dataclass(frozen=True, kw_only=True)
class AnswerQuestions:
    """Records answers and notes. After a `StoreDown` a call can be repeated."""

    facts: FactLog
    note: AddNote

    async def take(self, reply: PersonsReply) -> ReplyOutcome:
        """Record a message in the thread, or its new text after an edit: answers, a note, or both.

        A second answer to a question corrects the first while the questions are open. Agents read
        an edited note from the next turn on. The same text delivered again changes nothing, even
        if other people have answered since.

        Raises:
            BadInput: The text is too long or names an unknown question, or the debate takes no
                more notes. Nothing was recorded.
        """
        debate = await self.facts.debate(reply.debate_id)
        if debate.status is not Status.RUNNING:
            return self._take_after_end(debate, reply)
        if _is_outdated(debate, reply):
            return ReplyOutcome.TAKEN
        content = _parse(debate, reply.text)
        note = next((note for note in debate.all_notes if note.id == reply.origin), None)
        if reply.origin in debate.message_ids and not (reply.edited or content.is_numbered):
            is_unclear = content.is_unclear and note in debate.notes  # delivered again
            return ReplyOutcome.UNCLEAR if is_unclear else ReplyOutcome.TAKEN
        check_size(reply.text, self.note.bounds)
        _check_numbers(debate, content)
        answers, note_text = _answers_and_note(
            debate, reply, content, earlier_note=note.text if note else ""
        )
        late_answers = await self._correct(debate, reply, answers)
        # The text that answers no question, and the answers that came too late.
        lines = [_about(debate, answer) for answer in late_answers if answer.text]
        note_text = "\n".join(filter(None, (note_text and f"{reply.to}{note_text}", *lines)))
        if not await self._put_note(reply, note_text):
            return ReplyOutcome.AFTER_END
        # Only the author knows whether the note answers a question that is open by now.
        return ReplyOutcome.UNCLEAR if content.is_unclear and not answers else ReplyOutcome.TAKEN

    def _take_after_end(self, debate: Debate, reply: PersonsReply) -> ReplyOutcome:
        if reply.origin in debate.message_ids or not reply.text:
            return ReplyOutcome.TAKEN
        self.note.count(debate.id, reply.by)
        return ReplyOutcome.AFTER_END

    async def _correct(
        self, debate: Debate, reply: PersonsReply, answers: Sequence[GivenAnswer]
    ) -> Sequence[GivenAnswer]:
        """Record the changes in a message's answers. Return the answers that came too late."""
        earlier = _answers_in(debate, reply.origin)
        removed_numbers = (
            earlier.keys() - {answer.number for answer in answers} if reply.edited else ()
        )
        # Record removals first: once the last open question is answered, no answer can change.
        for number in sorted(removed_numbers):
            await self._withdraw(debate, number, reply.origin, f"{reply.origin}/{reply.edited}")
        # Record only changed answers: other people may have corrected the unchanged ones.
        debate = await self.facts.debate(reply.debate_id)
        return [
            answer
            for answer in answers
            if earlier.get(answer.number) != redact(answer.text)
            and not await self._record(debate, reply, answer, corrects=True)
        ]

    async def _put_note(self, reply: PersonsReply, text: str) -> bool:
        """Add or change the note of a message. Return False if the debate has ended."""
        debate = await self.facts.debate(reply.debate_id)
        note = next((note for note in debate.all_notes if note.id == reply.origin), None)
        if text and not note:
            return await self.note.add(
                debate.id, note_id=reply.origin, author=reply.by, text=text, change=reply.edited
            )
        if note and reply.edited:
            await self.note.change(debate, reply.origin, text, change=reply.edited)
            debate = await self.facts.debate(debate.id)
        if (
            debate.edit_times.get(reply.origin, "") < reply.edited
            and debate.status is Status.RUNNING
        ):
            # Nothing changed, but record the time, so that an older edit that comes later is
            # ignored.
            note_text = note.text if note else ""
            event = NoteChanged(note=reply.origin, text=note_text, change=reply.edited)
            await self.facts.record(debate.id, event)
        return True

    async def withdraw(self, debate_id: str, origin: str) -> None:
        """Withdraw the answers and the note of a deleted message; its questions are open again.

        Once the questions are closed, answers are kept, because agents may have read them. A
        withdrawn note is in no prompt from the next turn on; the agents' replies to it are kept.
        """
        debate = await self.facts.debate(debate_id)
        if debate.status is not Status.RUNNING:
            return
        for number in _answers_in(debate, origin):
            await self._withdraw(debate, number, origin, f"{origin}/deleted")
        debate = await self.facts.debate(debate_id)
        # Notes with attached files are kept; notes whose sources are links in the text are not.
        texts = [note.id for note in debate.notes if all(ref.in_words for ref in note.references)]
        note_ids = [note for note in texts if note == origin or note.startswith(f"{origin}/")]
        if origin not in note_ids and all(
            answer.origin != origin for answer in debate.answers.values()
        ):
            # The message is not recorded (yet): mark it, so that a late delivery is ignored.
            note_ids.append(origin)
        for note in note_ids:
            if note not in debate.deleted_messages:
                await self.facts.record(debate_id, NoteWithdrawn(note=note))

    async def choose(self, debate_id: str, note: str, number: int) -> None:
        """Record a note as the answer to a question. Raise `BadInput` if that is too late."""
        debate = await self.facts.debate(debate_id)
        if number in _answers_in(debate, note):
            return  # clicked twice
        source_note = next((item for item in debate.notes if item.id == note), None)
        if source_note is None or number not in open_numbers(debate):
            raise BadInput(_CLOSED)
        # The message may have been edited: an edit can withdraw its answer and keep the note.
        edit_time = debate.edit_times.get(note, "")
        reply = PersonsReply(
            debate_id=debate_id, by=source_note.author, origin=note, edited=edit_time
        )
        if not await self._record(debate, reply, GivenAnswer(number, answer_in(source_note.text))):
            raise BadInput(_CLOSED)

    async def form(self, reply: PersonsReply, answers: Sequence[GivenAnswer]) -> Sequence[int]:
        """Record the answers of a form.

        Returns:
            Numbers of questions that another person had answered or whose time was over. These
            answers were recorded as notes if the debate still runs.
        """
        debate = await self.facts.debate(reply.debate_id)
        for answer in answers:
            check_size(answer.text, self.note.bounds)
        late: list[int] = []
        for answer in answers:
            if await self._record(debate, reply, answer):
                continue
            late.append(answer.number)
            if answer.text and debate.status is Status.RUNNING:
                part = replace(reply, origin=f"{reply.origin}:{answer.number}")
                await self._put_note(part, _about(debate, answer))
        return late

    async def skip(self, debate_id: str, numbers: Iterable[int], by: Person, origin: str) -> None:
        """Close these questions, unless they are answered, so that their assumptions hold."""
        reply = PersonsReply(debate_id=debate_id, by=by, origin=origin)
        await self.form(reply, [GivenAnswer(number, "") for number in numbers])

    async def submit_revision(
        self, debate: Debate, by: Person, references: Sequence[SourceReference], *, origin: str
    ) -> Debate:
        """Submit a revised text of a review's subject, so that the agents examine it again.

        Findings that the author can still answer are skipped. Calling it again with the same origin
        changes nothing.
        """
        if all(note.id != origin for note in debate.all_notes):
            if fault := review.revision_fault(debate):
                raise BadInput(f"{fault} Nothing was recorded.")
            text = handing_in_words([reference.title for reference in references])
            await self.note.add(
                debate.id, note_id=origin, author=by, text=text, references=references
            )
        debate = await self.facts.debate(debate.id)
        card = debate.clarifications.get(review.ASKING.key)
        findings = {item.number for item in card.items} if card else set[int]()
        numbers = [number for number in open_numbers(debate) if number in findings]
        await self.skip(debate.id, numbers, by, f"{origin}/skip")
        return await self.facts.debate(debate.id)

    async def _record(
        self, debate: Debate, reply: PersonsReply, content: GivenAnswer, *, corrects: bool = False
    ) -> bool:
        """Record one answer. Return False if the question is not open any more.

        `corrects`: the answer may replace one that is recorded.
        """
        number = content.number
        if not reply.edited and number in _answers_in(debate, reply.origin):
            return True  # delivered again
        if number not in open_numbers(debate) and not (corrects and _is_changeable(debate, number)):
            return False
        # First answers to a question share one key, so that only one of two concurrent ones wins.
        is_first = f"answer/{number}" not in debate.times
        if not is_first:
            self.note.count(debate.id, reply.by)
        change = "/".join(filter(None, (reply.origin, reply.edited)))
        # The message's note becomes its first answer; further answers do not consume the note.
        is_note = not _answers_in(debate, reply.origin)
        answer = Answer(
            number=number,
            text=redact(content.text),
            by=reply.by,
            origin=reply.origin,
            change="" if is_first else change,
            edited=reply.edited,
            note=reply.origin if is_note else "",
            is_editable=reply.is_editable,
        )
        result = await self.facts.record(debate.id, ClarificationAnswered(answer=answer))
        updated = await self.facts.debate(debate.id)
        text = _answers_in(updated, reply.origin).get(number)
        if text is not None and (is_first or text == answer.text):
            return True
        if not corrects or not is_first or result.fresh:
            return False  # it came too late, or after another person's answer
        # Another answer was recorded in between: this one corrects it.
        return await self._record(updated, reply, content, corrects=True)

    async def _withdraw(self, debate: Debate, number: int, origin: str, change: str) -> None:
        if _is_changeable(debate, number):
            event = AnswerWithdrawn(number=number, origin=origin, change=change)
            await self.facts.record(debate.id, event)


def open_numbers(debate: Debate) -> Sequence[int]:
    return [item.number for item in open_questions(debate)]


def _parse(debate: Debate, text: str) -> ParsedReply:
    numbers = [item.number for item in debate.all_clarifications]
    unanswered = open_numbers(debate)
    content = parse_reply(text, numbers, unanswered or sorted(numbers))
    return content if unanswered or not content.is_unclear else ParsedReply(rest=text)


def _check_numbers(debate: Debate, content: ParsedReply) -> None:
    if content.unknown:
        numbers = open_numbers(debate)
        open_words = ", ".join(map(str, numbers)) or "none"
        example = f" Write for example “{numbers[0]}: your answer”." if numbers else ""
        raise BadInput(
            f"There is no question {content.unknown[0]}. Still open: {open_words}. Nothing was "
            f"recorded.{example}"
        )


def _answers_in(debate: Debate, origin: str) -> Mapping[int, str]:
    """Return the recorded answers of a message, number of the question → text."""
    answers = (answer for replies in debate.replies.values() for answer in replies)
    return {answer.number: answer.text for answer in answers if answer.origin == origin}


def _answers_and_note(
    debate: Debate, reply: PersonsReply, content: ParsedReply, *, earlier_note: str
) -> tuple[Sequence[GivenAnswer], str]:
    """Return the answers in a message, and the remaining text for a note.

    An edited message without a number still answers the single question that it answered before,
    unless it also had a note.
    """
    numbers = [*_answers_in(debate, reply.origin)]
    if content.is_numbered or len(numbers) != 1 or not reply.text:
        return content.answers, content.rest
    # A note that consists of an answer that came too late does not count as a note.
    is_answer_only = not earlier_note or earlier_note.startswith(
        _about(debate, GivenAnswer(numbers[0], ""))
    )
    if is_answer_only:
        return [GivenAnswer(numbers[0], answer_in(reply.text))], ""
    return (), reply.text


def _is_changeable(debate: Debate, number: int) -> bool:
    """Whether no agent can have read the answer: its card is open, and no end is requested."""
    is_over = debate.status is not Status.RUNNING or is_cut_short(debate)
    return debate.is_asking(number) and not is_over


def _is_outdated(debate: Debate, reply: PersonsReply) -> bool:
    """Whether the message was deleted, or has a newer edit."""
    newest = debate.edit_times.get(reply.origin, "")
    return reply.origin in debate.deleted_messages or newest > reply.edited


def _about(debate: Debate, answer: GivenAnswer) -> str:
    questions = {item.number: f" ({item.question})" for item in debate.all_clarifications}
    question = questions.get(answer.number, "")
    return f"On question {answer.number}{question}: {answer.text}"
