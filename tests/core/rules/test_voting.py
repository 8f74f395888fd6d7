"""The vote against a brute-force count, and its rules one by one."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debate.debate_events import DebateStarted
from core.debate.log import fold
from core.debate.rules import VoteRules
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import BallotCast
from core.debate.vote import Ballot, Option, Tally
from core.rules.options import OptionList
from core.rules.voting import (
    best_texts,
    check,
    count,
    count_options,
    counted_ballots,
    is_close,
    winning_options,
)
from core.testing import a_setup, log_of

POSITIONS = ("ann", "bob", "cid", "dee")


#: Everything counts, as the method has it.
PLAIN = VoteRules(exclude_self=False)


def tallied(
    positions: Sequence[str], ballots: Sequence[Ballot], rules: VoteRules = PLAIN, **more: Any
) -> Tally:
    return count(dict.fromkeys(positions, ""), ballots, rules, **more)


def a_ballot(voter: str, *ranking: str, confidence: float = 0.5) -> Ballot:
    turn = Turn(act=Act.BALLOT, round=1, agent=voter)
    return Ballot(turn=turn, ranking=ranking, confidence=confidence)


@st.composite
def elections(draw: st.DrawFn) -> tuple[tuple[str, ...], list[Ballot]]:
    positions = POSITIONS[: draw(st.integers(1, 4))]
    voters = draw(st.lists(st.sampled_from(POSITIONS), unique=True, max_size=4))
    orders = st.permutations(positions)
    confidences = st.floats(0, 1)
    ballots = [a_ballot(v, *draw(orders), confidence=draw(confidences)) for v in voters]
    return positions, ballots


@given(elections())
def test_every_score_is_the_number_of_rivals_beaten_over_all_ballots(
    election: tuple[tuple[str, ...], list[Ballot]],
) -> None:
    positions, ballots = election
    tally = tallied(positions, ballots)

    for score in tally.scores:
        beaten = sum(
            ballot.ranking.index(score.position) < ballot.ranking.index(rival)
            for ballot in ballots
            for rival in positions
            if rival != score.position
        )
        assert beaten == score.points


@given(elections())
def test_without_self_votes_a_voter_only_compares_the_others(
    election: tuple[tuple[str, ...], list[Ballot]],
) -> None:
    positions, ballots = election
    tally = tallied(positions, ballots, VoteRules(exclude_self=True))

    for score in tally.scores:
        beaten = sum(
            ballot.ranking.index(score.position) < ballot.ranking.index(rival)
            for ballot in ballots
            for rival in positions
            if rival != score.position and ballot.voter not in {rival, score.position}
        )
        assert beaten == score.points


@given(elections())
def test_the_order_of_ballots_does_not_matter(
    election: tuple[tuple[str, ...], list[Ballot]],
) -> None:
    positions, ballots = election
    tallies = [tallied(positions, list(order)) for order in permutations(ballots)]

    assert len({tuple(tally.winners) for tally in tallies}) == 1
    points = [{s.position: s.points for s in tally.scores} for tally in tallies]
    assert all(point == points[0] for point in points)


def test_the_example_of_three_voters_gives_five_points() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", "cid"),
        a_ballot("bob", "bob", "ann", "cid"),
        a_ballot("cid", "ann", "bob", "cid"),
    ]
    tally = tallied(("ann", "bob", "cid"), ballots)

    assert (tally.scores[0].position, tally.scores[0].points) == ("ann", 5)
    assert tally.winners == ("ann",)


def test_level_first_places_go_to_higher_mean_confidence() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", confidence=0.6),
        a_ballot("bob", "bob", "ann", confidence=0.9),
    ]

    assert tallied(("ann", "bob"), ballots).winners == ("bob",)


def test_voters_without_a_confidence_make_up_none() -> None:
    ballots = [a_ballot("ann", "ann", "bob"), a_ballot("bob", "bob", "ann")]
    ballots = [ballot.model_copy(update={"confidence": None}) for ballot in ballots]
    tally = tallied(("ann", "bob"), ballots)

    assert [score.mean_confidence for score in tally.scores] == [None, None]
    assert tally.winners == ("ann", "bob")


def test_confidence_is_the_mean_of_those_who_ranked_it_first() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", confidence=0.6),
        a_ballot("bob", "ann", "bob", confidence=0.8),
    ]
    first, second = tallied(("ann", "bob"), ballots).scores

    assert first.mean_confidence == pytest.approx(0.7)
    assert second.mean_confidence is None


def test_what_is_level_in_everything_is_shown_as_a_tie() -> None:
    ballots = [a_ballot("ann", "ann", "bob"), a_ballot("bob", "bob", "ann")]

    assert tallied(("ann", "bob"), ballots).winners == ("ann", "bob")


def test_weights_multiply_a_voters_points() -> None:
    ballots = [a_ballot("ann", "ann", "bob"), a_ballot("bob", "bob", "ann")]
    tally = tallied(("ann", "bob"), ballots, VoteRules(weights={"bob": 3}, exclude_self=False))

    assert (tally.scores[0].position, tally.scores[0].points) == ("bob", 3)


def a_debate_with_ballots(*rounds: tuple[int, str]) -> Debate:
    cast = [
        BallotCast(
            ballot=Ballot(turn=Turn(act=Act.BALLOT, round=number, agent=voter), ranking=(voter,))
        )
        for number, voter in rounds
    ]
    return fold(log_of([DebateStarted(setup=a_setup()), *cast]))


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
    debate = a_debate_with_ballots(
        (0, "architect"),
        (0, "simplicity"),
        (1, "architect"),
        (2, "architect"),
        (2, "security"),
    )
    tally = Tally(scores=(), winners=(), controversial=False, voters=voters)

    assert [ballot.turn.key for ballot in counted_ballots(debate, tally)] == expected


def test_nobody_voted_means_nobody_won() -> None:
    tally = tallied(("ann", "bob"), [], abstained=["ann", "bob"])

    assert tally.winners == ()
    assert tally.abstained == ("ann", "bob")
    assert not tally.controversial


@pytest.mark.parametrize(
    ("ranking", "fault"),
    [
        (("ann", "bob"), ""),
        (("ann",), "missing: bob"),
        (("ann", "bob", "eve"), "unknown: eve"),
        (("ann", "ann", "bob"), "ranked twice: ann"),
        (("bob", "ann", "bob", "ann"), "ranked twice: ann, bob"),
        (("eve", "eve", "fay"), "missing: ann, bob; unknown: eve, eve, fay; ranked twice: eve"),
    ],
)
def test_a_ranking_is_checked(ranking: tuple[str, ...], fault: str) -> None:
    assert fault == check(ranking, ("ann", "bob"))


KAFKA, POSTGRES, BOTH = (Option(id=f"o{n}", name=name) for n, name in enumerate(("K", "P", "B"), 1))
CHOICES = OptionList(items=(KAFKA, POSTGRES, BOTH))


def for_options(voter: str, **probabilities: float) -> Ballot:
    return a_ballot(voter, "ann").model_copy(update={"probabilities": probabilities})


def test_options_are_counted_by_first_choices_then_mean_probability() -> None:
    ballots = [
        for_options("ann", o1=0.6, o2=0.4),
        for_options("bob", o1=0.1, o2=0.9),
        for_options("cid", o1=0.55, o2=0.45),
        a_ballot("dee", "ann"),
    ]
    scores = count_options(CHOICES, ballots)

    assert [(score.option, score.first_choices) for score in scores] == [
        ("o1", 2),
        ("o2", 1),
        ("o3", 0),
    ]
    assert [score.mean_probability for score in scores] == pytest.approx([0.4167, 0.5833, 0.0])
    assert winning_options(scores) == ("o1",)
    assert is_close(scores)


def test_a_weight_counts_for_options_too() -> None:
    ballots = [for_options("ann", o1=1.0), for_options("bob", o2=1.0)]
    scores = count_options(CHOICES, ballots, VoteRules(weights={"bob": 3.0}))

    assert [(score.option, score.first_choices) for score in scores] == [
        ("o2", 3),
        ("o1", 1),
        ("o3", 0),
    ]
    assert scores[0].mean_probability == 0.75
    assert not is_close(scores)


def test_level_options_both_win() -> None:
    scores = count_options(CHOICES, [for_options("ann", o1=1.0), for_options("bob", o2=1.0)])
    assert winning_options(scores) == ("o1", "o2")


def test_three_texts_for_one_option_are_no_controversy() -> None:
    ballots = [for_options(voter, o1=0.9, o2=0.1) for voter in ("ann", "bob", "cid")]
    assert not is_close(count_options(CHOICES, ballots))


def test_without_probabilities_no_option_is_counted() -> None:
    assert count_options(CHOICES, [a_ballot("ann", "ann")]) == ()
    assert winning_options(()) == ()
    assert not is_close(())


def test_level_texts_go_to_the_likelier_option() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob").model_copy(update={"probabilities": {"o1": 0.9, "o2": 0.1}}),
        a_ballot("bob", "bob", "ann").model_copy(update={"probabilities": {"o1": 0.6, "o2": 0.4}}),
    ]
    tally = count({"ann": "o2", "bob": "o1"}, ballots, PLAIN, options=CHOICES)

    assert tally.winners == ("bob",)
    assert [(score.position, score.option, score.mean_probability) for score in tally.scores] == [
        ("bob", "o1", 0.75),
        ("ann", "o2", 0.25),
    ]
    assert not tally.controversial


def test_the_judge_starts_from_the_best_text_for_the_option_that_won() -> None:
    ballots = [
        a_ballot(voter, "ann", "bob", "cid").model_copy(update={"probabilities": shares})
        for voter, shares in {
            "ann": {"o1": 0.9, "o2": 0.1},
            "bob": {"o1": 0.2, "o2": 0.8},
            "cid": {"o1": 0.3, "o2": 0.7},
        }.items()
    ]
    tally = count({"ann": "o1", "bob": "o2", "cid": "o2"}, ballots, PLAIN, options=CHOICES)

    assert tally.winners == ("ann",)
    assert winning_options(tally.options) == ("o2",)
    assert best_texts(tally) == ("bob",)
    nobody = count({"ann": "o1", "bob": "o3", "cid": "o3"}, ballots, PLAIN, options=CHOICES)
    assert best_texts(nobody) == ("ann",)


def test_a_tie_of_positions_goes_to_the_one_with_more_first_places() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", "cid"),
        a_ballot("bob", "ann", "bob", "cid"),
        a_ballot("cid", "bob", "cid", "ann"),
    ]
    tally = tallied(("bob", "ann", "cid"), ballots)

    assert [(score.position, score.points, score.first_places) for score in tally.scores[:2]] == [
        ("ann", 4, 2),
        ("bob", 4, 1),
    ]
    assert tally.winners == ("ann",)
