"""One figure per verdict, computed from the ballots, and what it rests on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from core.rules.agreement import agreement
from core.rules.confidence import Grounds, confidence

SURE = {"o1": 0.9, "o2": 0.1}
AGREED = Grounds(
    option="o1",
    votes={"ann": SURE, "bob": SURE, "cid": SURE},
    first_votes={"ann": SURE, "bob": SURE, "cid": SURE},
    models={"ann": "openai/x", "bob": "anthropic/y", "cid": "openai/x"},
    voters=3,
)
OTHERWISE = "the judge decided otherwise when it read the positions in another order"


def at(*shares: float) -> Mapping[str, Mapping[str, float]]:
    """Ballots by which each agent holds the first option so likely."""
    return dict(zip(AGREED.votes, ({"o1": p, "o2": 1 - p} for p in shares), strict=False))


THREE, TWO, ONE = ("a/x", "b/y", "c/z"), ("a/x", "b/y", "a/x"), ("a/x", "a/x", "a/x")
_OF_ONE = "from 1 model, whose agreement with itself says little"
_GAVE = re.compile(r"first ballots gave it (\d+)%(?: to (\d+)%)?")


@pytest.mark.parametrize(
    ("ballots", "expected"),
    [
        # How likely each voter holds the option decided for, at first and at last → figure, word,
        # whether the first answers are debated, and what the figure rests on.
        (
            (THREE, (0.9, 0.9, 0.9), (0.9, 0.9, 0.9)),
            (90, "high", False, "3 ballots from 3 models: 90%; 0"),
        ),
        (
            (THREE, (1, 1, 1), (1, 1, 1)),
            (92, "high", False, "3 ballots from 3 models: 100%, counted as 92%"),
        ),
        (
            (THREE, (0.84, 0.8, 0.76), (0.84, 0.8, 0.76)),
            (80, "high", False, "from 3 models: 80%; 8"),
        ),
        ((THREE, (0.8, 0.8, 0.79), (0.8, 0.8, 0.78)), (79, "fair", False, "from 3 models: 79%; 1")),
        (
            (THREE, (0.65, 0.65, 0.65), (0.65, 0.65, 0.65)),
            (65, "fair", False, "from 3 models: 65%; 0"),
        ),
        (
            (THREE, (0.64, 0.64, 0.64), (0.64, 0.64, 0.64)),
            (64, "low", True, "from 3 models: 64%; 0"),
        ),
        # That all agree is no sign that all are sure.
        (
            (THREE, (0.55, 0.55, 0.55), (0.55, 0.55, 0.55)),
            (55, "low", True, "from 3 models: 55%; 0"),
        ),
        (
            (THREE, (0.49, 0.49, 0.49), (0.49, 0.49, 0.49)),
            (49, "very low", True, "from 3 models: 49%; 0"),
        ),
        # The bound of a split begins above 20 points, and counts after all have met, too.
        ((THREE, (0.9, 0.7, 0.9), (0.9, 0.9, 0.9)), (90, "high", False, "from 3 models: 90%; 20")),
        ((THREE, (0.9, 0.69, 0.9), (0.9,) * 3), (75, "fair", False, "90%, counted as 75%; 21")),
        ((THREE, (0.9, 0.1, 0.5), (0.9, 0.9, 0.9)), (75, "fair", True, "90%, counted as 75%; 80")),
        ((THREE, (0.9, 0.1, 0.5), (0.7, 0.6, 0.5)), (60, "low", True, "from 3 models: 60%; 80")),
        (
            (THREE, (0.9, 0.9, 0.1), (0.9, 0.3, 0.1)),
            (43, "very low", True, "from 3 models: 43%; 80"),
        ),
        # Two agents of one model are one voice.
        (
            (TWO, (0.8, 0.8, 0.8), (0.9, 0.5, 0.7)),
            (65, "fair", False, "from 2 models, each counted once: 65"),
        ),
        (
            (TWO, (0.9, 0.9, 0.8), (0.9, 0.9, 0.9)),
            (90, "high", False, "from 2 models, each counted once: 90"),
        ),
        (
            (ONE, (0.9, 0.9, 0.9), (0.9, 0.9, 0.9)),
            (85, "high", False, f"{_OF_ONE}: 90%, counted as 85%; 0"),
        ),
        ((ONE, (0.7, 0.7, 0.7), (0.7, 0.7, 0.7)), (70, "fair", False, f"{_OF_ONE}: 70%; 0")),
        (
            (ONE, (0.9, 0.5, 0.9), (0.9, 0.9, 0.9)),
            (75, "fair", True, f"{_OF_ONE}: 90%, counted as 75%; 40"),
        ),
        # Two voters, and a verdict that leaves the option that all put first.
        (
            (THREE, (0.6, 0.4), (0.6, 0.4)),
            (50, "low", True, "mean of 2 ballots from 2 models: 50%; 20"),
        ),
        (
            (THREE, (0.1, 0.2, 0.1), (0.1, 0.2, 0.1)),
            (13, "very low", False, "from 3 models: 13%; 10"),
        ),
    ],
)
def test_it_is_the_mean_of_the_counted_ballots_bounded(
    ballots: tuple[Sequence[str], Sequence[float], Sequence[float]],
    expected: tuple[int, str, bool, str],
) -> None:
    (models, first, final), (figure, word, is_debated, sentence) = ballots, expected
    by_voter = dict(zip(AGREED.votes, models, strict=True))
    first_votes = at(*first)
    grounds = replace(
        AGREED,
        votes=at(*final),
        first_votes=first_votes,
        models=by_voter,
        voters=len(final),
    )
    computed = confidence(grounds)
    assert (computed.percent, computed.word) == (figure, word)
    # How far first answers lie apart, as it is told by the least and the most they gave.
    text = "; ".join(computed.rests_on)
    assert sentence in _GAVE.sub(lambda gave: f"{int(gave[2] or gave[1]) - int(gave[1])}", text)
    assert agreement(first_votes, by_voter).is_agreed is not is_debated


@pytest.mark.parametrize(
    ("change", "figure", "word"),
    [
        # What no source was given for is said, and nothing is taken off for it.
        ({"has_sources": False}, 90, "high"),
        # What the judge could not write is never high.
        ({"is_written": False}, 75, "fair"),
        ({"requirements_unmet": 1}, 40, "very low"),
        ({"requirements_unknown": 2}, 80, "high"),
        ({"swap_disagreed": True}, 70, "fair"),
        ({"voters": 4, "turns_planned": 10, "turns_failed": 2}, 76, "fair"),
    ],
)
def test_what_is_missing_or_unmet_is_taken_off(
    change: Mapping[str, object], figure: int, word: str
) -> None:
    computed = confidence(replace(AGREED, **change))
    assert (computed.percent, computed.word) == (figure, word)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"voters": 5, "abstained": 2}, "only 3 of 5 ballots could be counted, 2 abstained"),
        ({"voters": 4}, "only 3 of 4 ballots could be counted"),
        ({"turns_planned": 9, "turns_failed": 1}, "1 of 9 turns failed"),
        ({"swap_disagreed": True}, OTHERWISE),
        ({"requirements_unmet": 1}, "1 major requirement not met"),
        ({"requirements_unknown": 2}, "whether it meets 2 major requirements is not known"),
        ({"is_written": False}, "no judge wrote it"),
    ],
)
def test_it_says_what_it_rests_on(change: Mapping[str, object], words: str) -> None:
    assert words in confidence(replace(AGREED, **change)).rests_on


def test_first_answers_are_compared_as_they_were_given_though_ballots_are_lost() -> None:
    lost = replace(AGREED, votes=at(0.9, 0.9), first_votes=at(0.9, 0.9, 0.5))
    assert "first ballots gave it 50% to 90%" in confidence(lost).rests_on


def test_first_ballots_that_are_missing_are_not_spoken_for() -> None:
    fewer = replace(AGREED, first_votes=at(0.7, 0.75))
    assert "first ballots of 2 of 3 agents gave it 70% to 75%" in confidence(fewer).rests_on


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
    result = confidence(replace(AGREED, **change))
    assert (result.percent, result.rests_on) == (None, (why,))
