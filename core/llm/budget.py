"""Caps on money, and money reserved in the database for calls under way.

Calls cannot pass a cap together: what is spent is read in the transaction that reserves. What a
turn spent stays reserved until its outcome is recorded; what a dead process reserved expires.
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

#: Seconds between two looks whether others have settled.
LOOK_AGAIN_SECONDS = 0.5
#: How long what an attempt did cost counts without being recorded: longer than any turn takes, and
#: than a database is away.
RECORDED_WITHIN = timedelta(minutes=10)
_DEBATE_REMEDY = (
    "To go further, raise the cap of a debate in its form or in the settings "
    "(limits.debate_cost), or ask with fewer agents or rounds."
)
_SHARED_REMEDY = "Ask again tomorrow (UTC), or let whoever runs Moot raise limits.{}."


def caps_of(debate: Debate, caps: Caps, now: datetime) -> Sequence[Cap]:
    """Every cap that is set: the debate's own, its starter's, its token's, the day's.

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
    """The cap of the debate itself; costs nobody knows do not count as spent."""
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
    """Whether somebody chose a debate's own cap: it refuses calls whose price is unknown."""
    return limit != USUAL_DEBATE_COST


def firm_cap(setup: Setup, cost: Decimal | None) -> Decimal | None:
    """What the debate never costs more than; None: there is no such amount.

    Calls whose price is unknown are made under the usual cap, and nobody can tell what they cost.
    `cost` is what the debate is expected to cost (None: a price is unknown).
    """
    cap = setup.limits.debate_cost
    if cap is None or (cost is None and not is_chosen(cap)):
        return None
    return cap


def check_caps(caps: Iterable[Cap], worst: Decimal | None) -> None:
    """Make sure that a call cannot pass any cap, even in the worst case.

    Raises:
        CapReached: It could pass one, or its price is unknown.
    """
    for cap in caps:
        if worst is None and not cap.stops_unpriced:
            continue
        if worst is None:
            message = f"There is a cost cap for {cap.words}, but the model's price is unknown."
            raise CapReached(f"{message} Set its price under `prices` in the settings.")
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
