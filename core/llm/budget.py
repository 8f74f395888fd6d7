"""Money reserved in the database for calls under way: calls cannot pass a cap together.

What is spent is read in the transaction that reserves, so no figure is stale. What a turn spent
stays reserved until its outcome is recorded; what a dead process reserved expires.
"""

import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import structlog

from core.errors import StoreError
from core.llm.prices import check_caps
from core.ports import Clock, Reservation, Reservations
from core.usage import Cap, Usage

_log = structlog.get_logger(__name__)

#: Seconds between two looks whether others have settled.
LOOK_AGAIN_SECONDS = 0.5
#: How long what an attempt did cost counts without being recorded: longer than any turn takes, and
#: than a database is away.
RECORDED_WITHIN = timedelta(minutes=10)


class Attempt:
    """Passes on that a reply began; remembers it and what it has cost."""

    def __init__(self) -> None:
        #: Told that the reply begins: others that share its beginning may go on.
        self.warmup: Callable[[], None] = lambda: None
        #: Whether the reply has begun: only then the prompt is paid for.
        self.begun = False
        #: Its cost is nothing before it began, and None when nobody knows.
        self.usage = Usage()

    def __call__(self) -> None:
        self.begun = True
        self.warmup()


@dataclass(frozen=True, kw_only=True)
class Budget:
    reservations: Reservations
    debate_id: str
    #: Key of the turn.
    turn: str

    @asynccontextmanager
    async def hold(
        self, caps: Sequence[Cap], worst: Decimal, *, seconds: float, attempt: Attempt, clock: Clock
    ) -> AsyncGenerator[bool]:
        """Reserve the worst case for as long as the block lasts, then count what it did cost.

        Most calls cost far less than their worst case. So a call that only does not fit because
        of what others hold tries again once they may have settled. The attempt takes `seconds` at
        most.

        Yields:
            Whether the money is reserved.

        Raises:
            CapReached: A cap could be passed, whatever the others will have cost.
            StoreDown: The database does not answer.
        """
        now = clock.now()
        reservation = Reservation(
            id=secrets.token_hex(16),
            debate_id=self.debate_id,
            turn=self.turn,
            amount=worst,
            expires_at=now + timedelta(seconds=seconds),
        )
        try:
            current = await self.reservations.reserve(reservation, caps, at=now)
            check_caps(current, worst)
            yield not current
        finally:
            # Also when the reserving was cancelled: it may have been done all the same.
            expires_at = clock.now() + RECORDED_WITHIN
            try:
                await self.reservations.settle(
                    reservation.id, attempt.usage.cost, expires_at=expires_at
                )
            except StoreError as error:
                _log.warning("a reservation is left to expire", reason=str(error))
