"""The count of votes against a brute-force count, and its rules one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.rules import VoteRules
from core.debate.turn import Act, Turn
from core.debate.turn_events import BallotCast, VoteTallied
from core.debate.vote import Ballot, Option, Tally
from core.rules.options import OptionList
from core.rules.voting import best_texts, count, counted_ballots, winning_options
from core.testing import a_setup, log_of

POSITIONS = ("ann", "bob", "cid", "dee")
#: The plain Borda count: also voters' own positions count.
PLAIN = VoteRules(exclude_self=False)
CHOICES = OptionList(items=tuple(Option(id=f"o{n}", name=name) for n, name in ((1, "K"), (2, "P"))))


def tallied(
    positions: Sequence[str], ballots: Sequence[Ballot], rules: VoteRules = PLAIN, **more: Any
) -> Tally:
    return count(dict.fromkeys(positions, ""), ballots, rules, **more)


def a_ballot(voter: str, *ranking: str, confidence: float | None = 0.5, **shares: float) -> Ballot:
    turn = Turn(act=Act.BALLOT, round=1, agent=voter)
    return Ballot(turn=turn, ranking=ranking, confidence=confidence, probabilities=shares)


@st.composite
def elections(draw: st.DrawFn) -> tuple[tuple[str, ...], list[Ballot]]:
    positions = POSITIONS[: draw(st.integers(1, 4))]
    voters = draw(st.lists(st.sampled_from(POSITIONS), unique=True, max_size=4))
    orders, confidences = st.permutations(positions), st.floats(0, 1)
    ballots = [a_ballot(v, *draw(orders), confidence=draw(confidences)) for v in voters]
    return positions, ballots


@given(elections())
def test_every_score_is_the_number_of_rivals_beaten_over_all_ballots(
    election: tuple[tuple[str, ...], list[Ballot]],
) -> None:
    positions, ballots = election
    # Without self-votes a voter only compares the others.
    for rules in (PLAIN, VoteRules(exclude_self=True)):
        for score in tallied(positions, ballots, rules).scores:
            beaten = sum(
                ballot.ranking.index(score.position) < ballot.ranking.index(rival)
                for ballot in ballots
                for rival in positions
                if rival != score.position
                and not (rules.exclude_self and ballot.voter in {rival, score.position})
            )
            assert beaten == score.points


def level(ann: float | None, bob: float | None) -> list[Ballot]:
    """Two ballots with the same points, of these confidences."""
    return [
        a_ballot("ann", "ann", "bob", confidence=ann),
        a_ballot("bob", "bob", "ann", confidence=bob),
    ]


FIRST_PLACES = [
    a_ballot("ann", "ann", "bob", "cid"),
    a_ballot("bob", "ann", "bob", "cid"),
    a_ballot("cid", "bob", "cid", "ann"),
]
SHARES = [
    a_ballot("ann", "ann", "bob", o1=0.9, o2=0.1),
    a_ballot("bob", "bob", "ann", o1=0.6, o2=0.4),
]


@pytest.mark.parametrize(
    ("options", "ballots", "weights", "winners", "points"),
    [
        ({"ann": "", "bob": ""}, level(0.6, 0.9), {}, ("bob",), 1),
        ({"ann": "", "bob": ""}, level(0.5, 0.5), {}, ("ann", "bob"), 1),
        ({"ann": "", "bob": ""}, level(None, None), {}, ("ann", "bob"), 1),
        ({"ann": "", "bob": ""}, level(0.5, 0.5), {"bob": 3}, ("bob",), 3),
        ({"bob": "", "ann": "", "cid": ""}, FIRST_PLACES, {}, ("ann",), 4),
        ({"ann": "o2", "bob": "o1"}, SHARES, {}, ("bob",), 1),
        ({"ann": "", "bob": ""}, [], {}, (), 0),
    ],
    ids=[
        *("mean confidence", "a tie", "a tie without confidence", "weights", "first places"),
        *("mean probability of the option", "no ballot"),
    ],
)
def test_ties_of_positions_are_broken_in_this_order(
    options: dict[str, str],
    ballots: Sequence[Ballot],
    weights: dict[str, float],
    *,
    winners: tuple[str, ...],
    points: float,
) -> None:
    rules = VoteRules(weights=weights, exclude_self=False)
    tally = count(options, ballots, rules, options=CHOICES)

    assert (tally.winners, tally.scores[0].points) == (winners, points)
    assert not tally.controversial


#: Each voter's probabilities, the voters' weights, the counted scores, the winners, and whether the
#: vote is close.
Count = tuple[
    Sequence[Mapping[str, float]],
    Mapping[str, float],
    Sequence[tuple[str, float, float]],
    tuple[str, ...],
    bool,
]
SPLIT = [{"o1": 1.0}, {"o2": 1.0}]
COUNTS: list[Count] = [
    # By first choices, then mean probability, without ballots that have no probabilities.
    (
        [{"o1": 0.6, "o2": 0.4}, {"o1": 0.1, "o2": 0.9}, {"o1": 0.55, "o2": 0.45}, {}],
        {},
        [("o1", 2, 0.4167), ("o2", 1, 0.5833)],
        ("o1",),
        True,
    ),
    (SPLIT, {"bob": 3}, [("o2", 3, 0.75), ("o1", 1, 0.25)], ("o2",), False),
    (SPLIT, {}, [("o1", 1, 0.5), ("o2", 1, 0.5)], ("o1", "o2"), True),
    # Three texts for one option are not a close vote.
    ([{"o1": 0.9, "o2": 0.1}] * 3, {}, [("o1", 3, 0.9), ("o2", 0, 0.1)], ("o1",), False),
    ([{}], {}, [], (), False),
]


@pytest.mark.parametrize("row", COUNTS)
def test_options_are_counted_by_first_choices_then_mean_probability(row: Count) -> None:
    votes, weights, scores, won, is_close = row
    ballots = [
        a_ballot(voter, "ann").model_copy(update={"probabilities": shares})
        for voter, shares in zip(POSITIONS, votes, strict=False)
    ]
    tally = tallied(("ann",), ballots, VoteRules(weights=weights), options=CHOICES)

    counted = [(it.option, it.first_choices, it.mean_probability) for it in tally.options]
    assert counted == scores
    assert winning_options(tally.options) == won
    assert tally.controversial is is_close


def test_the_judge_starts_from_the_best_text_for_the_option_that_won() -> None:
    ballots = [
        a_ballot(voter, "ann", "bob", "cid", o1=share, o2=1 - share)
        for voter, share in {"ann": 0.9, "bob": 0.2, "cid": 0.3}.items()
    ]
    tally = count({"ann": "o1", "bob": "o2", "cid": "o2"}, ballots, PLAIN, options=CHOICES)

    assert tally.winners == ("ann",)
    assert winning_options(tally.options) == ("o2",)
    assert best_texts(tally) == ("bob",)
    nobody = count({"ann": "o1", "bob": "o3", "cid": "o3"}, ballots, PLAIN, options=CHOICES)
    assert best_texts(nobody) == ("ann",)


@pytest.mark.parametrize(
    ("voters", "expected"),
    [
        (("architect", "security"), ["r2/ballot/architect", "r2/ballot/security"]),
        (("architect",), ["r2/ballot/architect"]),
        ((), []),
        (("simplicity",), ["r0/ballot/simplicity"]),
    ],
)
def test_the_ballots_behind_a_tally_are_those_it_counted(
    voters: tuple[str, ...], expected: list[str]
) -> None:
    cast = [
        (0, "architect"),
        (0, "simplicity"),
        (1, "architect"),
        (2, "architect"),
        (2, "security"),
    ]
    turns = [Turn(act=Act.BALLOT, round=number, agent=voter) for number, voter in cast]
    ballots = [BallotCast(ballot=Ballot(turn=turn, ranking=(turn.agent,))) for turn in turns]
    tally = Tally(scores=(), winners=(), controversial=False, voters=voters)
    debate = fold(log_of([DebateStarted(setup=a_setup()), *ballots, VoteTallied(tally=tally)]))

    assert [ballot.turn.key for ballot in counted_ballots(debate)] == expected
