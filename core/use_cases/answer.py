"""People answer what agents ask, in the thread or in a form, and correct their answers.

What comes too late is a note, and so is what names no question, until somebody chooses which one it
answers.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from core.errors import BadInput
from core.events import AnswerWithdrawn, ClarificationAnswered, NoteChanged, NoteWithdrawn
from core.models import Answer, Debate, Person, Status
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
    """What somebody said in a debate's thread or form."""

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
    """What became of a reply."""

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

    async def reply(self, said: PersonsReply) -> ReplyOutcome:
        """Take a reply in the thread as answers, as a note, or as both.

        Naming a question again corrects its answer while the questions are open.

        Raises:
            BadInput: It is too long, names a question that there is not, or the debate takes no
                more notes. Nothing was recorded.
        """
        debate = await self.facts.debate(said.debate_id)
        if debate.status is not Status.RUNNING:
            return self._after_end(debate, said)
        if said.origin in debate.withdrawn:
            return ReplyOutcome.TAKEN  # it was deleted before it was heard
        if not said.edited and said.origin in debate.edits:
            return ReplyOutcome.TAKEN  # its edit came first: it does not say this any more
        parsed = _parsed(debate, said.text)
        if _was_taken(debate, said.origin) and not parsed.is_numbered:  # delivered again
            is_note = any(note.id == said.origin for note in debate.notes)
            return ReplyOutcome.UNCLEAR if is_note and parsed.is_unclear else ReplyOutcome.TAKEN
        check_size(said.text, self.bounds)
        if parsed.unknown:
            raise BadInput(_no_such_question(debate, parsed.unknown[0]))
        left = [parsed.rest and f"{said.to}{parsed.rest}"]
        for answer in parsed.answers:
            if await self._record(debate, said, answer, corrects=True):
                continue
            if answer.text:
                left.append(_about(debate, answer))
        if note := "\n".join(filter(None, left)):
            is_read = await self._add_note(said, note)
            if not is_read:
                return ReplyOutcome.AFTER_END
        if parsed.referrals:
            return ReplyOutcome.REFERRED
        return ReplyOutcome.UNCLEAR if parsed.is_unclear else ReplyOutcome.TAKEN

    async def edit(self, said: PersonsReply) -> ReplyOutcome:
        """Take the new text of a message in the thread: what it answered is answered as it says.

        After the questions are closed a changed answer is a note. An edited note says from the next
        turn on what it says now. Taking the same edit again changes nothing, whatever others have
        answered since.

        Raises:
            BadInput: It is too long, or names a question that there is not.
        """
        debate = await self.facts.debate(said.debate_id)
        if debate.status is not Status.RUNNING:
            return self._after_end(debate, said) if said.text else ReplyOutcome.TAKEN
        if not _was_taken(debate, said.origin):
            return await self.reply(said)  # refused before, or never heard
        if said.origin in debate.withdrawn or debate.edits.get(said.origin, "") > said.edited:
            return ReplyOutcome.TAKEN  # deleted since, or a newer edit came first
        check_size(said.text, self.bounds)
        parsed = _parsed(debate, said.text)
        if parsed.unknown:
            raise BadInput(_no_such_question(debate, parsed.unknown[0]))
        noted = next((note for note in debate.all_notes if note.id == said.origin), None)
        answers, rest = _said_now(debate, said, parsed, note=noted.text if noted else "")
        late = await self._correct(debate, said, answers)
        words = [_about(debate, answer) for answer in late if answer.text]
        note = "\n".join(filter(None, (rest and f"{said.to}{rest}", *words)))
        debate = await self.facts.debate(said.debate_id)
        if noted:
            await self.note.change(debate, said.origin, note, change=said.edited)
        elif note:
            await self._add_note(said, note)
        await self._remember_edit(said)
        # Whether it answers what is open by now, only its author knows.
        return ReplyOutcome.UNCLEAR if parsed.is_unclear and not answers else ReplyOutcome.TAKEN

    async def _correct(
        self, debate: Debate, said: PersonsReply, given: Sequence[GivenAnswer]
    ) -> Sequence[GivenAnswer]:
        """Have questions answered as an edited message says; what comes too late is returned."""
        known = _answered_by(debate, said.origin)
        # First what it says no more: the last open question to be answered closes them all.
        for number in sorted(known.keys() - {answer.number for answer in given}):
            await self._withdraw(debate, number, said.origin, f"{said.origin}/{said.edited}")
        # Of what it answered before, only a change is new: others may have corrected the rest.
        # Where they took theirs back, too, the question has only what this message says; but the
        # same edit, delivered again, does not answer it a second time.
        debate = await self.facts.debate(said.debate_id)
        again = {n for n in known if f"answer/{n}/{_change(said)}" in debate.times}
        old = {n: text for n, text in known.items() if n in debate.answers or n in again}
        return [
            answer
            for answer in given
            if old.get(answer.number) != redact(answer.text)
            and not await self._record(debate, said, answer, corrects=True)
        ]

    async def withdraw(self, debate_id: str, origin: str) -> None:
        """Take back what a deleted message said: its questions are open again, its note is gone.

        Once the questions are closed the answers stand, as agents may have read them. What agents
        wrote about a note stands, too; from the next turn on nobody reads the note itself.
        """
        debate = await self.facts.debate(debate_id)
        if debate.status is not Status.RUNNING:
            return
        answered = [*debate.answers.values(), *itertools.chain(*debate.other_answers.values())]
        for number in [answer.number for answer in answered if answer.origin == origin]:
            await self._withdraw(debate, number, origin, f"{origin}/deleted")
        debate = await self.facts.debate(debate_id)
        # Files that it brought stay; what its words linked to is said no more.
        texts = [note.id for note in debate.notes if all(ref.in_words for ref in note.references)]
        gone = [note for note in texts if note == origin or note.startswith(f"{origin}/")]
        if origin not in gone and all(
            answer.origin != origin for answer in debate.answers.values()
        ):
            # It says nothing any more, or is only on its way: it is not taken any more, and no
            # record repeats it.
            gone.append(origin)
        for note in gone:
            if note not in debate.withdrawn:
                await self.facts.record(debate_id, NoteWithdrawn(note=note))

    async def choose(self, debate_id: str, note: str, number: int) -> None:
        """Take a note as the answer to a question.

        Raises:
            BadInput: The question can no longer be answered, or the note answers one already.
        """
        debate = await self.facts.debate(debate_id)
        if number in _answered_by(debate, note):
            return  # clicked twice
        found = next((item for item in debate.notes if item.id == note), None)
        if found is None or number not in open_numbers(debate):
            raise BadInput(_CLOSED)
        # An edit may have left the note as it was, and taken back its answer to this question.
        edited = debate.edits.get(note, "")
        reply = PersonsReply(debate_id=debate_id, by=found.author, origin=note, edited=edited)
        if not await self._record(debate, reply, GivenAnswer(number, answer_in(found.text))):
            raise BadInput(_CLOSED)

    async def form(self, said: PersonsReply, answers: Sequence[GivenAnswer]) -> Sequence[int]:
        """Record the answers of a form.

        Returns:
            Numbers of questions that somebody else had answered, or whose time was over: what was
            said about them has become a note, if the debate runs.

        Raises:
            BadInput: An answer is too long, or the debate takes no more notes.
        """
        debate = await self.facts.debate(said.debate_id)
        for answer in answers:
            check_size(answer.text, self.bounds)
        late: list[int] = []
        for answer in answers:
            if await self._record(debate, said, answer):
                continue
            late.append(answer.number)
            if answer.text and debate.status is Status.RUNNING:
                part = replace(said, origin=f"{said.origin}:{answer.number}")
                await self._add_note(part, _about(debate, answer))
        return late

    async def skip(self, debate_id: str, numbers: Iterable[int], by: Person, origin: str) -> None:
        """Let the assumptions of these questions hold, where nobody has answered."""
        skipped = PersonsReply(debate_id=debate_id, by=by, origin=origin)
        await self.form(skipped, [GivenAnswer(number, "") for number in numbers])

    def _after_end(self, debate: Debate, said: PersonsReply) -> ReplyOutcome:
        """What becomes of a reply that came after the end.

        Raises:
            NotesFull: Its author said too much within an hour, and is told no more for now.
        """
        if _was_taken(debate, said.origin):
            return ReplyOutcome.TAKEN
        self.note.check_pace(debate.id, said.by)
        self.note.count(debate.id, said.by)
        return ReplyOutcome.AFTER_END

    async def _record(
        self, debate: Debate, said: PersonsReply, given: GivenAnswer, *, corrects: bool = False
    ) -> bool:
        """Record one answer; False if the question is not open any more.

        Args:
            debate: As it was a moment ago.
            said: Whose answer it is.
            given: The answer.
            corrects: It takes the place of an answer that is there.
        """
        number = given.number
        if not said.edited and (said.origin, number) in debate.heard:
            return True  # delivered again
        if number not in open_numbers(debate) and not (corrects and _is_changeable(debate, number)):
            return False
        # The first answer has the question's own key, so that of two at once one is the first.
        is_first = f"answer/{number}" not in debate.times
        change = _change(said)
        if not is_first:
            self.note.check_pace(debate.id, said.by)
            self.note.count(debate.id, said.by)
        was_note = any(note.id == said.origin for note in debate.notes)
        is_whole = not _answered_by(debate, said.origin)
        answer = Answer(
            number=number,
            text=redact(given.text),
            by=said.by,
            origin=said.origin,
            change="" if is_first else change,
            edited=said.edited,
            note=said.origin if was_note and is_whole else "",
            is_editable=said.is_editable,
        )
        appended = await self.facts.record(debate.id, ClarificationAnswered(answer=answer))
        standing = appended.recorded.event
        if not is_first:
            now = await self.facts.debate(debate.id)
            # Else it came too late; an older message, delivered late, changes nothing.
            return now.heard.get((said.origin, number)) == answer.text
        is_ours = appended.fresh or (
            isinstance(standing, ClarificationAnswered) and standing.answer.origin == said.origin
        )
        if is_ours or not corrects:
            return is_ours
        # Somebody was faster by a moment: this one corrects theirs.
        return await self._record(await self.facts.debate(debate.id), said, given, corrects=True)

    async def _withdraw(self, debate: Debate, number: int, origin: str, change: str) -> None:
        if _is_changeable(debate, number):
            withdrawn = AnswerWithdrawn(number=number, origin=origin, change=change)
            await self.facts.record(debate.id, withdrawn)

    async def _remember_edit(self, said: PersonsReply) -> None:
        """Record an edit that changed nothing: an older one that comes later must not, either."""
        debate = await self.facts.debate(said.debate_id)
        is_known = debate.edits.get(said.origin, "") >= said.edited
        if is_known or debate.status is not Status.RUNNING:
            return
        words = next((note.text for note in debate.all_notes if note.id == said.origin), "")
        seen = NoteChanged(note=said.origin, text=words, change=said.edited)
        await self.facts.record(said.debate_id, seen)

    async def _add_note(self, said: PersonsReply, text: str) -> bool:
        return await self.note.add(
            said.debate_id, note_id=said.origin, author=said.by, text=text, change=said.edited
        )


