"""Who calls over HTTP: the person a token belongs to, asked for anew with each call."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from core.models import Person


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

    def origin(self, request: str) -> str:
        """Return the origin of what this caller does, so that it can be told by its token.

        Args:
            request: Names the call: the same on every delivery, no two calls share it.
        """
        return f"mcp/{self.token_id}/{request}"


class Callers(Protocol):
    """Knows whose a token is."""

    async def caller(self, bearer: str) -> Caller | None:
        """Return whose token this is; None where it is unknown, revoked or expired.

        Asked with every request and never remembered, so that a revoked token ends at once.

        Args:
            bearer: What stood after `Bearer` in the request's `Authorization`; anything at all.

        Raises:
            StoreDown: The database does not answer.
        """
        ...
