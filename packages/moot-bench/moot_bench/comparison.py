"""Arms on the same questions: their scores, which differ, and the last line (pure).

The unit is the question: both arms answered it, and what is looked at is the difference. Intervals
are percentile bootstraps widened for small numbers (T. Hesterberg, "What teachers should know about
the bootstrap", 2015). P values come from flipping the signs of the differences (R. A. Fisher, 1935;
for right and wrong it is McNemar's exact test).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from math import ceil, comb, sqrt
from random import Random
from statistics import NormalDist, fmean

from core.figures import percent, points, quantity, score, times
from core.statistics import ALPHA, Interval, holm

from moot_bench.scores import ArmAnswer, accuracy, brier, log_loss


class ArmKind(StrEnum):
    #: One answer of one model.
    SOLO = "solo"
    #: Drafts and a blind vote.
    VOTE = "vote"
    DEBATE = "debate"


class ArmMeasure(StrEnum):
    """What arms are compared by. Of both, more gain is better."""

    ACCURACY = "accuracy"
    BRIER = "Brier score"


@dataclass(frozen=True, kw_only=True)
class ArmScores:
    arm: str
    kind: ArmKind
    answers: Sequence[ArmAnswer]

    @property
    def accuracy(self) -> float:
        return fmean(map(accuracy, self.answers))

    @property
    def brier(self) -> float:
        return fmean(map(brier, self.answers))

    @property
    def log_loss(self) -> float:
        return fmean(map(log_loss, self.answers))

    @property
    def cost(self) -> Decimal | None:
        """US dollars per question; None: a price is unknown."""
        costs = [answer.cost for answer in self.answers if answer.cost is not None]
        are_all_known = len(costs) == len(self.answers)
        return sum(costs, Decimal(0)) / len(costs) if costs and are_all_known else None

    @property
    def unread(self) -> int:
        return sum(not answer.is_read for answer in self.answers)

    def by(self, measure: ArmMeasure) -> float:
        return self.accuracy if measure is ArmMeasure.ACCURACY else self.brier


@dataclass(frozen=True, kw_only=True)
class Comparison:
    arm: ArmScores
    baseline: ArmScores
    #: How much better the arm is; None: fewer than two questions.
    gain: Interval | None
    #: Corrected for how many comparisons there are.
    p: float

    @property
    def is_evident(self) -> bool:
        return self.gain is not None and self.p < ALPHA

    @property
    def cost_factor(self) -> float | None:
        """How many times as much the arm costs; None: not known, or the baseline costs nothing."""
        ours, theirs = self.arm.cost, self.baseline.cost
        return float(ours / theirs) if ours is not None and theirs else None


def compare(arms: Sequence[ArmScores], measure: ArmMeasure) -> Sequence[Comparison]:
    """Each debate against the best vote and the best single model, each vote against the latter.

    "The best" is picked by what is measured here, where level by Brier score, which favours the
    baseline.
    """
    best = {
        kind: max(of_kind, key=lambda scores: (_worth(scores, measure), -scores.brier))
        for kind in (ArmKind.SOLO, ArmKind.VOTE)
        if (of_kind := [arm for arm in arms if arm.kind is kind])
    }
    pairs = [
        (arm, best[kind])
        for arm in arms
        for kind in (ArmKind.VOTE, ArmKind.SOLO)
        if kind in best and (arm.kind is ArmKind.DEBATE or (arm.kind, kind) == _VOTE_SOLO)
    ]
    candidates = list[tuple[ArmScores, ArmScores, Sequence[float]]]()
    for arm, baseline in pairs:
        # How much better the arm is on each question that both answered.
        ours, theirs = _by_question(arm, measure), _by_question(baseline, measure)
        both = [ours[question] - theirs[question] for question in ours if question in theirs]
        candidates.append((arm, baseline, both))
    p_values = {str(index): p_value(gains) for index, (_, _, gains) in enumerate(candidates)}
    corrected = holm(p_values)
    return [
        Comparison(
            arm=arm,
            baseline=baseline,
            gain=paired_bootstrap(gains) if len(gains) >= LEAST_QUESTIONS else None,
            p=corrected[str(index)],
        )
        for index, (arm, baseline, gains) in enumerate(candidates)
    ]


_VOTE_SOLO = (ArmKind.VOTE, ArmKind.SOLO)


def _strength(comparison: Comparison) -> tuple[bool, float]:
    """What makes a comparison the one to tell: evidence first, then its gain."""
    return comparison.is_evident, comparison.gain.mean if comparison.gain else 0.0


def conclusion(comparisons: Sequence[Comparison], measure: ArmMeasure) -> str:
    """The last line: what was found, in a plain sentence that also says "no evidence"."""
    debates = [
        comparison
        for comparison in comparisons
        if comparison.arm.kind is ArmKind.DEBATE and comparison.gain
    ]
    votes = [
        comparison
        for comparison in comparisons
        if comparison.arm.kind is ArmKind.VOTE and comparison.gain
    ]
    # The better baseline counts; where they are level the vote, which has the debate's drafts
    # without its talk.
    most = max((_worth(debate.baseline, measure) for debate in debates), default=0.0)
    level = [debate for debate in debates if _worth(debate.baseline, measure) == most]
    harder = [
        comparison for comparison in level if comparison.baseline.kind is ArmKind.VOTE
    ] or level
    parts: list[str] = []
    if harder:
        parts.append(_verdict(max(harder, key=_strength), "the debate", measure))
    if votes:
        parts.append(_verdict(max(votes, key=_strength), "the vote alone", measure))
    if not parts:
        return "No evidence either way: there are not two arms with two questions to compare."
    questions = max(len(comparison.arm.answers) for comparison in comparisons)
    effect = smallest_effect(questions, comparisons=len(comparisons))
    if measure is ArmMeasure.ACCURACY and not all(
        comparison.is_evident for comparison in (*debates, *votes)
    ):
        parts.append(
            f"With {quantity(questions, 'question')} only a gain of {points(effect)} points or "
            "more would probably have been seen."
            if effect
            else f"{quantity(questions, 'question')} are too few to show a gain."
        )
    return " ".join(parts)


def _verdict(comparison: Comparison, what: str, measure: ArmMeasure) -> str:
    gain, arm, base = comparison.gain, comparison.arm, comparison.baseline
    if gain is None:
        raise AssertionError("a comparison without questions")
    show: Callable[[float], str] = percent if measure is ArmMeasure.ACCURACY else score
    figures = f"{show(arm.by(measure))} against {show(base.by(measure))}"
    unit = "points" if measure is ArmMeasure.ACCURACY else f"points of {measure}"
    span = f"{points(gain.low)} to {points(gain.high)}"
    figures += f", {points(gain.mean)} {unit}, 95% interval {span}"
    factor = comparison.cost_factor
    price = f" at {times(factor)} the cost" if factor is not None else ""
    if not comparison.is_evident:
        return f"No evidence that {what} ({arm.arm}) is better than {base.arm} ({figures}){price}."
    better = "better" if gain.mean > 0 else "worse"
    begin = what[0].upper() + what[1:]
    return f"{begin} ({arm.arm}) is {better} than {base.arm} ({figures}){price}."


def _by_question(arm: ArmScores, measure: ArmMeasure) -> Mapping[str, float]:
    if measure is ArmMeasure.ACCURACY:
        return {answer.question: accuracy(answer) for answer in arm.answers}
    return {answer.question: -brier(answer) for answer in arm.answers}


def _worth(arm: ArmScores, measure: ArmMeasure) -> float:
    return arm.accuracy if measure is ArmMeasure.ACCURACY else -arm.brier


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


def p_value(differences: Sequence[float]) -> float:
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
    chance = Random(1)  # noqa: S311 - no secret
    as_great = 0
    for _ in range(_FLIPS):
        signs = chance.getrandbits(count)
        flipped = sum(size if signs >> index & 1 else -size for index, size in enumerate(sizes))
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


def smallest_effect(questions: int, *, comparisons: int = 1) -> float | None:
    """The smallest gain in accuracy that so many questions find four times of five; None: none.

    In whole percentage points, rounded up; see `questions_needed`.
    """
    for gain in range(1, int(USUALLY_DIFFERING * 100) + 1):
        if questions_needed(gain / 100, comparisons=comparisons) <= questions:
            return gain / 100
    return None


def _student(probability: float, freedom: int) -> float:
    """A quantile of Student's t, by E. A. Cornish and R. A. Fisher's expansion (1937)."""
    z = _NORMAL.inv_cdf(probability)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
