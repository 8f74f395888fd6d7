"""Shares that were counted: their intervals, whether two differ, several tests together (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist

#: How often a difference that is not there may be found.
ALPHA = 0.05
#: Chances that are this close are the same.
_ROUNDING = 1e-12
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    mean: float
    low: float
    high: float


def wilson(hits: int, count: int) -> Interval:
    """A share with its 95 % interval, true for few and for extreme ones too.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    1927.
    """
    z, share = _NORMAL.inv_cdf(1 - ALPHA / 2), hits / count
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    wide = z * sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return Interval(share, max(0.0, middle - wide), min(1.0, middle + wide))


def exact_p(first: tuple[int, int], other: tuple[int, int]) -> float:
    """The p-value of the difference between two shares (hits, count), by Fisher's exact test.

    Source: R. A. Fisher, "Statistical methods for research workers", 1934; two-sided: sums all
    tables that are no likelier than the observed one.
    """
    (hits, count), (other_hits, others) = first, other
    total, ways = hits + other_hits, comb(count + others, hits + other_hits)
    possible = range(max(0, total - others), min(count, total) + 1)
    chances = {k: comb(count, k) * comb(others, total - k) / ways for k in possible}
    return min(
        1.0, sum(chance for chance in chances.values() if chance <= chances[hits] * (1 + _ROUNDING))
    )


def holm(p_values: Mapping[str, float]) -> Mapping[str, float]:
    """The p values corrected for how many there are; in the order given.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    ranked = sorted(p_values, key=lambda name: p_values[name])
    corrected: dict[str, float] = {}
    so_far = 0.0
    for rank, name in enumerate(ranked):
        so_far = max(so_far, min(1.0, (len(ranked) - rank) * p_values[name]))
        corrected[name] = so_far
    return {name: corrected[name] for name in p_values}
