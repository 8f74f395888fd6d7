"""Money held for calls under way: calls made at the same time cannot pass a cap together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from core.budget import Cap, check_caps

_NOTHING = Decimal(0)


@dataclass(frozen=True)
class Hold:
    """Money set aside for one attempt."""

    keys: tuple[str, ...]
    amount: Decimal


class Ledger:
    """What this process spent and holds under each cap.

    A caller's `Cap.spent` may be a moment old. What was spent here since the cap was first seen is
    known exactly; the greater of the two counts, so that a cap is never passed by a stale figure.
    """

    def __init__(self) -> None:
        self._first: dict[str, Decimal] = {}
        self._spent: dict[str, Decimal] = {}
        self._held: dict[str, Decimal] = {}

    def hold(self, caps: Sequence[Cap], worst: Decimal | None) -> Hold:
        """Set the worst case aside.

        Raises:
            LimitReached: A cap could be passed.
        """
        check_caps(self._current(caps), worst)
        held = Hold(tuple(cap.key for cap in caps), worst or _NOTHING)
        for key in held.keys:
            self._held[key] = self._held.get(key, _NOTHING) + held.amount
        return held

    def settle(self, held: Hold, cost: Decimal | None) -> None:
        """Give back what was held and book what the attempt did cost.

        A cost nobody knows is booked as the worst case.
        """
        spent = held.amount if cost is None else cost
        for key in held.keys:
            self._held[key] -= held.amount
            self._spent[key] = self._spent.get(key, _NOTHING) + spent

    def _current(self, caps: Iterable[Cap]) -> list[Cap]:
        """The caps with all that is spent or held under them."""
        return [replace(cap, spent=self._spent_under(cap)) for cap in caps]

    def _spent_under(self, cap: Cap) -> Decimal:
        """What is spent and held under one cap."""
        here = self._first.setdefault(cap.key, cap.spent) + self._spent.get(cap.key, _NOTHING)
        return max(here, cap.spent) + self._held.get(cap.key, _NOTHING)
