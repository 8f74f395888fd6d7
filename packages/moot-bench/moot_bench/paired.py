"""Whether two arms differ on the same questions: intervals, tests, what could be seen (pure).

The unit is the question: both arms answered it, and what is looked at is the difference. Intervals
are percentile bootstraps widened for small numbers (T. Hesterberg, "What teachers should know about
the bootstrap", 2015). P values come from flipping the signs of the differences (R. A. Fisher, 1935;
for right and wrong it is McNemar's exact test).
"""

from collections.abc import Sequence
from math import ceil, comb, sqrt
from random import Random
from statistics import NormalDist, fmean

from core.statistics import ALPHA, Interval

#: How often a difference that is there is to be found.
POWER = 0.8
#: Two arms come out differently on about so many of the questions.
USUALLY_DIFFERING = 0.3
RESAMPLES = 4000
#: Two are needed to say anything of how questions vary.
LEAST_QUESTIONS = 2
_FLIPS = 4000
#: Sums of signed differences that are this close are the same.
_ROUNDING = 1e-12
_NORMAL = NormalDist()


def paired_bootstrap(
    differences: Sequence[float], *, seed: int = 1, resamples: int = RESAMPLES
) -> Interval:
    """The mean difference over questions (one each) with its 95 % interval.

    Raises:
        ValueError: Fewer than `LEAST_QUESTIONS` questions.
    """
    count = len(differences)
    if count < LEAST_QUESTIONS:
        raise ValueError("An interval needs at least two questions.")
    chance = Random(seed)  # noqa: S311 - no secret: the same interval every time
    means = sorted(sum(chance.choices(differences, k=count)) / count for _ in range(resamples))
    # A plain percentile interval is too narrow by the factor that Student's t corrects.
    wide = _student(1 - ALPHA / 2, count - 1) * sqrt(count / (count - 1))
    tail = _NORMAL.cdf(-wide)
    last = resamples - 1
    low, high = means[round(tail * last)], means[round((1 - tail) * last)]
    return Interval(fmean(differences), low, high)


def p_value(differences: Sequence[float], *, seed: int = 1) -> float:
    """How often differences at least so great come up where the two arms are the same.

    Exact where all differences are of one size (right against wrong), else drawn.
    """
    sizes = [abs(difference) for difference in differences if abs(difference) > _ROUNDING]
    if not sizes:
        return 1.0
    count, total = len(sizes), abs(sum(differences))
    if max(sizes) - min(sizes) <= _ROUNDING:
        ahead = round((total / sizes[0] + count) / 2)
        tail = sum(comb(count, k) for k in range(ahead, count + 1)) / 2**count
        return min(1.0, 2 * tail)
    chance = Random(seed)  # noqa: S311 - no secret
    as_great = 0
    for _ in range(_FLIPS):
        signs = chance.getrandbits(count)
        flipped = sum(size if signs >> at & 1 else -size for at, size in enumerate(sizes))
        as_great += abs(flipped) >= total - _ROUNDING
    return (as_great + 1) / (_FLIPS + 1)


def questions_needed(
    gain: float, *, differing: float = USUALLY_DIFFERING, comparisons: int = 1
) -> int:
    """How many questions find a gain in accuracy (0 to 1) four times of five.

    `differing` is the share of questions that one arm has right and the other wrong. Source: J. L.
    Fleiss, "Statistical methods for rates and proportions", on paired proportions, with the
    correction that exact tests need.
    """
    if not 0 < gain <= differing:
        raise ValueError("A gain is more than 0 and at most the share of questions that differ.")
    z_alpha = _NORMAL.inv_cdf(1 - ALPHA / (2 * comparisons))
    z_power = _NORMAL.inv_cdf(POWER)
    spread = z_alpha * sqrt(differing) + z_power * sqrt(max(0.0, differing - gain**2))
    plain = (spread / gain) ** 2
    return ceil(plain / 4 * (1 + sqrt(1 + 4 / (plain * gain))) ** 2)


def smallest_effect(
    questions: int, *, differing: float = USUALLY_DIFFERING, comparisons: int = 1
) -> float | None:
    """The smallest gain in accuracy that so many questions find four times of five; None: none.

    In whole percentage points, rounded up; see `questions_needed`.
    """
    for points in range(1, int(differing * 100) + 1):
        needed = questions_needed(points / 100, differing=differing, comparisons=comparisons)
        if needed <= questions:
            return points / 100
    return None


def _student(probability: float, freedom: int) -> float:
    """A quantile of Student's t, by E. A. Cornish and R. A. Fisher's expansion (1937)."""
    z = _NORMAL.inv_cdf(probability)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
