"""Money held for calls under way: calls made at the same time cannot pass a cap together."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from core.llm.prices import check_caps, fits
from core.models import Cap

_NOTHING = Decimal(0)
#: Caps remembered: far more than any hour has debates, people and days. What is older is booked in
#: the database by then, so that `Cap.spent` tells it.
CAPS_KEPT = 4096


@dataclass(frozen=True)
class Hold:
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

    async def hold(self, caps: Sequence[Cap], worst: Decimal | None) -> Hold:
        """Set the worst case aside.

        Most calls cost far less than their worst case. So a call that only does not fit because
        of what others hold waits until they have settled.

        Raises:
            CapReached: A cap could be passed, whatever the others will have cost.
        """
        while self._waits_for_others(caps, worst):
            await self._settled.wait()
        check_caps(self._current(caps), worst)
        held = Hold(tuple(cap.key for cap in caps), worst or _NOTHING)
        for key in held.keys:
            self._held[key] = self._held.get(key, _NOTHING) + held.amount
            self._first[key] = self._first.pop(key)  # to the end: used last
        self._forget_oldest()
        return held

    def settle(self, held: Hold, cost: Decimal | None) -> None:
        """Give back what was held and book what the attempt did cost.

        A cost nobody knows is booked as the worst case.
        """
        spent = held.amount if cost is None else cost
        for key in held.keys:
            self._held[key] = self._held.get(key, _NOTHING) - held.amount
            self._spent[key] = self._spent.get(key, _NOTHING) + spent
        self._settled.set()
        self._settled = asyncio.Event()

    def _forget_oldest(self) -> None:
        """Drop the caps used longest ago that nothing is held under."""
        for key in list(self._first)[: max(0, len(self._first) - CAPS_KEPT)]:
            if not self._held.get(key):
                for known in (self._first, self._spent, self._held):
                    known.pop(key, None)

    def _waits_for_others(self, caps: Sequence[Cap], worst: Decimal | None) -> bool:
        """Whether the call fits under what is spent, but not under what is held besides."""
        if worst is None:
            return False
        settled = [replace(cap, spent=self._settled_under(cap)) for cap in caps]
        could = all(fits(cap, worst) for cap in settled)
        return could and not all(fits(cap, worst) for cap in self._current(caps))

    def _current(self, caps: Iterable[Cap]) -> list[Cap]:
        """The caps with all that is spent or held under them."""
        return [replace(cap, spent=self._spent_under(cap)) for cap in caps]

    def _spent_under(self, cap: Cap) -> Decimal:
        """What is spent and held under one cap."""
        return self._settled_under(cap) + self._held.get(cap.key, _NOTHING)

    def _settled_under(self, cap: Cap) -> Decimal:
        """What is spent under one cap, as far as anybody knows."""
        here = self._first.setdefault(cap.key, cap.spent) + self._spent.get(cap.key, _NOTHING)
        return max(here, cap.spent)
