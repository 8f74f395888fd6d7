"""What an answer is worth."""

from math import log

import pytest

from moot_bench.scores import (
    ArmAnswer,
    Changes,
    accuracy,
    brier,
    calibration,
    changes_of_side,
    log_loss,
    share_interval,
)


def an_answer(
    probabilities: dict[str, float],
    *choice: str,
    sides: tuple[tuple[str, str], ...] = (),
    is_read: bool = True,
) -> ArmAnswer:
    return ArmAnswer(
        arm="vote",
        question="q1",
        truth="o1",
        probabilities=probabilities,
        chosen=choice,
        sides=sides,
        is_read=is_read,
    )


@pytest.mark.parametrize(
    ("choice", "worth"), [(("o1",), 1.0), (("o2",), 0.0), (("o1", "o2"), 0.5), ((), 0.0)]
)
def test_accuracy(choice: tuple[str, ...], worth: float) -> None:
    assert accuracy(an_answer({}, *choice)) == worth


def test_brier_of_yes_or_no_is_the_usual_one() -> None:
    assert brier(an_answer({"o1": 0.7, "o2": 0.3})) == pytest.approx(0.09)
    assert brier(an_answer({"o1": 1.0, "o2": 0.0})) == 0
    assert brier(an_answer({"o1": 0.0, "o2": 1.0})) == 1
    assert brier(an_answer({"o2": 1.0})) == 1


def test_log_loss_is_bounded() -> None:
    assert log_loss(an_answer({"o1": 0.5, "o2": 0.5})) == pytest.approx(log(2))
    assert log_loss(an_answer({"o1": 0.0, "o2": 1.0})) == pytest.approx(log(100))
    assert log_loss(an_answer({"o1": 1.0})) == 0


def test_changes_of_side_are_counted_by_agent() -> None:
    moved = an_answer({}, sides=(("o2", "o1"), ("o3", "o1"), ("o1", "o2"), ("o1", "o1")))
    between_wrong_ones = an_answer({}, sides=(("o2", "o3"), ("", "o1")))
    assert changes_of_side([moved, between_wrong_ones]) == Changes(3, 1)
    assert Changes(3, 1).words == "3 wrong → right, 1 right → wrong"


def test_calibration_counts_by_band() -> None:
    answers = [an_answer({"o1": 0.8, "o2": 0.2})] * 3 + [an_answer({"o1": 0.2, "o2": 0.8})]
    answers += [an_answer({"o1": 1.0, "o2": 0.0}), an_answer({"o1": 0.5, "o2": 0.5})]
    answers.append(an_answer({"o1": 0.5, "o2": 0.5}, is_read=False))
    tied, likely, certain = calibration(answers)
    assert (tied.words, tied.answers, tied.right) == ("0% to 60%", 1, 0.5)
    assert (likely.words, likely.answers, likely.right) == ("75% to 90%", 4, 0.75)
    assert likely.low < 0.75 < likely.high
    assert (certain.answers, certain.mean_probability, certain.right) == (1, 1.0, 1.0)


def test_interval_of_a_share() -> None:
    assert share_interval(8, 10) == pytest.approx((0.490, 0.943), abs=0.001)
    assert share_interval(0, 5)[0] == pytest.approx(0)
