"""Agreement of voters, and changed minds."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from core.rules.agreement import agreement, has_moved

Votes = dict[str, dict[str, float]]


def test_the_same_first_option_thirty_points_ahead_on_average_is_agreement() -> None:
    result = agreement({"ann": {"o1": 0.75, "o2": 0.25}, "bob": {"o1": 0.55, "o2": 0.45}})
    assert result.is_agreed
    assert result.option == "o1"
    assert (result.spread, result.lowest, result.highest, result.lead) == (0.2, 0.55, 0.75, 0.3)


def test_the_voters_of_one_model_count_once_in_the_average() -> None:
    sure, unsure = {"o1": 0.8, "o2": 0.2}, {"o1": 0.52, "o2": 0.48}
    votes = {"ann": sure, "bob": unsure, "cid": unsure}
    result = agreement(votes, {"ann": "a/x", "bob": "b/y", "cid": "b/y"})
    assert (result.lead, result.is_agreed) == (0.32, True)
    assert not agreement(votes).is_agreed


@pytest.mark.parametrize(
    "votes",
    [
        {"ann": {"o1": 0.7, "o2": 0.3}, "bob": {"o1": 0.59, "o2": 0.41}},
        # A single option: the difference to 1 is doubt, so this is no agreement.
        {"ann": {"o1": 0.6}, "bob": {"o1": 0.4}},
        {"ann": {"o1": 0.51, "o2": 0.49}, "bob": {"o1": 0.49, "o2": 0.51}},
        {"ann": {"o1": 0.9, "o2": 0.1}, "bob": {}},
        {"ann": {"o1": 0.9, "o2": 0.1}},
        {},
        {"ann": {"o1": 0.5, "o2": 0.5}, "bob": {"o1": 0.5, "o2": 0.5}},
    ],
)
def test_other_votes_are_no_agreement(votes: Votes) -> None:
    assert not agreement(votes).is_agreed


@pytest.mark.parametrize("voters", list(permutations(("ann", "bob", "cid"))))
def test_a_split_has_the_option_with_the_widest_spread(voters: Sequence[str]) -> None:
    """Of two equal spreads the first option, whoever voted first."""
    votes = {
        "ann": {"o1": 0.8, "o2": 0.2},
        "bob": {"o2": 0.9, "o1": 0.1},
        "cid": {"o1": 0.7, "o2": 0.3},
    }
    result = agreement({voter: votes[voter] for voter in voters})
    assert (result.option, result.widest, result.spread) == ("", "o1", 0.7)


@pytest.mark.parametrize(
    ("before", "after", "is_move"),
    [
        ({"o1": 0.8, "o2": 0.2}, {"o1": 0.71, "o2": 0.29}, False),
        ({"o1": 0.8, "o2": 0.2}, {"o1": 0.7, "o2": 0.3}, True),
        ({"o1": 0.52, "o2": 0.48}, {"o1": 0.48, "o2": 0.52}, True),
        ({}, {}, False),
        ({}, {"o1": 1.0}, True),
    ],
)
def test_another_first_choice_or_ten_points_are_a_changed_mind(
    before: dict[str, float], after: dict[str, float], *, is_move: bool
) -> None:
    assert has_moved(before, after) is is_move