def open_numbers(debate: Debate) -> Sequence[int]:
    """Numbers of the questions people can still answer, oldest first."""
    return [item.number for item in open_questions(debate)]


def _parsed(debate: Debate, text: str) -> ParsedReply:
    items = [item for opened in debate.clarifications.values() for item in opened.items]
    asked = {item.number: item.question for item in items}
    unanswered = open_numbers(debate)
    parsed = parse_reply(text, asked, unanswered or sorted(asked))
    if not unanswered and asked and parsed.is_unclear:
        return ParsedReply(rest=text)
    left = [parsed.rest, *(_about(debate, referral) for referral in parsed.referrals)]
    return replace(parsed, rest="\n".join(filter(None, left)))


def _no_such_question(debate: Debate, number: int) -> str:
    numbers = open_numbers(debate)
    if not numbers:
        return f"There is no question {number}, and none is open. Nothing was recorded."
    still = ", ".join(map(str, numbers))
    return (
        f"There is no question {number}. Still open: {still}. Nothing was recorded; write for "
        f"example “{numbers[0]}: your answer”."
    )


def _was_taken(debate: Debate, origin: str) -> bool:
    answered = any(heard == origin for heard, _ in debate.heard)
    was_note = any(note.id == origin for note in debate.all_notes)
    return answered or was_note or origin in debate.withdrawn


