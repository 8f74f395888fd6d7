"""One figure per verdict, and what it rests on."""

from dataclasses import replace

import pytest

from core.rules.confidence import UNMET_AT_MOST, Grounds, confidence

SURE, UNSURE = {"o1": 0.9, "o2": 0.1}, {"o1": 0.2, "o2": 0.8}
AGREED = Grounds(
    option="o1",
    votes={"ann": SURE, "bob": SURE, "cid": SURE},
    first_votes={"ann": SURE, "bob": SURE, "cid": SURE},
    models={"ann": "openai/x", "bob": "anthropic/y", "cid": "openai/x"},
    voters=3,
)


def percent(grounds: Grounds) -> int:
    found = confidence(grounds)
    assert found is not None
    return found.percent


def test_different_models_that_agree_at_once_are_worth_most() -> None:
    found = confidence(AGREED)
    assert found is not None
    assert (found.percent, found.word) == (94, "high")
    assert found.rests_on == (
        "3 of 3 agents put it first",
        "2 different models; their first answers on it lay 0 points apart",
    )


@pytest.mark.parametrize(
    ("first", "worth"), [(0.9, 94), (0.85, 94), (0.8, 84), (0.7, 70), (0.6, 58), (0.0, 58)]
)
def test_the_further_apart_first_answers_were_the_less_it_is_worth(
    first: float, worth: int
) -> None:
    early = {**AGREED.first_votes, "bob": {"o1": first, "o2": 1 - first}}
    assert percent(replace(AGREED, first_votes=early)) == worth


def test_one_model_agreeing_with_itself_says_little() -> None:
    found = confidence(replace(AGREED, models=dict.fromkeys(AGREED.votes, "openai/x")))
    assert found is not None
    assert found.percent == 70
    assert "one model" in found.rests_on[1]


def test_agents_of_one_model_are_one_voice() -> None:
    votes = {"ann": SURE, "bob": UNSURE, "cid": SURE}
    by_two = percent(replace(AGREED, votes=votes))
    votes = {"ann": UNSURE, "bob": SURE, "cid": UNSURE}
    assert percent(replace(AGREED, votes=votes)) == by_two


def test_an_unmet_major_requirement_bounds_it() -> None:
    found = confidence(replace(AGREED, requirements_unmet=1))
    assert found is not None
    assert found.percent == UNMET_AT_MOST
    assert "1 major requirement not met" in found.rests_on


def test_what_is_missing_lowers_it_and_is_said() -> None:
    grounds = replace(AGREED, voters=4, turns_planned=10, turns_failed=2, swap_disagreed=True)
    found = confidence(replace(grounds, requirements_unknown=2))
    assert found is not None
    assert found.percent < percent(AGREED) - 30
    said = "; ".join(found.rests_on)
    assert "1 ballot could not be counted" in said
    assert "2 of 10 turns failed" in said
    assert "another order" in said
    assert "2 major requirements can be met" in said


def test_without_a_counted_ballot_nothing_can_be_said() -> None:
    assert confidence(replace(AGREED, votes={}, first_votes={})) is None
    assert confidence(replace(AGREED, option="")) is None
