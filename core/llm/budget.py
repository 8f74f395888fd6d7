"""Caps on money, and reservations in the database for calls under way.

The transaction that reserves money also reads what is spent, so that concurrent calls cannot pass
a cap together. The cost of a call stays reserved until the outcome of its turn is recorded;
reservations of a dead process expire.
"""

import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_DOWN, ROUND_UP, Decimal

import structlog

from core.debate.rules import USUAL_DEBATE_COST
from core.debate.setup import Setup
from core.debate.state import Debate
from core.errors import CapReached, StoreError
from core.figures import money
from core.ports import Clock, Reservation, Reservations
from core.settings import Caps
from core.usage import Cap, SpendingScope, Usage

_log = structlog.get_logger(__name__)

#: Seconds between two tries to reserve money that other calls have reserved.
BUDGET_POLL_SECONDS = 0.5
#: How long the cost of an attempt stays reserved before it is recorded: longer than a turn, or an
#: outage of the database, takes.
RECORDING_TIME = timedelta(minutes=10)
_DEBATE_REMEDY = (
    "To go further, raise the cap of a debate in its form or in the settings "
    "(limits.debate_cost), or ask with fewer agents or rounds."
)
_SHARED_REMEDY = "Ask again tomorrow (UTC), or let whoever runs Moot raise limits.{}."


def caps_of(debate: Debate, caps: Caps, now: datetime) -> Sequence[Cap]:
    """All caps that apply to a debate: its own, per person, per token and per day.

    The amounts spent under shared caps are read when money is reserved.
    """
    workspace, day = debate.setup.place.workspace, now.astimezone(UTC).date()
    person, token = debate.setup.asked_by, debate.setup.token
    shared = [
        (
            "person_day_cost",
            f"person/{workspace}/{person.id}/{day}",
            f"{person.name or 'one person'} today",
            SpendingScope(day, workspace, person.id),
        ),
        ("day_cost", f"day/{workspace}/{day}", "all debates today", SpendingScope(day, workspace)),
    ]
    if token:
        scope = SpendingScope(day, workspace, token=token)
        shared.insert(1, ("token_day_cost", f"token/{token}/{day}", "this token today", scope))
    return [
        *own_cap(debate),
        *(
            Cap(key, words, limit, remedy=_SHARED_REMEDY.format(setting), scope=scope)
            for setting, key, words, scope in shared
            if (limit := getattr(caps, setting)) is not None
        ),
    ]


def own_cap(debate: Debate) -> Sequence[Cap]:
    """The cap of the debate itself, if it has one. Unknown costs do not count as spent."""
    limit = debate.setup.limits.debate_cost
    if limit is None:
        return ()
    return (
        Cap(
            f"debate/{debate.id}",
            "this debate",
            limit,
            debate.usage.cost or Decimal(0),
            remedy=_DEBATE_REMEDY,
            stops_unpriced=is_chosen(limit),
            scope=SpendingScope(debate_id=debate.id),
        ),
    )


def is_chosen(limit: Decimal) -> bool:
    """Whether a person or a setting chose this cap; then it refuses calls of unknown price."""
    return limit != USUAL_DEBATE_COST


def firm_cap(setup: Setup, cost: Decimal | None) -> Decimal | None:
    """The amount that the debate cannot exceed; None if there is no such amount.

    The default cap allows calls of unknown price, so it guarantees nothing if there are any.
    `cost` is the expected cost of the debate (None: a price is unknown).
    """
    cap = setup.limits.debate_cost
    if cap is None or (cost is None and not is_chosen(cap)):
        return None
    return cap


def check_caps(caps: Iterable[Cap], worst: Decimal | None) -> None:
    """Check that a call of this worst-case cost (None: unknown) passes no cap.

    Raises:
        CapReached: The call could pass a cap, or a chosen cap refuses an unknown price.
    """
    for cap in caps:
        if worst is None and not cap.stops_unpriced:
            continue
        if worst is None:
            message = f"There is a cost cap for {cap.words}, but the model's price is unknown."
            remedy = "Whoever runs Moot can set it: `prices` in the settings file."
            raise CapReached(f"{message} {remedy}")
        if not cap.has_room_for(worst):
            remaining = max(Decimal(0), cap.limit - cap.kept - cap.spent)
            reserve = (
                f" ({money(cap.kept)} are kept for the vote and the verdict)" if cap.kept else ""
            )
            text = (
                f"The cost cap for {cap.words} is {money(cap.limit)}; "
                f"{money(remaining, rounding=ROUND_DOWN)} is left{reserve}, "
                f"and the next call may cost {money(worst, rounding=ROUND_UP)}."
            )
            raise CapReached(f"{text} {cap.remedy}".rstrip())


class Attempt:
    """Receives the first token of a reply; keeps the cost of the attempt."""

    def __init__(self) -> None:
        #: Called at the first token: calls that share a cached prefix with this one may start.
        self.on_first_token: Callable[[], None] = lambda: None
        #: Whether the first token came. Vendors charge for the prompt only then.
        self.has_begun = False
        #: The cost is 0 before the first token, None if unknown.
        self.usage = Usage()

    def __call__(self) -> None:
        self.has_begun = True
        self.on_first_token()


@dataclass(frozen=True, kw_only=True)
class Budget:
    reservations: Reservations
    debate_id: str
    #: Key of the turn.
    turn: str

    @asynccontextmanager
    async def reserve(
        self, caps: Sequence[Cap], worst: Decimal, *, seconds: float, attempt: Attempt, clock: Clock
    ) -> AsyncGenerator[bool]:
        """Reserve the worst-case cost during the block, then settle it to the real cost.

        Most calls cost far less than their worst case. So a call that does not fit only because
        of other calls' reservations can try again after these are settled. The reservation
        expires after `seconds`.

        Yields:
            Whether the money is reserved.

        Raises:
            CapReached: The call could pass a cap even if the other calls cost nothing.
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
            # Also after a cancelled `reserve`: the database may have stored the reservation.
            expires_at = clock.now() + RECORDING_TIME
            try:
                await self.reservations.settle(
                    reservation.id, attempt.usage.cost, expires_at=expires_at
                )
            except StoreError as error:
                _log.warning("a reservation is left to expire", reason=str(error))
