"""Planted truth: what is known to be there is found, and what is not there is not."""

import random

import pytest
from core.statistics import ALPHA, holm

from moot_bench.comparison import (
    POWER,
    p_value,
    paired_bootstrap,
    questions_needed,
    smallest_effect,
)

RUNS = 1000


def right_or_wrong(dice: random.Random, count: int, differing: float, gain: float) -> list[float]:
    """Differences of two arms: one right where the other is wrong, with a known mean."""
    better, worse = (differing + gain) / 2, (differing - gain) / 2
    return [float(d) for d in dice.choices((1, -1, 0), (better, worse, 1 - differing), k=count)]


def briers(dice: random.Random, count: int) -> list[float]:
    """Skewed differences with mean 0.02, as Brier scores have them."""
    return [0.02 + (dice.expovariate(10) - 0.1) * 0.6 for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["accuracy", "brier"])
def test_the_interval_covers_the_truth_in_95_of_100_runs(kind: str) -> None:
    dice, covered = random.Random(5), 0
    truth = 0.1 if kind == "accuracy" else 0.02
    for run in range(RUNS):
        gains = right_or_wrong(dice, 80, 0.3, truth) if kind == "accuracy" else briers(dice, 100)
        interval = paired_bootstrap(gains, seed=run, resamples=300)
        covered += interval.low <= truth <= interval.high
    assert 0.93 * RUNS <= covered <= 0.97 * RUNS


@pytest.mark.parametrize(("gain", "differing"), [(0.10, 0.2), (0.10, 0.3), (0.2, 0.4)])
def test_a_planted_gain_is_found_with_the_stated_number_of_questions(
    gain: float, differing: float
) -> None:
    dice, count = random.Random(3), questions_needed(gain, differing=differing)
    hits = sum(p_value(right_or_wrong(dice, count, differing, gain)) < ALPHA for _ in range(RUNS))
    assert (POWER - 0.03) * RUNS <= hits <= (POWER + 0.06) * RUNS


def test_where_no_arm_differs_holm_finds_one_in_at_most_5_of_100_runs() -> None:
    dice, plain, corrected = random.Random(9), 0, 0
    for _ in range(RUNS):
        p_values = {
            f"arm {number}": p_value(right_or_wrong(dice, 120, 0.4, 0.0)) for number in range(6)
        }
        plain += min(p_values.values()) < ALPHA
        corrected += min(holm(p_values).values()) < ALPHA
    assert plain > 0.10 * RUNS  # so that there is something to correct
    assert corrected <= ALPHA * RUNS


def test_drawn_p_values_agree_with_exact_ones() -> None:
    exact = p_value([1.0] * 14 + [-1.0] * 5)
    drawn = p_value([1.0] * 14 + [-1.0] * 4 + [-1.0001])
    assert exact == pytest.approx(0.0636, abs=0.001)
    assert drawn == pytest.approx(exact, abs=0.02)


def test_without_a_difference_there_is_none_and_one_question_has_no_interval() -> None:
    assert p_value([0.0, 0.0, 0.0]) == p_value([]) == 1.0
    interval = paired_bootstrap([0.0, 0.0, 0.0])
    assert (interval.mean, interval.low, interval.high) == (0, 0, 0)
    with pytest.raises(ValueError, match="two questions"):
        paired_bootstrap([1.0])


def test_what_can_be_seen_is_known_before_spending() -> None:
    assert smallest_effect(3) is None
    assert smallest_effect(30) == 0.3
    few, many = smallest_effect(100) or 0, smallest_effect(1000) or 0
    assert 0 < many < few < (smallest_effect(100, comparisons=6) or 0)
    assert questions_needed(few) <= 100 < questions_needed(few - 0.01)
    with pytest.raises(ValueError, match="gain"):
        questions_needed(0.4, differing=0.3)
