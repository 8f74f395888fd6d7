"""Who calls over HTTP: the person a token belongs to, looked for in Slack with every call."""

from dataclasses import dataclass
from decimal import Decimal

from bot.slack.access import Accesses
from bot.store.personal_tokens import PersonalTokens
from core.debate.people import Person
from core.ports import Clock, Spending
from core.usage import SpendingScope


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The person on whose behalf a program calls, and what their token allows."""

    workspace: str
    person: Person
    #: Names the token in origins and logs; says nothing about its secret.
    token_id: str
    #: US dollars that a debate started now may cost at most; None: the token sets no cap. 0: the
    #: token's money is spent, and nothing can be started with it.
    cap: Decimal | None = None


@dataclass(frozen=True, kw_only=True)
class TokenCallers:
    """Knows whose a token is.

    Asked with every request and never remembered, so that a revoked token ends at once.
    """

    tokens: PersonalTokens
    access: Accesses
    spending: Spending
    clock: Clock
    #: US dollars that debates started with one token may cost a day (UTC); None: any.
    day_cost: Decimal | None = None

    async def caller(self, bearer: str) -> Caller | None:
        """The owner of a token; None: unknown, or no longer in the workspace.

        Raises:
            SlackSilent: Slack did not say in time whether its owner is still there.
        """
        now = self.clock.now()
        token = await self.tokens.find(bearer, now)
        if token is None:
            return None
        workspace, person = token.workspace, token.person
        user = await self.access.of(workspace).active(person)
        if user is None:  # has left the workspace
            await self.tokens.revoke(workspace, person)
            return None
        cap = None
        if self.day_cost is not None:
            spent = await self.spending.total_cost(
                SpendingScope(now.date(), workspace, token=token.id)
            )
            cap = max(self.day_cost - spent, Decimal(0))
        who = Person(id=person, name=user.name)
        return Caller(workspace=workspace, person=who, token_id=token.id, cap=cap)
