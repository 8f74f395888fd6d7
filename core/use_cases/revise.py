"""The author of what is reviewed hands in the changed text, and the agents look again."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.debate.evidence import SourceReference
from core.debate.people import Person
from core.debate.state import Debate
from core.errors import BadInput
from core.rules.formats import review
from core.rules.formats.review import handing_in_words
from core.rules.schedule import open_questions
from core.use_cases.answer import AnswerQuestions


@dataclass(frozen=True, kw_only=True)
class SubmitRevision:
    """Takes changed texts. May raise `StoreDown`, and may then be called again."""

    answer: AnswerQuestions

    async def submit(
        self, debate: Debate, by: Person, references: Sequence[SourceReference], *, origin: str
    ) -> Debate:
        """Hand in a changed text; findings that are still open to be answered are skipped.

        Calling it again with the same origin changes nothing.
        """
        facts = self.answer.facts
        if all(note.id != origin for note in debate.all_notes):
            if fault := review.revision_fault(debate):
                raise BadInput(f"{fault} Nothing was recorded.")
            await self.answer.note.add(
                debate.id,
                note_id=origin,
                author=by,
                text=handing_in_words([reference.title for reference in references]),
                references=references,
            )
        debate = await facts.debate(debate.id)
        card = debate.clarifications.get(review.ASKING.key)
        numbers = {item.number for item in card.items} if card else set[int]()
        open_numbers = [item.number for item in open_questions(debate) if item.number in numbers]
        await self.answer.skip(debate.id, open_numbers, by, f"{origin}/skip")
        return await facts.debate(debate.id)
