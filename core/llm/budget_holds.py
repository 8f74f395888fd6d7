"""Money held for calls under way: calls made at the same time cannot pass a cap together.

`BudgetHolds` sees to it within one process, `SharedHolds` among processes that share a database.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

import structlog

from core.errors import StoreError
from core.llm.attempt import Attempt
from core.llm.prices import check_caps
from core.models import Cap
from core.ports import Clock, Reservation, Reservations

_log = structlog.get_logger(__name__)

_NOTHING = Decimal(0)
#: Seconds between two looks whether other processes have settled.
LOOK_AGAIN_SECONDS = 0.5
#: How long what an attempt did cost counts without being recorded: longer than any turn takes, and
#: than a database is away.
RECORDED_WITHIN = timedelta(minutes=10)
#: Caps remembered: far more than any hour has debates, people and days. What is older is booked in
#: the database by then, so that `Cap.spent` tells it.
CAPS_KEPT = 4096


@dataclass(frozen=True)
class BudgetHold:
    """Money set aside for one attempt."""

    keys: tuple[str, ...]
    amount: Decimal


class BudgetHolds:
    """What this process spent and holds under each cap.

    A caller's `Cap.spent` may be a moment old. What was spent here since the cap was first seen is
    known exactly; the greater of the two counts, so that a cap is never passed by a stale figure.
    """

    def __init__(self) -> None:
        self._first: dict[str, Decimal] = {}
        self._spent: dict[str, Decimal] = {}
        self._held: dict[str, Decimal] = {}
        self._settled = asyncio.Event()

    async def hold(self, caps: Sequence[Cap], worst: Decimal | None) -> BudgetHold:
        """Set the worst case aside.

        Most calls cost far less than their worst case. So a call that only does not fit because
        of what others hold waits until they have settled.

        Raises:
            CapReached: A cap could be passed, whatever the others will have cost.
        """
        while self._waits_for_others(caps, worst):
            await self._settled.wait()
        check_caps(self._current(caps), worst)
        held = BudgetHold(tuple(cap.key for cap in caps), worst or _NOTHING)
        for key in held.keys:
            self._held[key] = self._held.get(key, _NOTHING) + held.amount
            self._first[key] = self._first.pop(key)  # to the end: used last
        # The caps used longest ago are forgotten, but for those that something is held under.
        for key in list(self._first)[: max(0, len(self._first) - CAPS_KEPT)]:
            if not self._held.get(key):
                for known in (self._first, self._spent, self._held):
                    known.pop(key, None)
        return held

    def settle(self, held: BudgetHold, cost: Decimal | None) -> None:
        """Give back what was held and book what the attempt did cost.

        A cost nobody knows is booked as the worst case.
        """
        spent = held.amount if cost is None else cost
        for key in held.keys:
            self._held[key] = self._held.get(key, _NOTHING) - held.amount
            self._spent[key] = self._spent.get(key, _NOTHING) + spent
        self._settled.set()
        self._settled = asyncio.Event()

    def _waits_for_others(self, caps: Sequence[Cap], worst: Decimal | None) -> bool:
        """Whether the call fits under what is spent, but not under what is held besides."""
        if worst is None:
            return False
        if all(cap.has_room_for(worst) for cap in self._current(caps)):  # as nearly always
            return False
        settled = (replace(cap, spent=self._settled_under(cap)) for cap in caps)
        return all(cap.has_room_for(worst) for cap in settled)

    def _current(self, caps: Iterable[Cap]) -> list[Cap]:
        """The caps with all that is spent or held under them."""
        return [
            replace(cap, spent=self._settled_under(cap) + self._held.get(cap.key, _NOTHING))
            for cap in caps
        ]

    def _settled_under(self, cap: Cap) -> Decimal:
        """What is spent under one cap, as far as anybody knows."""
        here = self._first.setdefault(cap.key, cap.spent) + self._spent.get(cap.key, _NOTHING)
        return max(here, cap.spent)


class SharedHolds:
    """Reserves money for one turn under the caps of a day, which other processes draw on too.

    What is spent is read in the transaction that reserves, so no figure is stale. What a turn
    spent stays reserved until its outcome is recorded, in the same transaction. A process that dies
    holds its worst case only for as long as its call might have taken.
    """

    def __init__(
        self, reservations: Reservations, clock: Clock, *, debate_id: str, turn: str
    ) -> None:
        self._reservations = reservations
        self._clock = clock
        self._debate_id = debate_id
        self._turn = turn

    @asynccontextmanager
    async def hold(
        self, caps: Sequence[Cap], worst: Decimal | None, seconds: float, attempt: Attempt
    ) -> AsyncGenerator[None]:
        """Reserve the worst case for as long as the block lasts, then count what it did cost.

        Args:
            caps: All of the call; those of one debate only are left to `BudgetHolds`.
            worst: The most the attempt can cost; None or nothing: nothing is reserved.
            seconds: The longest that the attempt can take.
            attempt: Says at the end of the block what it did cost.

        Raises:
            CapReached: A cap could be passed, whatever the others will have cost.
            StoreDown: The database does not answer.
        """
        shared = [cap for cap in caps if cap.shared]
        if not shared or not worst:
            yield
            return
        name = secrets.token_hex(16)
        try:
            while True:
                now = self._clock.now()
                reservation = Reservation(
                    id=name,
                    debate_id=self._debate_id,
                    turn=self._turn,
                    amount=worst,
                    expires_at=now + timedelta(seconds=seconds),
                )
                known = await self._reservations.reserve(reservation, shared, at=now)
                if not known:
                    break
                check_caps(known, worst)
                await self._clock.sleep(LOOK_AGAIN_SECONDS)
            yield
        finally:
            # Also when the reserving was cancelled: it may have been done all the same.
            expires_at = self._clock.now() + RECORDED_WITHIN
            try:
                await self._reservations.settle(name, attempt.usage.cost, expires_at=expires_at)
            except StoreError as error:
                _log.warning("a reservation is left to expire", reason=str(error))
