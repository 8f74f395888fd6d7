"""What people write while a debate runs: notes, and answers to what agents ask, which they correct.

A note reaches the agents from their next turn on. What comes too late, and what names no question,
is a note. The author of what is reviewed hands in a changed text.
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
#: Of so many people's notes the times are known, at most.
_MOST_WRITERS = 1000
_CLOSED = (
    "This question is answered already, or its time is over. What you wrote stays a note for the "
    "agents."
)


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
        times.append(now)
        self._times[debate_id, author.id] = times

    async def link(
        self, debate_id: str, *, note_id: str, author: Person, links: Sequence[SourceReference]
    ) -> Sequence[SourceReference]:
        """Take what somebody's words link to as sources of a running debate, with a note.

        What the debate has already is not taken again. Returns what it has no room for.
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
                note = Note(
                    id=note_id,
                    author=author,
                    text=f"[Linked as evidence: {', '.join(it.title for it in references)}]",
                    after=len(debate.contributions),
                    references=references,
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
            self.count(debate.id, note.author)
            changed = NoteChanged(note=note_id, text=redact(text), change=change)
            await self.facts.record(debate.id, changed)


@dataclass(frozen=True, kw_only=True)
class PersonsReply:
    debate_id: str
    by: Person
    text: str = ""
    #: Whom the text is for, as it stands before it ("@Alex "): no part of an answer, but of a note.
    to: str = ""
    #: The same on every delivery.
    origin: str
    #: When a message was edited, in an order of its surface; empty: it was not.
    edited: str = ""
    #: Whether it is a message, which its author can edit.
    is_editable: bool = False


class ReplyOutcome(Enum):
    #: It is an answer, a note, or both; or it changed nothing and need not be spoken of.
    TAKEN = auto()
    #: It is a note; ask its author which question it answers, if any.
    UNCLEAR = auto()
    #: It came after the end, and nobody will read it.
    AFTER_END = auto()


@dataclass(frozen=True, kw_only=True)
class AnswerQuestions:
    """Records answers and notes. Every method may raise `StoreDown` and may be called again."""

    facts: FactLog
    note: AddNote

    async def take(self, reply: PersonsReply) -> ReplyOutcome:
        """Take a message in the thread, or the new text of an edited one: answers, a note, or both.

        Naming a question again corrects its answer while the questions are open. An edited note
        counts from the next turn on. Taking the same text again changes nothing, whatever others
        have answered since.

        Raises:
            BadInput: It is too long, names a question that there is not, or the debate takes no
                more notes. Nothing was recorded.
        """
        debate = await self.facts.debate(reply.debate_id)
        if debate.status is not Status.RUNNING:
            return self._after_end(debate, reply)
        if (
            reply.origin in debate.deleted_messages
            or debate.edit_times.get(reply.origin, "") > reply.edited
        ):
            return ReplyOutcome.TAKEN  # deleted, or edited after this text of it was sent
        parsed = _parsed(debate, reply.text)
        noted = next((note for note in debate.all_notes if note.id == reply.origin), None)
        if reply.origin in debate.message_ids and not (reply.edited or parsed.is_numbered):
            is_unclear = parsed.is_unclear and noted in debate.notes  # delivered again
            return ReplyOutcome.UNCLEAR if is_unclear else ReplyOutcome.TAKEN
        check_size(reply.text, self.note.bounds)
        _check_numbers(debate, parsed)
        answers, rest = _said_now(debate, reply, parsed, note=noted.text if noted else "")
        late = await self._correct(debate, reply, answers)
        note = _note_of(debate, reply, rest, late)
        if not await self._put_note(reply, note):
            return ReplyOutcome.AFTER_END
        # Whether it answers what is open by now, only its author knows.
        return ReplyOutcome.UNCLEAR if parsed.is_unclear and not answers else ReplyOutcome.TAKEN

    async def _correct(
        self, debate: Debate, reply: PersonsReply, answers: Sequence[GivenAnswer]
    ) -> Sequence[GivenAnswer]:
        """Record what changed in a message's answers; returns what came too late."""
        earlier = _answered_by(debate, reply.origin)
        removed = earlier.keys() - {answer.number for answer in answers} if reply.edited else ()
        # First answers that were removed: the last open question to be answered closes them all.
        for number in sorted(removed):
            await self._withdraw(debate, number, reply.origin, f"{reply.origin}/{reply.edited}")
        # Only changed answers are recorded: others may have corrected the rest.
        debate = await self.facts.debate(reply.debate_id)
        return [
            answer
            for answer in answers
            if earlier.get(answer.number) != redact(answer.text)
            and not await self._record(debate, reply, answer, corrects=True)
        ]

    async def _put_note(self, reply: PersonsReply, text: str) -> bool:
        """Add a message's note, or change the one it has; False if the debate has ended."""
        debate = await self.facts.debate(reply.debate_id)
        noted = next((note for note in debate.all_notes if note.id == reply.origin), None)
        if text and not noted:
            return await self.note.add(
                debate.id, note_id=reply.origin, author=reply.by, text=text, change=reply.edited
            )
        if noted and reply.edited:
            await self.note.change(debate, reply.origin, text, change=reply.edited)
            debate = await self.facts.debate(debate.id)
        if (
            debate.edit_times.get(reply.origin, "") < reply.edited
            and debate.status is Status.RUNNING
        ):
            # It changed nothing; an older edit that comes later is ignored all the same.
            words = noted.text if noted else ""
            event = NoteChanged(note=reply.origin, text=words, change=reply.edited)
            await self.facts.record(debate.id, event)
        return True

    async def withdraw(self, debate_id: str, origin: str) -> None:
        """Withdraw the answers and the note of a deleted message; its questions are open again.

        Once the questions are closed the answers stand, as agents may have read them. What agents
        wrote about a note stands, too; the note itself is in no prompt from the next turn on.
        """
        debate = await self.facts.debate(debate_id)
        if debate.status is not Status.RUNNING:
            return
        for number in _answered_by(debate, origin):
            await self._withdraw(debate, number, origin, f"{origin}/deleted")
        debate = await self.facts.debate(debate_id)
        # A note with files of its own stays; one with only links is withdrawn.
        texts = [note.id for note in debate.notes if all(ref.in_words for ref in note.references)]
        note_ids = [note for note in texts if note == origin or note.startswith(f"{origin}/")]
        if origin not in note_ids and all(
            answer.origin != origin for answer in debate.answers.values()
        ):
            # It is not recorded, or not yet: mark it so that it is not taken later.
            note_ids.append(origin)
        for note in note_ids:
            if note not in debate.deleted_messages:
                await self.facts.record(debate_id, NoteWithdrawn(note=note))

    async def choose(self, debate_id: str, note: str, number: int) -> None:
        """Take a note as the answer to a question; raises `BadInput` if that can no longer be."""
        debate = await self.facts.debate(debate_id)
        if number in _answered_by(debate, note):
            return  # clicked twice
        source_note = next((item for item in debate.notes if item.id == note), None)
        if source_note is None or number not in open_numbers(debate):
            raise BadInput(_CLOSED)
        # An edit may have left the note as it was, and taken back its answer to this question.
        edited = debate.edit_times.get(note, "")
        reply = PersonsReply(debate_id=debate_id, by=source_note.author, origin=note, edited=edited)
        if not await self._record(debate, reply, GivenAnswer(number, answer_in(source_note.text))):
            raise BadInput(_CLOSED)

    async def form(self, reply: PersonsReply, answers: Sequence[GivenAnswer]) -> Sequence[int]:
        """Record the answers of a form.

        Returns:
            Numbers of questions that somebody else had answered, or whose time was over: these
            answers have become notes, if the debate runs.
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
        """Let the assumptions of these questions hold, where nobody has answered."""
        skipped = PersonsReply(debate_id=debate_id, by=by, origin=origin)
        await self.form(skipped, [GivenAnswer(number, "") for number in numbers])

    async def submit_revision(
        self, debate: Debate, by: Person, references: Sequence[SourceReference], *, origin: str
    ) -> Debate:
        """Hand in the changed text of what is reviewed, so that the agents look again.

        Findings that are still open to be answered are skipped. Calling it again with the same
        origin changes nothing.
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

    def _after_end(self, debate: Debate, reply: PersonsReply) -> ReplyOutcome:
        if reply.origin in debate.message_ids or not reply.text:
            return ReplyOutcome.TAKEN
        self.note.count(debate.id, reply.by)
        return ReplyOutcome.AFTER_END

    async def _record(
        self, debate: Debate, reply: PersonsReply, content: GivenAnswer, *, corrects: bool = False
    ) -> bool:
        """Record one answer; False if the question is not open any more.

        `corrects`: it may replace an answer that is recorded.
        """
        number = content.number
        if not reply.edited and number in _answered_by(debate, reply.origin):
            return True  # delivered again
        if number not in open_numbers(debate) and not (corrects and _is_changeable(debate, number)):
            return False
        # The first answer has the question's own key, so that of two at once one is the first.
        is_first = f"answer/{number}" not in debate.times
        if not is_first:
            self.note.count(debate.id, reply.by)
        change = "/".join(filter(None, (reply.origin, reply.edited)))
        # A message that answers another question already keeps its note.
        is_note = not _answered_by(debate, reply.origin)
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
        appended = await self.facts.record(debate.id, ClarificationAnswered(answer=answer))
        now = await self.facts.debate(debate.id)
        text = _answered_by(now, reply.origin).get(number)
        if text is not None and (is_first or text == answer.text):
            return True
        if not corrects or not is_first or appended.fresh:
            return False  # it came too late, or after another's answer
        # Another answer was recorded in between: this one corrects it.
        return await self._record(now, reply, content, corrects=True)

    async def _withdraw(self, debate: Debate, number: int, origin: str, change: str) -> None:
        if _is_changeable(debate, number):
            withdrawn = AnswerWithdrawn(number=number, origin=origin, change=change)
            await self.facts.record(debate.id, withdrawn)


def open_numbers(debate: Debate) -> Sequence[int]:
    return [item.number for item in open_questions(debate)]


def _parsed(debate: Debate, text: str) -> ParsedReply:
    numbers = [item.number for card in debate.clarifications.values() for item in card.items]
    unanswered = open_numbers(debate)
    parsed = parse_reply(text, numbers, unanswered or sorted(numbers))
    return parsed if unanswered or not parsed.is_unclear else ParsedReply(rest=text)


def _check_numbers(debate: Debate, parsed: ParsedReply) -> None:
    if parsed.unknown:
        numbers = open_numbers(debate)
        still = ", ".join(map(str, numbers)) or "none"
        example = f" Write for example “{numbers[0]}: your answer”." if numbers else ""
        raise BadInput(
            f"There is no question {parsed.unknown[0]}. Still open: {still}. Nothing was recorded."
            f"{example}"
        )


def _answered_by(debate: Debate, origin: str) -> Mapping[int, str]:
    replies = (reply for said in debate.replies.values() for reply in said)
    return {reply.number: reply.text for reply in replies if reply.origin == origin}


def _said_now(
    debate: Debate, reply: PersonsReply, parsed: ParsedReply, *, note: str
) -> tuple[Sequence[GivenAnswer], str]:
    """The answers in a message, and the rest of its text.

    Without a number it answers the one question it answered before, if it held nothing else.
    """
    numbers = [*_answered_by(debate, reply.origin)]
    if parsed.is_numbered or len(numbers) != 1 or not reply.text:
        return parsed.answers, parsed.rest
    # An answer that came too late is a note, not further text.
    is_alone = not note or note.startswith(_about(debate, GivenAnswer(numbers[0], "")))
    return ([GivenAnswer(numbers[0], answer_in(reply.text))], "") if is_alone else ((), reply.text)


def _note_of(debate: Debate, reply: PersonsReply, rest: str, late: Sequence[GivenAnswer]) -> str:
    """The note that a message leaves: what answers nothing, and answers that came too late."""
    words = [_about(debate, answer) for answer in late if answer.text]
    return "\n".join(filter(None, (rest and f"{reply.to}{rest}", *words)))


def _is_changeable(debate: Debate, number: int) -> bool:
    """Whether no agent can have read the answer: its card is open, and the end not called for."""
    is_over = debate.status is not Status.RUNNING or is_cut_short(debate)
    return debate.is_asking(number) and not is_over


def _about(debate: Debate, answer: GivenAnswer) -> str:
    item = debate.clarification(answer.number)
    question = f" ({item.question})" if item else ""
    return f"On question {answer.number}{question}: {answer.text}"
