"""One figure per verdict, computed from the ballots, and what it rests on."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from core.rules.confidence import Grounds, confidence

SURE, UNSURE = {"o1": 0.9, "o2": 0.1}, {"o1": 0.2, "o2": 0.8}
AGREED = Grounds(
    option="o1",
    votes={"ann": SURE, "bob": SURE, "cid": SURE},
    first_votes={"ann": SURE, "bob": SURE, "cid": SURE},
    models={"ann": "openai/x", "bob": "anthropic/y", "cid": "openai/x"},
    voters=3,
)
ONE_MODEL = dict.fromkeys(AGREED.votes, "openai/x")
ONE_VOICE = "all agents are one model, whose agreement with itself says little"
OTHERWISE = "the judge decided otherwise when it read the positions in another order"


def at(*shares: float) -> Mapping[str, Mapping[str, float]]:
    """Ballots by which each agent holds the first option so likely."""
    return dict(zip(AGREED.votes, ({"o1": share} for share in shares), strict=False))


def percent(grounds: Grounds) -> int | None:
    return confidence(grounds).percent


@pytest.mark.parametrize(
    ("change", "figure", "word"),
    [
        ({}, 90, "high"),
        ({"votes": at(1.0, 1.0, 1.0)}, 92, "high"),
        # What two ballots of 60 % and 40 % say: no agreement of 100 %.
        ({"votes": at(0.6, 0.4), "first_votes": at(0.6, 0.4), "voters": 2}, 50, "low"),
        # Ann and Cid are one model, which is heard once.
        ({"votes": at(0.9, 0.5, 0.7), "first_votes": at(0.8, 0.8, 0.8)}, 65, "fair"),
        # First answers lay more than 20 points apart.
        ({"first_votes": at(0.9, 0.69, 0.9)}, 75, "fair"),
        ({"first_votes": at(0.9, 0.7, 0.9)}, 90, "high"),
        ({"models": ONE_MODEL}, 85, "high"),
        ({"votes": {**at(0.9, 0.3), "cid": UNSURE}}, 43, "very low"),
        # What the judge could not write is never high.
        ({"is_written": False}, 75, "fair"),
        ({"requirements_unmet": 1}, 40, "very low"),
        ({"requirements_unknown": 2}, 80, "high"),
        ({"swap_disagreed": True}, 70, "fair"),
        ({"voters": 4, "turns_planned": 10, "turns_failed": 2}, 76, "fair"),
    ],
)
def test_it_is_the_mean_of_the_counted_ballots_bounded(
    change: Mapping[str, object], figure: int, word: str
) -> None:
    found = confidence(replace(AGREED, **change))
    assert (found.percent, found.word) == (figure, word)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "3 of 3 counted ballots put it first, at 90% on average, each model counted once"),
        ({}, "first answers on it lay 0 points apart"),
        ({"first_votes": at(0.9, 0.5, 0.4)}, "first answers on it lay 50 points apart"),
        ({"models": ONE_MODEL}, ONE_VOICE),
        ({"voters": 5, "abstained": 2}, "only 3 of 5 ballots could be counted, 2 abstained"),
        ({"voters": 4}, "only 3 of 4 ballots could be counted"),
        ({"turns_planned": 9, "turns_failed": 1}, "1 of 9 turns failed"),
        ({"swap_disagreed": True}, OTHERWISE),
        ({"requirements_unmet": 1}, "1 major requirement not met"),
        ({"requirements_unknown": 2}, "nobody can say yet whether 2 major requirements can be met"),
        ({"is_written": False}, "no judge wrote it"),
    ],
)
def test_it_says_what_it_rests_on(change: Mapping[str, object], said: str) -> None:
    assert said in confidence(replace(AGREED, **change)).rests_on


def test_first_answers_are_compared_as_they_were_given_though_ballots_are_lost() -> None:
    lost = replace(AGREED, votes=at(0.9, 0.9), first_votes=at(0.9, 0.9, 0.5))
    assert "first answers on it lay 40 points apart" in confidence(lost).rests_on


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"votes": {}}, "only 0 of 3 ballots could be counted"),
        ({"votes": {"ann": SURE}}, "only 1 of 3 ballots could be counted"),
        ({"option": ""}, "the verdict takes none of the options that were voted on"),
    ],
)
def test_with_fewer_than_two_ballots_or_no_option_there_is_no_figure(
    change: Mapping[str, object], why: str
) -> None:
    found = confidence(replace(AGREED, **change))
    assert (found.percent, found.rests_on) == (None, (why,))
