"""Statistics of shares: confidence intervals, tests of differences, corrections (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, sqrt
from statistics import NormalDist

#: Significance level: the accepted rate of false differences.
ALPHA = 0.05
#: Probabilities with a smaller relative difference are equal.
_ROUNDING = 1e-12
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    mean: float
    low: float
    high: float


def wilson(hits: int, count: int) -> Interval:
    """A share with its 95 % interval, valid for small counts and extreme shares too.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    1927.
    """
    z, share = _NORMAL.inv_cdf(1 - ALPHA / 2), hits / count
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    wide = z * sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return Interval(share, max(0.0, middle - wide), min(1.0, middle + wide))


def exact_p(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The p-value of the difference between two shares (hits, count), by Fisher's exact test.

    Source: R. A. Fisher, "Statistical methods for research workers", 1934; two-sided: sums all
    tables that are no likelier than the observed one.
    """
    (hits, count), (second_hits, second_count) = first, second
    total = hits + second_hits
    tables = comb(count + second_count, total)
    possible = range(max(0, total - second_count), min(count, total) + 1)
    chances = {k: comb(count, k) * comb(second_count, total - k) / tables for k in possible}
    return min(
        1.0, sum(chance for chance in chances.values() if chance <= chances[hits] * (1 + _ROUNDING))
    )


def holm(p_values: Mapping[str, float]) -> Mapping[str, float]:
    """The p values corrected for their number, in the same order.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    ranking = sorted(p_values, key=lambda name: p_values[name])
    corrections: dict[str, float] = {}
    so_far = 0.0
    for rank, name in enumerate(ranking):
        so_far = max(so_far, min(1.0, (len(ranking) - rank) * p_values[name]))
        corrections[name] = so_far
    return {name: corrections[name] for name in p_values}
