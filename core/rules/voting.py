"""Ballots → tally: the Borda count (pure).

Score of a position = Σ over voters of weight × (N − rank), N = number of positions, rank from 1.
Source: J.-C. de Borda, "Mémoire sur les élections au scrutin" (1781).
"""

from collections.abc import Sequence

from core.models import Ballot, Debate, DecisionKind, Score, Tally, VoteRules

#: The vote is called controversial when the best two are no further apart than this.
CONTROVERSIAL_WITHIN = 1.0


def count(
    positions: Sequence[str],
    ballots: Sequence[Ballot],
    rules: VoteRules | None = None,
    abstained: Sequence[str] = (),
) -> Tally:
    """Count the ballots.

    Ties are broken by more first places, then by higher mean confidence of the voters who ranked
    the position first; what is still level is shown as a tie, in the order of `positions`.

    Args:
        positions: Ids of all positions voted on, in roster order.
        ballots: Checked ballots: each ranks every position exactly once.
        rules: Self-votes and weights.
        abstained: Ids of agents whose ballots could not be counted.
    """
    rules = rules or VoteRules()
    scores = sorted((_score(position, ballots, rules) for position in positions), key=_order)
    winners = [score.position for score in scores if _order(score) == _order(scores[0])]
    close = len(scores) > 1 and scores[0].points - scores[1].points <= CONTROVERSIAL_WITHIN
    return Tally(
        scores=tuple(scores),
        winners=tuple(winners) if ballots else (),
        controversial=close and bool(ballots),
        voters=tuple(ballot.voter for ballot in ballots),
        abstained=tuple(abstained),
    )


def check(ranking: Sequence[str], positions: Sequence[str]) -> str:
    """Why this ranking is no ballot on these positions; empty if it is one."""
    missing = [position for position in positions if position not in ranking]
    unknown = [position for position in ranking if position not in positions]
    repeated = sorted({position for position in ranking if ranking.count(position) > 1})
    faults = (("missing", missing), ("unknown", unknown), ("ranked twice", repeated))
    return "; ".join(f"{what}: {', '.join(which)}" for what, which in faults if which)


def is_people_vote_closed(debate: Debate) -> bool:
    """Whether people's ballots can no longer be cast or changed: their decision stands.

    A decision that is put off to a date leaves the vote open.
    """
    return debate.decision is not None and debate.decision.kind is not DecisionKind.REVISIT


def counted(debate: Debate, tally: Tally) -> Sequence[Ballot]:
    """The ballots behind a tally: never those cast before the debate or on the way to its end."""
    cast = [ballot for ballot in debate.ballots.values() if ballot.voter in tally.voters]
    last = max((ballot.turn.round for ballot in cast), default=0)
    return [ballot for ballot in cast if ballot.turn.round == last > 0]


def _score(position: str, ballots: Sequence[Ballot], rules: VoteRules) -> Score:
    points, first_places, confidences = 0.0, 0, list[float]()
    for ballot in ballots:
        # A self-vote that is left out moves the others up.
        own = ballot.voter if rules.exclude_self else None
        ranking = [ranked for ranked in ballot.ranking if ranked != own]
        if position not in ranking:
            continue
        rank = ranking.index(position) + 1
        points += rules.weights.get(ballot.voter, 1.0) * (len(ranking) - rank)
        first_places += rank == 1
        if rank == 1 and ballot.confidence is not None:
            confidences.append(ballot.confidence)
    return Score(
        position=position,
        points=points,
        first_places=first_places,
        mean_confidence=sum(confidences) / len(confidences) if confidences else None,
    )


def _order(score: Score) -> tuple[float, int, float]:
    return (-score.points, -score.first_places, -(score.mean_confidence or 0.0))
