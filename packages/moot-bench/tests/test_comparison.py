"""Which arms differ, and what the last line says of it."""

import random
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from core.statistics import ALPHA, holm

from moot_bench.chart import Point, cost_chart, front_of
from moot_bench.comparison import (
    POWER,
    ArmKind,
    ArmMeasure,
    ArmScores,
    compare,
    conclusion,
    p_value,
    paired_bootstrap,
    questions_needed,
    smallest_effect,
)
from moot_bench.report import answers_csv
from moot_bench.scores import ArmAnswer

ACCURACY = ArmMeasure.ACCURACY


def an_arm(name: str, kind: ArmKind, right: Sequence[bool], cost: str = "0.01") -> ArmScores:
    answers = [
        ArmAnswer(
            arm=name,
            question=f"q{number}",
            truth="o1",
            probabilities={"o1": 0.8 if is_right else 0.3, "o2": 0.2 if is_right else 0.7},
            chosen=("o1",) if is_right else ("o2",),
            cost=Decimal(cost),
        )
        for number, is_right in enumerate(right)
    ]
    return ArmScores(arm=name, kind=kind, answers=answers)


def with_skill(dice: random.Random, count: int, skill: float) -> list[bool]:
    return [dice.random() < skill for _ in range(count)]


def arms(*, solo: float, vote: float, debate: float, count: int = 200) -> list[ArmScores]:
    """Three arms of known skill; the same chance per question, so that most come out alike."""
    dice = random.Random(4)
    chances = [dice.random() for _ in range(count)]
    return [
        an_arm("solo", ArmKind.SOLO, [chance < solo for chance in chances], "0.01"),
        an_arm("vote", ArmKind.VOTE, [chance < vote for chance in chances], "0.06"),
        an_arm("critique", ArmKind.DEBATE, [chance < debate for chance in chances], "0.27"),
    ]


@pytest.mark.parametrize(
    ("vote", "debate", "measure", "words"),
    [
        (0.75, 0.755, ACCURACY, "No evidence that the debate (critique) is better than vote ("),
        (0.65, 0.8, ACCURACY, "The debate (critique) is better than vote ("),
        (0.65, 0.8, ArmMeasure.BRIER, "The debate (critique) is better than vote (0."),
        (0.8, 0.6, ACCURACY, "The debate (critique) is worse than vote ("),
    ],
)
def test_the_last_line_says_what_a_debate_is_worth(
    vote: float, debate: float, measure: ArmMeasure, words: str
) -> None:
    comparisons = compare(arms(solo=0.6, vote=vote, debate=debate), measure)
    text = conclusion(comparisons, measure)

    assert text.startswith(words)
    if debate == 0.755:
        assert "at 4.5 × the cost. The vote alone (vote) is better than solo (" in text
        assert "at 6 × the cost." in text
        assert "would probably have been seen." in text


def test_without_a_vote_the_single_answer_is_the_baseline() -> None:
    solo, _, debate = arms(solo=0.6, vote=0.6, debate=0.8)
    (comparison,) = compare([solo, debate], ACCURACY)
    assert (comparison.baseline.arm, comparison.is_evident) == ("solo", True)


def test_too_little_to_compare_is_no_evidence() -> None:
    assert conclusion([], ACCURACY).startswith("No evidence either way")
    comparisons = compare(arms(solo=0.6, vote=0.6, debate=0.8, count=1), ACCURACY)
    assert conclusion(comparisons, ACCURACY).startswith("No evidence either way")


def test_only_questions_that_both_answered_count() -> None:
    solo = an_arm("solo", ArmKind.SOLO, [False] * 10)
    vote = an_arm("vote", ArmKind.VOTE, [True] * 4)
    (comparison,) = compare([solo, vote], ACCURACY)
    assert comparison.gain
    assert comparison.gain.mean == 1.0
    assert comparison.p == 2 / 2**4


def test_of_two_baselines_the_better_one_counts_in_the_last_line() -> None:
    solo = an_arm("solo", ArmKind.SOLO, [True] * 8 + [False] * 2)
    vote = an_arm("vote", ArmKind.VOTE, [True] * 4 + [False] * 6)
    debate = an_arm("critique", ArmKind.DEBATE, [True] * 8 + [False] * 2)
    text = conclusion(compare([solo, vote, debate], ACCURACY), ACCURACY)
    assert text.startswith(
        "No evidence that the debate (critique) is better than solo (80% against 80%"
    )


def test_where_baselines_are_level_the_better_brier_score_is_the_harder_one() -> None:
    sure = an_arm("solo sure", ArmKind.SOLO, [True] * 5 + [False] * 5)
    unsure = [replace(answer, probabilities={"o1": 0.5, "o2": 0.5}) for answer in sure.answers]
    level = replace(sure, arm="solo unsure", answers=unsure)
    (comparison,) = compare([level, sure, an_arm("vote", ArmKind.VOTE, [True] * 10)], ACCURACY)
    assert comparison.baseline is min((level, sure), key=lambda scores: scores.brier)


@pytest.mark.slow
def test_a_debate_that_is_as_good_is_called_better_in_few_of_80_benches() -> None:
    dice, wins = random.Random(2), 0
    for _ in range(80):
        skills = {kind: with_skill(dice, 60, 0.6) for kind in ArmKind}
        bench = [an_arm(kind, kind, right) for kind, right in skills.items()]
        text = conclusion(compare(bench, ACCURACY), ACCURACY)
        wins += "No evidence that the debate" not in text
    assert wins <= 4


@pytest.mark.slow
def test_a_planted_gain_of_ten_points_is_called_better_with_the_stated_questions() -> None:
    dice, wins = random.Random(6), 0
    count = questions_needed(0.10, differing=0.2)
    for _ in range(40):
        right, better = list[bool](), list[bool]()
        for sides in dice.choices(((0, 1), (1, 0), (1, 1)), (0.15, 0.05, 0.8), k=count):
            right.append(bool(sides[0]))
            better.append(bool(sides[1]))
        bench = [an_arm("vote", ArmKind.VOTE, right), an_arm("debate", ArmKind.DEBATE, better)]
        text = conclusion(compare(bench, ACCURACY), ACCURACY)
        wins += text.startswith("The debate (debate) is better")
    assert wins >= 29


def test_the_picture_has_every_arm_with_a_price() -> None:
    scores = [*arms(solo=0.6, vote=0.7, debate=0.75), an_arm("free", ArmKind.SOLO, [True], "0")]
    drawn = cost_chart(scores, ACCURACY)
    assert drawn is not None
    texts = [element.text for element in ET.fromstring(drawn).iter() if element.text]  # noqa: S314 - our own
    assert {"solo", "vote", "critique"} <= set(texts)
    assert "free" not in texts
    assert cost_chart(scores[-1:], ACCURACY) is None


def test_the_front_leaves_out_what_is_dearer_and_no_better() -> None:
    cheap, dear = arms(solo=0.6, vote=0.7, debate=0.75)[:2]
    points = [Point(cheap, 1, 0.5), Point(dear, 2, 0.5), Point(dear, 3, 0.7)]
    assert [point.cost for point in front_of(points)] == [1, 3]


def test_no_cell_of_the_answers_is_a_formula() -> None:
    arm = an_arm("@solo", ArmKind.SOLO, [True])
    arm = replace(arm, answers=[replace(arm.answers[0], question="=1+1", arm="@solo")])
    assert answers_csv([arm]).splitlines()[1].startswith("'=1+1,'@solo,o1,")


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
