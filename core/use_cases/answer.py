"""People answer what agents ask, in the thread or in a form, and correct their answers.

What comes too late, and what names no question, is a note.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from core.debate.contributions import Answer
from core.debate.message_events import (
    AnswerWithdrawn,
    ClarificationAnswered,
    NoteChanged,
    NoteWithdrawn,
)
from core.debate.people import Person
from core.debate.state import Debate, Status
from core.errors import BadInput
from core.redaction import redact
from core.rules.schedule import is_cut_short, open_questions
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_size
from core.use_cases.note import AddNote
from core.use_cases.reply_parsing import (
    GivenAnswer,
    ParsedReply,
    answer_in,
    parse_reply,
)

_CLOSED = (
    "This question is answered already, or its time is over. What you wrote stays a note for the "
    "agents."
)


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
    #: It names who knows the answer to a question, which stays open; its words are a note.
    REFERRED = auto()
    #: It came after the end, and nobody will read it.
    AFTER_END = auto()


@dataclass(frozen=True, kw_only=True)
class AnswerQuestions:
    """Records answers and notes. Every method may raise `StoreDown` and may be called again."""

    facts: FactLog
    note: AddNote
    bounds: Bounds

    async def reply(self, reply: PersonsReply) -> ReplyOutcome:
        """Take a reply in the thread as answers, as a note, or as both.

        Naming a question again corrects its answer while the questions are open.

        Raises:
            BadInput: It is too long, names a question that there is not, or the debate takes no
                more notes. Nothing was recorded.
        """
        debate = await self.facts.debate(reply.debate_id)
        if debate.status is not Status.RUNNING:
            return self._after_end(debate, reply)
        if _is_outdated(debate, reply):
            return ReplyOutcome.TAKEN
        parsed = _parsed(debate, reply.text)
        if reply.origin in debate.message_ids and not parsed.is_numbered:  # delivered again
            is_note = any(note.id == reply.origin for note in debate.notes)
            return ReplyOutcome.UNCLEAR if is_note and parsed.is_unclear else ReplyOutcome.TAKEN
        check_size(reply.text, self.bounds)
        _check_numbers(debate, parsed)
        late = [
            answer
            for answer in parsed.answers
            if not await self._record(debate, reply, answer, corrects=True)
        ]
        note = _note_of(debate, reply, parsed.rest, late)
        if note and not await self._add_note(reply, note):
            return ReplyOutcome.AFTER_END
        if parsed.referrals:
            return ReplyOutcome.REFERRED
        return ReplyOutcome.UNCLEAR if parsed.is_unclear else ReplyOutcome.TAKEN

    async def edit(self, reply: PersonsReply) -> ReplyOutcome:
        """Take the new text of an edited message in the thread: its answers and its note change.

        After the questions are closed a changed answer is a note. An edited note counts from the
        next turn on. Taking the same edit again changes nothing, whatever others have answered
        since.

        Raises:
            BadInput: It is too long, or names a question that there is not.
        """
        debate = await self.facts.debate(reply.debate_id)
        if debate.status is not Status.RUNNING:
            return self._after_end(debate, reply) if reply.text else ReplyOutcome.TAKEN
        if reply.origin not in debate.message_ids:
            return await self.reply(reply)  # refused before, or not delivered
        if _is_outdated(debate, reply):
            return ReplyOutcome.TAKEN
        check_size(reply.text, self.bounds)
        parsed = _parsed(debate, reply.text)
        _check_numbers(debate, parsed)
        noted = next((note for note in debate.all_notes if note.id == reply.origin), None)
        answers, rest = _said_now(debate, reply, parsed, note=noted.text if noted else "")
        late = await self._correct(debate, reply, answers)
        note = _note_of(debate, reply, rest, late)
        debate = await self.facts.debate(reply.debate_id)
        if noted:
            await self.note.change(debate, reply.origin, note, change=reply.edited)
        elif note:
            await self._add_note(reply, note)
        await self._remember_edit(reply)
        # Whether it answers what is open by now, only its author knows.
        return ReplyOutcome.UNCLEAR if parsed.is_unclear and not answers else ReplyOutcome.TAKEN

    async def _correct(
        self, debate: Debate, reply: PersonsReply, answers: Sequence[GivenAnswer]
    ) -> Sequence[GivenAnswer]:
        earlier = _answered_by(debate, reply.origin)
        # First answers that were removed: the last open question to be answered closes them all.
        for number in sorted(earlier.keys() - {answer.number for answer in answers}):
            await self._withdraw(debate, number, reply.origin, f"{reply.origin}/{reply.edited}")
        # Only changed answers are recorded: others may have corrected the rest.
        debate = await self.facts.debate(reply.debate_id)
        return [
            answer
            for answer in answers
            if earlier.get(answer.number) != redact(answer.text)
            and not await self._record(debate, reply, answer, corrects=True)
        ]

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
            if note not in debate.withdrawn:
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
        edited = debate.edits.get(note, "")
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
            check_size(answer.text, self.bounds)
        late: list[int] = []
        for answer in answers:
            if await self._record(debate, reply, answer):
                continue
            late.append(answer.number)
            if answer.text and debate.status is Status.RUNNING:
                part = replace(reply, origin=f"{reply.origin}:{answer.number}")
                await self._add_note(part, _about(debate, answer))
        return late

    async def skip(self, debate_id: str, numbers: Iterable[int], by: Person, origin: str) -> None:
        """Let the assumptions of these questions hold, where nobody has answered."""
        skipped = PersonsReply(debate_id=debate_id, by=by, origin=origin)
        await self.form(skipped, [GivenAnswer(number, "") for number in numbers])

    def _after_end(self, debate: Debate, reply: PersonsReply) -> ReplyOutcome:
        if reply.origin in debate.message_ids:
            return ReplyOutcome.TAKEN
        self.note.check_pace(debate.id, reply.by)
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
            self.note.check_pace(debate.id, reply.by)
            self.note.count(debate.id, reply.by)
        change = "/".join(filter(None, (reply.origin, reply.edited)))
        answer = _as_answer(debate, reply, content, change="" if is_first else change)
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

    async def _remember_edit(self, reply: PersonsReply) -> None:
        """Record an edit that changed nothing, so that an older one that comes later is ignored."""
        debate = await self.facts.debate(reply.debate_id)
        is_known = debate.edits.get(reply.origin, "") >= reply.edited
        if is_known or debate.status is not Status.RUNNING:
            return
        words = next((note.text for note in debate.all_notes if note.id == reply.origin), "")
        event = NoteChanged(note=reply.origin, text=words, change=reply.edited)
        await self.facts.record(reply.debate_id, event)

    async def _add_note(self, reply: PersonsReply, text: str) -> bool:
        return await self.note.add(
            reply.debate_id, note_id=reply.origin, author=reply.by, text=text, change=reply.edited
        )


def _as_answer(debate: Debate, reply: PersonsReply, content: GivenAnswer, *, change: str) -> Answer:
    was_note = any(note.id == reply.origin for note in debate.notes)
    is_whole = not _answered_by(debate, reply.origin)
    return Answer(
        number=content.number,
        text=redact(content.text),
        by=reply.by,
        origin=reply.origin,
        change=change,
        edited=reply.edited,
        note=reply.origin if was_note and is_whole else "",
        is_editable=reply.is_editable,
    )


def _note_of(debate: Debate, reply: PersonsReply, rest: str, late: Sequence[GivenAnswer]) -> str:
    """The note that a message leaves: what answers nothing, and answers that came too late."""
    words = [_about(debate, answer) for answer in late if answer.text]
    return "\n".join(filter(None, (rest and f"{reply.to}{rest}", *words)))


def _is_outdated(debate: Debate, reply: PersonsReply) -> bool:
    """Whether the message was deleted, or edited after this text of it was sent."""
    return reply.origin in debate.withdrawn or debate.edits.get(reply.origin, "") > reply.edited


def open_numbers(debate: Debate) -> Sequence[int]:
    return [item.number for item in open_questions(debate)]


def _parsed(debate: Debate, text: str) -> ParsedReply:
    items = [item for opened in debate.clarifications.values() for item in opened.items]
    questions = {item.number: item.question for item in items}
    unanswered = open_numbers(debate)
    parsed = parse_reply(text, questions, unanswered or sorted(questions))
    if not unanswered and questions and parsed.is_unclear:
        return ParsedReply(rest=text)
    parts = [parsed.rest, *(_about(debate, referral) for referral in parsed.referrals)]
    return replace(parsed, rest="\n".join(filter(None, parts)))


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
    """The answers of an edited message (`parsed` as if it were new), and the rest of its text.

    Without a number it answers the one question it answered before, if it held nothing else.
    """
    if parsed.is_numbered:
        return parsed.answers, parsed.rest
    earlier = _answered_by(debate, reply.origin)
    if len(earlier) != 1 or not reply.text:
        return (), reply.text
    ((number, before),) = earlier.items()
    # An answer that came too late is a note, not further text.
    is_alone = not note or note.startswith(_about(debate, GivenAnswer(number, "")))
    if not is_alone:
        return (), reply.text
    # An answer chosen by click may include the words that address it.
    is_same = before in {redact(text) for text in (reply.text, reply.to + reply.text)}
    return [GivenAnswer(number, before if is_same else answer_in(reply.text))], ""


def _is_changeable(debate: Debate, number: int) -> bool:
    """Whether no agent can have read the answer: its card is open, and the end not called for."""
    is_over = debate.status is not Status.RUNNING or is_cut_short(debate)
    return debate.is_asking(number) and not is_over


def _about(debate: Debate, answer: GivenAnswer) -> str:
    item = debate.clarification(answer.number)
    question = f" ({item.question})" if item else ""
    return f"On question {answer.number}{question}: {answer.text}"