def _answered_by(debate: Debate, origin: str) -> Mapping[int, str]:
    """What a message says of questions, as it was taken last, also where others corrected it."""
    said = ((number, text) for (who, number), text in debate.heard.items() if who == origin)
    return {number: text for number, text in said if text is not None}


def _said_now(
    debate: Debate, said: PersonsReply, parsed: ParsedReply, *, note: str
) -> tuple[Sequence[GivenAnswer], str]:
    """Which answers an edited message gives, and what it says besides.

    Without a number it means the question it was the answer to, if it said nothing besides.

    Args:
        debate: As it was before the edit.
        said: What the message says now.
        parsed: The same, read as if it were new.
        note: What its note says; empty: it has none.
    """
    if parsed.is_numbered:
        return parsed.answers, parsed.rest
    known = _answered_by(debate, said.origin)
    if len(known) != 1 or not said.text:
        return (), said.text
    ((number, before),) = known.items()
    # What came too late is a note, and no words besides.
    is_alone = not note or note.startswith(_about(debate, GivenAnswer(number, "")))
    if not is_alone:
        return (), said.text
    # Somebody may have chosen as the answer what says whom it is for.
    is_same = before in {redact(text) for text in (said.text, said.to + said.text)}
    return [GivenAnswer(number, before if is_same else answer_in(said.text))], ""


def _change(said: PersonsReply) -> str:
    """Tells the answers of one message, and of each of its edits, from others to a question."""
    return "/".join(filter(None, (said.origin, said.edited)))


def _is_changeable(debate: Debate, number: int) -> bool:
    """Whether no agent can have read the answer: its card is open, and the end not called for."""
    is_over = debate.status is not Status.RUNNING or is_cut_short(debate)
    return debate.is_asking(number) and not is_over


def _about(debate: Debate, given: GivenAnswer) -> str:
    """An answer that came too late, as words that stand alone."""
    item = debate.clarification(given.number)
    asked = f" ({item.question})" if item else ""
    return f"On question {given.number}{asked}: {given.text}"
