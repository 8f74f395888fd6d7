"""One figure per verdict, computed from the ballots, and what it rests on."""

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
THREE, TWO, ONE = ("a/x", "b/y", "c/z"), ("a/x", "b/y", "a/x"), ("a/x", "a/x", "a/x")
#: Models, how likely each voter holds the option decided for at first and at last, the figure, the
#: word for it, whether the first answers are debated, and what the figure rests on.
Row = tuple[Sequence[str], Sequence[float], Sequence[float], int, str, bool, str]
ROWS: list[Row] = [
    (THREE, (1, 1, 1), (1, 1, 1), 92, "high", False, "3 models: 100%, counted as 92%"),
    (THREE, (0.84, 0.8, 0.76), (0.84, 0.8, 0.76), 80, "high", False, "3 models: 80%"),
    (THREE, (0.8, 0.8, 0.79), (0.8, 0.8, 0.78), 79, "fair", False, "gave it 79% to 80%"),
    (THREE, (0.65,) * 3, (0.65,) * 3, 65, "fair", False, "first ballots gave it 65%"),
    # That all agree is no sign that all are sure.
    (THREE, (0.64,) * 3, (0.64,) * 3, 64, "low", True, "3 models: 64%"),
    (THREE, (0.49,) * 3, (0.49,) * 3, 49, "very low", True, "3 models: 49%"),
    # The bound of a split begins above 20 points, and counts after all have met, too.
    (THREE, (0.9, 0.7, 0.9), (0.9,) * 3, 90, "high", False, "gave it 70% to 90%"),
    (THREE, (0.9, 0.69, 0.9), (0.9,) * 3, 75, "fair", False, "90%, counted as 75%"),
    (THREE, (0.9, 0.1, 0.5), (0.7, 0.6, 0.5), 60, "low", True, "3 models: 60%"),
    # Two agents of one model are one voice.
    (TWO, (0.8,) * 3, (0.9, 0.5, 0.7), 65, "fair", False, "2 models, each counted once: 65"),
    (
        ONE,
        (0.9,) * 3,
        (0.9,) * 3,
        85,
        "high",
        False,
        "says little: 90%, counted as 85%",
    ),
    (ONE, (0.9, 0.5, 0.9), (0.9,) * 3, 75, "fair", True, "90%, counted as 75%"),
    # Two voters, and a verdict that leaves the option that all put first.
    (THREE, (0.6, 0.4), (0.6, 0.4), 50, "low", True, "mean of 2 ballots from 2 models: 50%"),
    (THREE, (0.1, 0.2, 0.1), (0.1, 0.2, 0.1), 13, "very low", False, "3 models: 13%"),
]


def at(*shares: float) -> Mapping[str, Mapping[str, float]]:
    """Ballots by which each agent holds the first option so likely."""
    return dict(zip(AGREED.votes, ({"o1": p, "o2": 1 - p} for p in shares), strict=False))


@pytest.mark.parametrize("row", ROWS)
def test_it_is_the_mean_of_the_counted_ballots_bounded(row: Row) -> None:
    models, first, final, figure, word, is_debated, words = row
    votes = {"votes": at(*final), "first_votes": at(*first), "voters": len(final)}
    by_voter = dict(zip(AGREED.votes, models, strict=True))
    computed = confidence(replace(AGREED, models=by_voter, **votes))

    assert (computed.percent, computed.word) == (figure, word)
    assert words in "; ".join(computed.rests_on)
    assert agreement(at(*first), by_voter).is_agreed is not is_debated


@pytest.mark.parametrize(
    ("change", "figure", "words"),
    [
        # What no source was given for is said, and nothing is taken off for it.
        ({"has_sources": False}, 90, "no source was given"),
        # What the judge could not write is never high.
        ({"is_written": False}, 75, "no judge wrote it"),
        ({"requirements_unmet": 1}, 40, "1 major requirement not met"),
        ({"requirements_unknown": 2}, 80, "whether it meets 2 major requirements is not known"),
        ({"swap_disagreed": True}, 70, "when it read the positions in another order"),
        ({"voters": 4, "turns_planned": 10, "turns_failed": 2}, 76, "2 of 10 turns failed"),
        ({"voters": 5, "abstained": 2}, 78, "only 3 of 5 ballots could be counted, 2 abstained"),
        # First answers are compared as they were given, though ballots are lost.
        (
            {"votes": at(0.9, 0.9), "first_votes": at(0.9, 0.9, 0.5)},
            65,
            "first ballots gave it 50% to 90%",
        ),
        (
            {"first_votes": at(0.7, 0.75)},
            90,
            "first ballots of 2 of 3 agents gave it 70% to 75%",
        ),
    ],
)
def test_what_is_missing_or_unmet_is_said_and_taken_off(
    change: Mapping[str, object], figure: int, words: str
) -> None:
    computed = confidence(replace(AGREED, **change))

    assert computed.percent == figure
    assert words in "; ".join(computed.rests_on)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"votes": {"ann": SURE}}, "only 1 of 3 ballots could be counted"),
        ({"option": ""}, "the verdict takes none of the options that were voted on"),
    ],
)
def test_with_fewer_than_two_ballots_or_no_option_there_is_no_figure(
    change: Mapping[str, object], why: str
) -> None:
    result = confidence(replace(AGREED, **change))
    assert (result.percent, result.rests_on) == (None, (why,))
