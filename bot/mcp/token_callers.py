"""Whose a person's token is: its owner is looked for in Slack with every call."""

from dataclasses import dataclass
from decimal import Decimal

from bot.mcp.caller import Caller
from bot.slack.access import Accesses
from bot.store.personal_tokens import PersonalTokens
from core.models import Person
from core.ports import Clock, Spending


@dataclass(frozen=True, kw_only=True)
class TokenCallers:
    """The `Callers` of a running bot."""

    tokens: PersonalTokens
    access: Accesses
    spending: Spending
    clock: Clock
    #: US dollars that debates started with one token may cost a day (UTC); None: any.
    day_cost: Decimal | None = None

    async def caller(self, bearer: str) -> Caller | None:
        """Return whose token this is.

        Raises:
            SlackSilent: Slack did not say in time whether its owner is still there.
            StoreDown: The database does not answer.
        """
        now = self.clock.now()
        token = await self.tokens.owned(bearer, now)
        if token is None:
            return None
        workspace, person = token.workspace, token.person
        found = await self.access.of(workspace).active(person)
        if found is None:  # whoever comes back makes another one
            await self.tokens.revoke(workspace, person)
            return None
        left = None
        if self.day_cost is not None:
            spent = await self.spending.spent(now.date(), workspace=workspace, token=token.id)
            left = max(self.day_cost - spent, Decimal(0))
        who = Person(id=person, name=found.name)
        return Caller(workspace=workspace, person=who, token_id=token.id, cap=left)
