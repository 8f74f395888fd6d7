"""The vote against a brute-force count, and its rules one by one."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import BallotCast, DebateStarted, fold
from core.models import Act, Ballot, Debate, Tally, Turn, VoteRules
from core.rules.voting import check, count, counted
from core.testing import a_setup, recorded

POSITIONS = ("ann", "bob", "cid", "dee")


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
    tally = count(positions, ballots)

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
    tally = count(positions, ballots, VoteRules(exclude_self=True))

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
    tallies = [count(positions, list(order)) for order in permutations(ballots)]

    assert len({tuple(tally.winners) for tally in tallies}) == 1
    points = [{s.position: s.points for s in tally.scores} for tally in tallies]
    assert all(one == points[0] for one in points)


def test_the_example_of_three_voters_gives_five_points() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", "cid"),
        a_ballot("bob", "bob", "ann", "cid"),
        a_ballot("cid", "ann", "bob", "cid"),
    ]
    tally = count(("ann", "bob", "cid"), ballots)

    assert (tally.scores[0].position, tally.scores[0].points) == ("ann", 5)
    assert tally.winners == ("ann",)
    assert tally.controversial


def test_a_clear_lead_is_not_controversial() -> None:
    ballots = [a_ballot(voter, "ann", "bob", "cid") for voter in ("ann", "bob")]

    assert not count(("ann", "bob", "cid"), ballots).controversial


def test_level_points_go_to_more_first_places() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", "cid", confidence=0.9),
        a_ballot("bob", "cid", "bob", "ann", confidence=0.2),
    ]
    tally = count(("bob", "ann", "cid"), ballots)

    assert {score.points for score in tally.scores} == {2}
    assert [score.position for score in tally.scores] == ["ann", "cid", "bob"]
    assert tally.winners == ("ann",)


def test_level_first_places_go_to_higher_mean_confidence() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", confidence=0.6),
        a_ballot("bob", "bob", "ann", confidence=0.9),
    ]

    assert count(("ann", "bob"), ballots).winners == ("bob",)


def test_voters_without_a_confidence_make_up_none() -> None:
    ballots = [a_ballot("ann", "ann", "bob"), a_ballot("bob", "bob", "ann")]
    ballots = [ballot.model_copy(update={"confidence": None}) for ballot in ballots]
    tally = count(("ann", "bob"), ballots)

    assert [score.mean_confidence for score in tally.scores] == [None, None]
    assert tally.winners == ("ann", "bob")


def test_confidence_is_the_mean_of_those_who_ranked_it_first() -> None:
    ballots = [
        a_ballot("ann", "ann", "bob", confidence=0.6),
        a_ballot("bob", "ann", "bob", confidence=0.8),
    ]
    first, second = count(("ann", "bob"), ballots).scores

    assert first.mean_confidence == pytest.approx(0.7)
    assert second.mean_confidence is None


def test_two_positions_can_be_controversial() -> None:
    ballots = [a_ballot("ann", "ann", "bob"), a_ballot("bob", "bob", "ann")]

    assert count(("ann", "bob"), ballots).controversial


def test_what_is_level_in_everything_is_shown_as_a_tie() -> None:
    ballots = [a_ballot("ann", "ann", "bob"), a_ballot("bob", "bob", "ann")]

    assert count(("ann", "bob"), ballots).winners == ("ann", "bob")


def test_weights_multiply_a_voters_points() -> None:
    ballots = [a_ballot("ann", "ann", "bob"), a_ballot("bob", "bob", "ann")]
    tally = count(("ann", "bob"), ballots, VoteRules(weights={"bob": 3}))

    assert (tally.scores[0].position, tally.scores[0].points) == ("bob", 3)


def a_debate_with_ballots(*rounds: tuple[int, str]) -> Debate:
    cast = [
        BallotCast(
            ballot=Ballot(turn=Turn(act=Act.BALLOT, round=number, agent=voter), ranking=(voter,))
        )
        for number, voter in rounds
    ]
    return fold(recorded([DebateStarted(setup=a_setup()), *cast]))


@pytest.mark.parametrize(
    ("voters", "expected"),
    [
        (("architect", "security"), ["r2/ballot/architect", "r2/ballot/security"]),
        (("architect",), ["r2/ballot/architect"]),
        ((), []),
        (("simplicity",), []),
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

    assert [ballot.turn.key for ballot in counted(debate, tally)] == expected


def test_nobody_voted_means_nobody_won() -> None:
    tally = count(("ann", "bob"), [], abstained=["ann", "bob"])

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
        (("eve", "eve", "fay"), "missing: ann, bob; unknown: eve, eve, fay; ranked twice: eve"),
    ],
)
def test_a_ranking_is_checked(ranking: tuple[str, ...], fault: str) -> None:
    assert fault == check(ranking, ("ann", "bob"))
