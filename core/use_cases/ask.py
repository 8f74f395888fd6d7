"""People ask about a decided debate: the judge answers in the thread, from the record."""

import asyncio
from dataclasses import dataclass, field

from core.debate.people import Person
from core.debate.people_events import FollowUpAsked
from core.debate.state import Debate, Status
from core.debate.verdict import FollowUp
from core.errors import BadInput
from core.ports import Spending
from core.redaction import redact
from core.settings import Caps
from core.usage import SpendingScope
from core.use_cases.fact_log import FactLog
from core.use_cases.limits import Bounds, check_money, check_size


@dataclass(frozen=True, kw_only=True, eq=False)
class AskAboutDebate:
    """Takes questions after the verdict. May raise `StoreDown`, and may then be called again."""

    facts: FactLog
    bounds: Bounds
    #: What people may spend in a day.
    caps: Caps
    #: Knows what was spent.
    spending: Spending
    #: Questions are counted and added one after another, so that the bound holds in this process.
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def check(self, debate: Debate) -> None:
        """Raise `BadInput` where there is no verdict yet, or room for no more questions."""
        if debate.status is Status.RUNNING or debate.verdict is None:
            raise BadInput(
                f"Debate `{debate.id}` has no verdict to ask about. While it runs, a reply in its "
                "thread reaches the agents."
            )
        if len(debate.follow_ups) >= self.bounds.questions_per_debate:
            raise BadInput(
                f"{len(debate.follow_ups)} questions were asked about debate `{debate.id}`, as "
                "many as one takes. Read its report, or start a debate that goes on from it."
            )

    async def ask(self, debate_id: str, *, question_id: str, by: Person, text: str) -> None:
        """Put a question to the judge. Calling it again with the same id changes nothing.

        Raises:
            BadInput: It is empty or too long, nothing can be asked, or the day's money is spent.
        """
        async with self._asking:
            debate = await self.facts.debate(debate_id)
            if any(follow_up.id == question_id for follow_up in debate.follow_ups):
                return
            self.check(debate)
            check_size(text, self.bounds)
            if not text.strip():
                raise BadInput("Write what you want to know about this debate.")
            # The answer is charged to the starter; the asker's own daily cap is checked as well.
            day = self.facts.clock.now().date()
            whose = SpendingScope(day, debate.setup.place.workspace, by.id, debate.setup.token)
            otherwise = "the judge was not asked"
            await check_money(self.caps, self.spending, whose, otherwise=otherwise)
            follow_up = FollowUp(id=question_id, by=by, text=redact(text.strip()))
            await self.facts.record(debate_id, FollowUpAsked(question=follow_up))
