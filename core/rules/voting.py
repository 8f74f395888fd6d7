"""Counts ballots: first choices and probabilities by option, Borda points by position (pure).

Score of a position = Σ over voters of weight × (N − rank), N = number of positions, rank from 1.
Source: J.-C. de Borda, "Mémoire sur les élections au scrutin" (1781).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.debate.rules import VoteRules
from core.debate.state import Debate
from core.debate.verdict import DecisionKind
from core.debate.vote import Abstention, Ballot, OptionScore, Score, Tally
from core.rules.options import OptionList, leading, options_of

#: A vote is close if the mean probabilities of the best two options differ by at most this.
CLOSE_WITHIN = 0.10
OWN_TEXT = "Where a voter ranked its own text does not count."


def count(
    positions: Mapping[str, str],
    ballots: Sequence[Ballot],
    rules: VoteRules | None = None,
    *,
    abstained: Sequence[str] = (),
    options: OptionList | None = None,
) -> Tally:
    """Count ballots by position and by option. Each ballot ranks every position once.

    Ties of positions are broken by more first places, then by the higher mean probability of the
    position's option. Positions that are still level remain a tie, in the order of `positions`.
    Whether the vote is close depends only on options, not on positions.

    Args:
        positions: Ids of all positions voted on, in roster order → their options.
        ballots: One ballot per voter.
        rules: Self-votes and weights.
        abstained: Ids of agents whose ballots could not be counted.
        options: The options of the debate.
    """
    rules = rules or VoteRules()
    by_option = count_options(options or OptionList(), ballots, rules)
    means = {score.option: score.mean_probability for score in by_option}
    unordered = (
        _score(position, ballots, rules).model_copy(
            update={"option": option, "mean_probability": means.get(option)}
        )
        for position, option in positions.items()
    )
    scores = sorted(unordered, key=_order)
    winners = [score.position for score in scores if _order(score) == _order(scores[0])]
    return Tally(
        scores=tuple(scores),
        options=by_option,
        winners=tuple(winners) if ballots else (),
        controversial=is_close(by_option),
        voters=tuple(ballot.voter for ballot in ballots),
        abstained=tuple(abstained),
    )


def count_options(
    options: OptionList, ballots: Sequence[Ballot], rules: VoteRules | None = None
) -> tuple[OptionScore, ...]:
    """Count the ballots by option; sorted by first choices, then by mean probability.

    A voter with two equally likely options has no first choice. Ballots without probabilities are
    left out.
    """
    weights = (rules or VoteRules()).weights
    votes = [
        (weights.get(ballot.voter, 1.0), options.probabilities(ballot.probabilities))
        for ballot in ballots
        if ballot.probabilities
    ]
    total = sum(weight for weight, _ in votes)
    if not total:
        return ()
    scores = [
        OptionScore(
            option=item.id,
            first_choices=sum(weight for weight, vote in votes if leading(vote) == item.id),
            mean_probability=round(
                sum(weight * vote.get(item.id, 0.0) for weight, vote in votes) / total, 4
            ),
        )
        for item in options.items
    ]
    return tuple(sorted(scores, key=lambda score: (-score.first_choices, -score.mean_probability)))


def winning_options(scores: Sequence[OptionScore]) -> tuple[str, ...]:
    """The option that won; several if first choices and mean probability are level."""
    best = scores[:1]
    return tuple(
        score.option
        for score in scores
        if (score.first_choices, score.mean_probability)
        == (best[0].first_choices, best[0].mean_probability)
    )


def option_voted_for(debate: Debate) -> str:
    """Id of the option that won the vote; empty if none won, or several."""
    winners = winning_options(debate.option_scores)
    return options_of(debate).resolve(winners[0]) if len(winners) == 1 else ""


def preferred_options(debate: Debate) -> Mapping[str, str] | None:
    """The first choice of each counted ballot by agent; empty if several options are level.

    None if there was no vote on options.
    """
    options = options_of(debate)
    if not debate.option_scores:
        return None
    return {
        ballot.voter: leading(options.probabilities(ballot.probabilities))
        for ballot in counted_ballots(debate)
    }


def best_texts(tally: Tally | None) -> tuple[str, ...]:
    """The position that the judge starts from: the best ranked one for an option that won.

    Several if they are level. If no position is for a winning option, the best ranked of all.
    """
    if tally is None:
        return ()
    winners = winning_options(tally.options)
    scores = [score for score in tally.scores if score.option in winners]
    if not tally.winners or not scores:
        return tally.winners
    return tuple(score.position for score in scores if _order(score) == _order(scores[0]))


def is_close(scores: Sequence[OptionScore]) -> bool:
    if len(scores) < 2:  # noqa: PLR2004 - two can be close
        return False
    lead = scores[0].mean_probability - max(score.mean_probability for score in scores[1:])
    return round(lead, 3) <= CLOSE_WITHIN


def is_people_vote_closed(debate: Debate) -> bool:
    """Whether people can no longer cast or change ballots, because the team has decided.

    A decision to revisit the question later leaves the vote open.
    """
    return debate.decision is not None and debate.decision.kind is not DecisionKind.REVISIT


def counted_ballots(debate: Debate) -> Sequence[Ballot]:
    """The ballots of the tally: those of the last round in which its voters voted.

    These are the blind ballots only if the debate was skipped. Empty without a tally.
    """
    voters = debate.tally.voters if debate.tally else ()
    cast = [ballot for ballot in debate.ballots.values() if ballot.voter in voters]
    last = max((ballot.turn.round for ballot in cast), default=0)
    return [ballot for ballot in cast if ballot.turn.round == last]


def first_votes(debate: Debate) -> Mapping[str, Mapping[str, float]]:
    """The probabilities of the blind ballots by voter, without voters that gave none."""
    options = options_of(debate)
    return {
        ballot.voter: shares
        for ballot in debate.ballots.values()
        if not ballot.turn.round and (shares := options.probabilities(ballot.probabilities))
    }


def last_abstentions(debate: Debate) -> Sequence[Abstention]:
    """The abstentions and unreadable ballots of the last round with a vote."""
    votes = (*debate.ballots.values(), *debate.abstentions.values())
    last = max((vote.turn.round for vote in votes), default=0)
    return [item for item in debate.abstentions.values() if item.turn.round == last]


def is_uncounted(debate: Debate, agent: str) -> bool:
    """Whether the vote on options has no counted ballot of this agent."""
    return bool(debate.option_scores) and not any(
        ballot.voter == agent and ballot.probabilities for ballot in counted_ballots(debate)
    )


def _score(position: str, ballots: Sequence[Ballot], rules: VoteRules) -> Score:
    points, first_places, confidences = 0.0, 0, list[float]()
    for ballot in ballots:
        # Without the voter's own position, those below it move up.
        excluded = ballot.voter if rules.exclude_self else None
        ranking = [ranked for ranked in ballot.ranking if ranked != excluded]
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
    """The sort key of positions, best first."""
    mean = score.mean_probability if score.mean_probability is not None else score.mean_confidence
    return (-score.points, -score.first_places, -(mean or 0.0))


@dataclass(frozen=True)
class PeopleScore:
    option: str
    first_choices: int


@dataclass(frozen=True)
class PeopleCount:
    scores: tuple[PeopleScore, ...]
    voters: tuple[str, ...]

    @property
    def winners(self) -> tuple[str, ...]:
        """The options with most first choices; several if they are level."""
        best = self.scores[0].first_choices if self.voters else 0
        return tuple(score.option for score in self.scores if score.first_choices == best > 0)


def count_people(debate: Debate, *, late: bool = False) -> PeopleCount:
    """Count people's ballots by the current options; with `late`, those cast after the reveal.

    Ballots on positions, as in older versions, are left out.
    """
    options = options_of(debate)
    ballots: dict[str, Sequence[str]] = {}
    for person, ballot in (debate.late_ballots if late else debate.people_ballots).items():
        # If two options of a ballot were merged later, the better rank counts.
        current = dict.fromkeys(options.resolve(choice) for choice in ballot.options)
        if choices := [option for option in current if option]:
            ballots[person] = choices
    scores = [
        PeopleScore(
            option=item.id,
            first_choices=sum(ranking[0] == item.id for ranking in ballots.values()),
        )
        for item in options.items
    ]
    scores.sort(key=lambda score: -score.first_choices)
    return PeopleCount(scores=tuple(scores), voters=tuple(ballots))
