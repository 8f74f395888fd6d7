"""Ballots → tally: first choices and probabilities by option, the Borda count by position (pure).

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

#: A vote is close when the best two options' mean probabilities are no further apart than this.
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
    """Count ballots that rank every position once, by position and by option.

    Ties of positions are broken by more first places, then by the higher mean probability of the
    option that the position stands for; what is still level is shown as a tie, in the order of
    `positions`. Two texts for one option are no controversy: close are only options.

    Args:
        positions: Ids of all positions voted on, in roster order, with the options they stand for.
        ballots: One of each voter.
        rules: Self-votes and weights.
        abstained: Ids of agents whose ballots could not be counted.
        options: What there was to choose between.
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
    """Count the ballots by option: first choices, then mean probability; best first.

    A voter who holds two options equally likely puts none first. Ballots without probabilities
    do not count here.
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
    """The option that won; several where first choices and mean probability are level."""
    best = scores[:1]
    return tuple(
        score.option
        for score in scores
        if (score.first_choices, score.mean_probability)
        == (best[0].first_choices, best[0].mean_probability)
    )


def option_voted_for(debate: Debate) -> str:
    won = winning_options(debate.tally.options) if debate.tally else ()
    return options_of(debate).resolve(won[0]) if len(won) == 1 else ""


def was_overruled(debate: Debate) -> bool | None:
    """Whether the verdict takes another option than the vote chose; None: nobody can say."""
    voted = option_voted_for(debate)
    if not voted or debate.verdict is None or debate.verdict.is_undecided:
        return None
    return options_of(debate).resolve(debate.verdict.option) != voted


def preferred_options(debate: Debate) -> Mapping[str, str] | None:
    """What each agent's counted ballot puts first, empty: several are level; None: no such vote."""
    options, tally = options_of(debate), debate.tally
    if tally is None or not tally.options:
        return None
    return {
        ballot.voter: leading(options.probabilities(ballot.probabilities))
        for ballot in counted_ballots(debate, tally)
    }


def best_texts(tally: Tally) -> tuple[str, ...]:
    """The position that the judge starts from: the best ranked one for an option that won.

    Several where they are level; the best ranked of all where no position stands for a winner.
    """
    won = winning_options(tally.options)
    fitting = [score for score in tally.scores if score.option in won]
    if not tally.winners or not fitting:
        return tally.winners
    return tuple(score.position for score in fitting if _order(score) == _order(fitting[0]))


def is_close(scores: Sequence[OptionScore]) -> bool:
    if len(scores) < 2:  # noqa: PLR2004 - two can be close
        return False
    lead = scores[0].mean_probability - max(score.mean_probability for score in scores[1:])
    return round(lead, 3) <= CLOSE_WITHIN


def is_people_vote_closed(debate: Debate) -> bool:
    """Whether people's ballots can no longer be cast or changed: their decision stands.

    A decision that is put off to a date leaves the vote open.
    """
    return debate.decision is not None and debate.decision.kind is not DecisionKind.REVISIT


def counted_ballots(debate: Debate, tally: Tally) -> Sequence[Ballot]:
    """The ballots behind a tally: the newest of those whose votes were counted.

    Those cast before the debate only where it was skipped.
    """
    cast = [ballot for ballot in debate.ballots.values() if ballot.voter in tally.voters]
    last = max((ballot.turn.round for ballot in cast), default=0)
    return [ballot for ballot in cast if ballot.turn.round == last]


def first_votes(debate: Debate) -> Mapping[str, Mapping[str, float]]:
    """What the first ballots say of the options, by voter; who says nothing of them is left out.

    They were cast before anybody had read the others'.
    """
    options = options_of(debate)
    return {
        ballot.voter: shares
        for ballot in debate.ballots.values()
        if not ballot.turn.round and (shares := options.probabilities(ballot.probabilities))
    }


def last_abstentions(debate: Debate) -> Sequence[Abstention]:
    cast = (*debate.ballots.values(), *debate.abstentions.values())
    last = max((ballot.turn.round for ballot in cast), default=0)
    return [abstained for abstained in debate.abstentions.values() if abstained.turn.round == last]


def is_uncounted(debate: Debate, agent: str) -> bool:
    tally = debate.tally
    if tally is None or not tally.options:
        return False
    return all(
        ballot.voter != agent or not ballot.probabilities
        for ballot in counted_ballots(debate, tally)
    )


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
    sure = score.mean_probability if score.mean_probability is not None else score.mean_confidence
    return (-score.points, -score.first_places, -(sure or 0.0))


@dataclass(frozen=True)
class PeopleScore:
    option: str
    first_choices: int
    #: Ballots that name it at all.
    named: int


@dataclass(frozen=True)
class PeopleCount:
    scores: tuple[PeopleScore, ...]
    voters: tuple[str, ...]

    @property
    def winners(self) -> tuple[str, ...]:
        best = self.scores[:1]
        return tuple(
            score.option
            for score in self.scores
            if self.voters
            and (score.first_choices, score.named) == (best[0].first_choices, best[0].named)
        )


def count_people(debate: Debate, *, late: bool = False) -> PeopleCount:
    """Count people's newest ballots by the options as they stand; or those cast after the reveal.

    Ballots on positions, which older versions took, do not count here.
    """
    options = options_of(debate)
    ballots: dict[str, Sequence[str]] = {}
    cast = debate.late_ballots if late else debate.people_ballots
    for person, ballot in cast.items():
        # Two options of a ballot may have been merged since: the better place counts.
        current = dict.fromkeys(options.resolve(choice) for choice in ballot.options)
        if choices := [option for option in current if option]:
            ballots[person] = choices
    scores = [
        PeopleScore(
            option=item.id,
            first_choices=sum(ranking[0] == item.id for ranking in ballots.values()),
            named=sum(item.id in ranking for ranking in ballots.values()),
        )
        for item in options.items
    ]
    scores.sort(key=lambda score: (-score.first_choices, -score.named))
    return PeopleCount(scores=tuple(scores), voters=tuple(ballots))
