"""Whether voters agree, who has_moved, and whether a debate is worth holding (pure).

Compared are options and probabilities, never words: opposites in like words score alike there.
Voters agree where all put the same option first, and it leads the second by 30 points or more on
average: measured on recorded forecasts (arXiv:2512.22625), debating only the other questions keeps
85 to 95 % of a debate's gain at about a third of its price.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from core.rules.options import leading

#: Voters agree on an option that leads the second by at least so much on average.
LEAD_FROM = 0.30
#: Probabilities for an option that lie further apart than this are a gap worth a word.
GAP_FROM = 0.20
#: A round moved nobody when no probability changed by so much.
MOVED_FROM = 0.10
#: Probabilities are compared in thousandths: 0.7 - 0.5 is to count as 0.2.
_PLACES = 3

#: Probabilities by option id.
Probabilities = Mapping[str, float]


@dataclass(frozen=True)
class Agreement:
    #: The option all of them put first; empty if they do not.
    option: str
    #: Ids of the options somebody puts first → by whom.
    first: Mapping[str, Sequence[str]]
    #: The option on which voters lie furthest apart, and how far, 0 to 1.
    widest: str
    spread: float
    #: The least and the most that anybody gives the option all put first; 0 where they do not.
    lowest: float = 0.0
    highest: float = 0.0
    #: How far that option leads the second on average; 0 where not all put the same first.
    lead: float = 0.0

    @property
    def is_agreed(self) -> bool:
        """Whether a debate would have nothing to be about."""
        return bool(self.option) and self.lead >= LEAD_FROM


def agreement(
    votes: Mapping[str, Probabilities], models: Mapping[str, str] | None = None
) -> Agreement:
    """How far these voters agree; a voter without probabilities puts nothing first.

    `models` has the model of each voter: the voters of one model count once in the average.
    """
    first: dict[str, list[str]] = {}
    for voter, probabilities in votes.items():
        first.setdefault(leading(probabilities), []).append(voter)
    options = list(dict.fromkeys(option for vote in votes.values() for option in vote))
    spreads = {option: spread_of(option, votes.values()) for option in options}
    widest = max(options, key=lambda option: spreads[option], default="")
    only = next(iter(first)) if len(first) == 1 and len(votes) > 1 else ""
    shares, lead = [0.0], 0.0
    if only:
        shares = [round(vote.get(only, 0.0), _PLACES) for vote in votes.values()]
        average = dict(mean(votes, models or {}))
        own = average.pop(only, 0.0)
        # The share missing to 1 (doubt) counts as an option.
        second = max(*average.values(), 1 - own - sum(average.values()), 0.0)
        lead = round(own - second, _PLACES)
    return Agreement(
        option=only,
        first={option: voters for option, voters in first.items() if option},
        widest=widest,
        spread=spreads.get(widest, 0.0),
        lowest=min(shares),
        highest=max(shares),
        lead=lead,
    )


def spread_of(option: str, votes: Collection[Probabilities]) -> float:
    shares = [vote.get(option, 0.0) for vote in votes]
    return round(max(shares) - min(shares), _PLACES) if shares else 0.0


def mean(votes: Mapping[str, Probabilities], models: Mapping[str, str]) -> Probabilities:
    """How likely the voters hold each option the best on average, 0 to 1; every model counts once.

    A voter that is missing in `models` is a model of its own.
    """
    by_model: dict[str, list[Probabilities]] = {}
    for voter, vote in votes.items():
        by_model.setdefault(models.get(voter, voter), []).append(vote)
    return {
        option: fmean(
            fmean(vote.get(option, 0.0) for vote in model_votes)
            for model_votes in by_model.values()
        )
        for option in dict.fromkeys(option for vote in votes.values() for option in vote)
    }


def has_moved(before: Probabilities, after: Probabilities) -> bool:
    """Whether a voter moved: another option first, or any probability changed by 10 points."""
    if leading(before) != leading(after):
        return True
    options = before.keys() | after.keys()
    changes = (abs(before.get(option, 0.0) - after.get(option, 0.0)) for option in options)
    return round(max(changes, default=0.0), _PLACES) >= MOVED_FROM
