"""Arms on the same questions: their scores, which differ, and the last line (pure)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from statistics import fmean

from core.figures import percent, points, quantity, score, times
from core.statistics import ALPHA, Interval, holm

from moot_bench.paired import LEAST_QUESTIONS, p_value, paired_bootstrap, smallest_effect
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
        whole = len(costs) == len(self.answers)
        return sum(costs, Decimal(0)) / len(costs) if costs and whole else None

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
    p_values = {str(at): p_value(gains) for at, (_, _, gains) in enumerate(candidates)}
    corrected = holm(p_values)
    return [
        Comparison(
            arm=arm,
            baseline=baseline,
            gain=paired_bootstrap(gains) if len(gains) >= LEAST_QUESTIONS else None,
            p=corrected[str(at)],
        )
        for at, (arm, baseline, gains) in enumerate(candidates)
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
