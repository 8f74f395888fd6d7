"""People answer what agents ask, in the thread or in a form; what comes too late is a note."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.commands import Commands
from bot.limits import check_size
from bot.people.reading import Reading, Said, read_reply
from core.errors import BadInput
from core.events import ClarificationAnswered, fold
from core.models import Answer, Clarification, Debate, Person, Status
from core.redaction import redact
from core.rules import schedule


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What somebody said in a debate's thread."""

    debate_id: str
    by: Person
    text: str
    #: The same on every delivery.
    origin: str


@dataclass(frozen=True, kw_only=True)
class Answering:
    """Records answers and notes. Every method may raise `StoreDown` and may be called again."""

    commands: Commands

    async def take_reply(self, reply: Reply) -> bool:
        """Take a reply as answers, as a note, or as both; after the end it is neither.

        Returns:
            False if it came after the end, and nobody will read it.

        Raises:
            BadInput: It is too long, names a question that there is not, or the debate takes no
                more notes. Nothing was recorded.
        """
        debate = await self._debate(reply.debate_id)
        if debate.status is not Status.RUNNING:
            return _was_taken(debate, reply)
        if _is_plain_repeat(debate, reply):
            return True
        check_size(reply.text, self.commands.bounds)
        reading = _understood(debate, reply.text)
        if reading.unknown:
            raise BadInput(_no_such_question(debate, reading.unknown[0]))
        taken = await self._answer(debate, reply, reading)
        rest = "\n".join(filter(None, (reading.rest, *taken)))
        return await self._note(reply, rest) if rest else True

    async def take_form(self, reply: Reply, answers: Sequence[Said]) -> Sequence[int]:
        """Record the answers of a form.

        Returns:
            Numbers of questions that somebody else had answered, or whose time was over: what was
            said about them has become a note, if the debate runs.
        """
        debate = await self._debate(reply.debate_id)
        for said in answers:
            check_size(said.text, self.commands.bounds)
        late: list[int] = []
        for said in answers:
            if await self._record(debate, reply, said):
                continue
            late.append(said.number)
            if said.text and debate.status is Status.RUNNING:
                note = _about(debate, said)
                await self._note(_part(reply, said.number), note)
        self.commands.runner.wake(debate.id)
        return late

    async def skip(self, debate_id: str, numbers: Iterable[int], by: Person, origin: str) -> None:
        """Let the assumptions of these questions hold, where nobody has answered."""
        await self.take_form(
            Reply(debate_id=debate_id, by=by, text="", origin=origin),
            [Said(number, "") for number in numbers],
        )

    async def _answer(self, debate: Debate, reply: Reply, reading: Reading) -> list[str]:
        """Record what a reply answers; return what came too late, as words for a note."""
        late: list[str] = []
        for said in reading.answers:
            if await self._record(debate, reply, said):
                continue
            if reading.is_plain:
                await self.take_reply(reply)  # somebody was faster: on to the next question
            elif said.text:
                late.append(_about(debate, said))
        self.commands.runner.wake(debate.id)
        return late

    async def _record(self, debate: Debate, reply: Reply, said: Said) -> bool:
        """Record one answer; False if the question is not open any more."""
        if said.number not in open_numbers(debate):
            known = debate.answers.get(said.number)
            return known is not None and known.origin == reply.origin
        text = redact(said.text)
        answer = Answer(number=said.number, text=text, by=reply.by, origin=reply.origin)
        appended = await self.commands.store.append(
            debate.id, ClarificationAnswered(answer=answer), at=self.commands.clock.now()
        )
        standing = appended.recorded.event
        return appended.fresh or (
            isinstance(standing, ClarificationAnswered) and standing.answer.origin == reply.origin
        )

    async def _note(self, reply: Reply, text: str) -> bool:
        return await self.commands.add_note(
            reply.debate_id, note_id=reply.origin, author=reply.by, text=text
        )

    async def _debate(self, debate_id: str) -> Debate:
        return fold(await self.commands.store.events(debate_id))


def open_numbers(debate: Debate) -> Sequence[int]:
    """Numbers of the questions people can still answer, oldest first."""
    return [item.number for item in open_items(debate)]


def open_items(debate: Debate) -> Sequence[Clarification]:
    """The questions people can still answer, oldest first; none once only the end is to come."""
    if debate.status is not Status.RUNNING or schedule.is_cut_short(debate):
        return ()
    return debate.open_clarifications


def _understood(debate: Debate, text: str) -> Reading:
    asked = {item.number for opened in debate.clarifications.values() for item in opened.items}
    unanswered = open_numbers(debate)
    if not unanswered and asked:
        numbered = read_reply(text, asked, sorted(asked))
        return Reading(rest=text) if numbered.is_plain else numbered
    return read_reply(text, asked, unanswered)


def _no_such_question(debate: Debate, number: int) -> str:
    numbers = open_numbers(debate)
    still = ", ".join(map(str, numbers))
    return (
        f"There is no question {number}. Still open: {still}. Nothing was recorded; write for "
        f"example “{numbers[0]}: your answer”."
    )


def _is_plain_repeat(debate: Debate, reply: Reply) -> bool:
    """Whether this very message was taken before: an answer to the "oldest" then is none now."""
    return _was_taken(debate, reply) and not _is_numbered(debate, reply.text)


def _was_taken(debate: Debate, reply: Reply) -> bool:
    known = {answer.origin for answer in debate.answers.values()}
    return reply.origin in known | {note.id for note in debate.notes}


def _is_numbered(debate: Debate, text: str) -> bool:
    reading = _understood(debate, text)
    return bool(reading.answers) and not reading.is_plain


def _about(debate: Debate, said: Said) -> str:
    """An answer that came too late, as words that stand alone."""
    item = debate.clarification(said.number)
    asked = f" ({item.question})" if item else ""
    return f"On question {said.number}{asked}: {said.text}"


def _part(reply: Reply, number: int) -> Reply:
    """The same reply as the origin of one of several notes."""
    return Reply(
        debate_id=reply.debate_id,
        by=reply.by,
        text=reply.text,
        origin=f"{reply.origin}:{number}",
    )
