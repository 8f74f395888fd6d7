"""People answer what agents ask, in the thread or in a form; what comes too late is a note."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from core.errors import BadInput
from core.events import ClarificationAnswered
from core.models import Answer, Debate, Person, Status
from core.redaction import redact
from core.rules.schedule import open_questions
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_size
from core.use_cases.note import AddNote
from core.use_cases.reply_parsing import GivenAnswer, ParsedReply, parse_reply


@dataclass(frozen=True, kw_only=True)
class PersonsReply:
    """What somebody said in a debate's thread or form."""

    debate_id: str
    by: Person
    text: str = ""
    #: The same on every delivery.
    origin: str


@dataclass(frozen=True, kw_only=True)
class AnswerQuestions:
    """Records answers and notes. Every method may raise `StoreDown` and may be called again."""

    facts: FactLog
    note: AddNote
    bounds: Bounds

    async def reply(self, said: PersonsReply) -> bool:
        """Take a reply in the thread as answers, as a note, or as both.

        Returns:
            False if it came after the end, and nobody will read it.

        Raises:
            BadInput: It is too long, names a question that there is not, or the debate takes no
                more notes. Nothing was recorded.
        """
        debate = await self.facts.debate(said.debate_id)
        if debate.status is not Status.RUNNING:
            return _was_taken(debate, said.origin)
        parsed = _parsed(debate, said.text)
        is_numbered = bool(parsed.answers) and not parsed.is_plain
        if _was_taken(debate, said.origin) and not is_numbered:
            # Delivered again. Its question is answered: it must not answer the next one.
            return True
        check_size(said.text, self.bounds)
        if parsed.unknown:
            raise BadInput(_no_such_question(debate, parsed.unknown[0]))
        left = [parsed.rest]
        for answer in parsed.answers:
            if await self._record(debate, said, answer):
                continue
            if parsed.is_plain:
                # Somebody else answered the oldest question meanwhile: on to the next one.
                return await self.reply(said)
            if answer.text:
                left.append(_about(debate, answer))
        note = "\n".join(filter(None, left))
        return await self._add_note(said, note) if note else True

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

    async def _record(self, debate: Debate, said: PersonsReply, given: GivenAnswer) -> bool:
        """Record one answer; False if the question is not open any more."""
        if given.number not in open_numbers(debate):
            known = debate.answers.get(given.number)
            return known is not None and known.origin == said.origin
        text = redact(given.text)
        answer = Answer(number=given.number, text=text, by=said.by, origin=said.origin)
        appended = await self.facts.record(debate.id, ClarificationAnswered(answer=answer))
        standing = appended.recorded.event
        return appended.fresh or (
            isinstance(standing, ClarificationAnswered) and standing.answer.origin == said.origin
        )

    async def _add_note(self, said: PersonsReply, text: str) -> bool:
        return await self.note.add(said.debate_id, note_id=said.origin, author=said.by, text=text)


def open_numbers(debate: Debate) -> Sequence[int]:
    """Numbers of the questions people can still answer, oldest first."""
    return [item.number for item in open_questions(debate)]


def _parsed(debate: Debate, text: str) -> ParsedReply:
    asked = {item.number for opened in debate.clarifications.values() for item in opened.items}
    unanswered = open_numbers(debate)
    if not unanswered and asked:
        numbered = parse_reply(text, asked, sorted(asked))
        return ParsedReply(rest=text) if numbered.is_plain else numbered
    return parse_reply(text, asked, unanswered)


def _no_such_question(debate: Debate, number: int) -> str:
    numbers = open_numbers(debate)
    still = ", ".join(map(str, numbers))
    return (
        f"There is no question {number}. Still open: {still}. Nothing was recorded; write for "
        f"example “{numbers[0]}: your answer”."
    )


def _was_taken(debate: Debate, origin: str) -> bool:
    answered = any(answer.origin == origin for answer in debate.answers.values())
    return answered or any(note.id == origin for note in debate.notes)


def _about(debate: Debate, given: GivenAnswer) -> str:
    """An answer that came too late, as words that stand alone."""
    item = debate.clarification(given.number)
    asked = f" ({item.question})" if item else ""
    return f"On question {given.number}{asked}: {given.text}"
