"""Computes whether voters agree and whether a voter changed its mind (pure).

Only options and probabilities are compared, not texts: opposite answers can have similar words.
Voters agree if all give the same option the highest probability, and it leads the second by at
least 30 percentage points on average. Measured on recorded forecasts (arXiv:2512.22625): if only
the other questions are debated, 85 to 95 % of the gain remains at about a third of the cost.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean

from core.rules.options import leading

#: The least average lead over the second option at which voters agree.
LEAD_FROM = 0.30
#: A larger difference between voters' probabilities for an option is reported as a gap.
GAP_FROM = 0.20
#: The least change of a probability that counts as a changed mind.
MOVED_FROM = 0.10
#: Decimal places for comparisons, so that 0.7 - 0.5 equals 0.2.
_PLACES = 3

#: Probabilities by option id.
Probabilities = Mapping[str, float]


@dataclass(frozen=True)
class Agreement:
    #: Id of the first choice of all voters; empty if their first choices differ.
    option: str
    #: Id of the option for which the voters' probabilities differ most.
    widest: str
    #: The highest minus the lowest probability for that option, 0 to 1.
    spread: float
    #: The lowest and highest probability for `option`; 0 if it is empty.
    lowest: float = 0.0
    highest: float = 0.0
    #: The lead of `option` over the second option on average; 0 if it is empty.
    lead: float = 0.0

    @property
    def is_agreed(self) -> bool:
        """Whether the voters agree so clearly that a debate is not needed."""
        return bool(self.option) and self.lead >= LEAD_FROM


def agreement(
    votes: Mapping[str, Probabilities], models: Mapping[str, str] | None = None
) -> Agreement:
    """Compare the probabilities of voters. A voter without probabilities has no first choice.

    `models` has the model of each voter. All voters of one model count as one in the average.
    """
    first_choices = {leading(probabilities) for probabilities in votes.values()}
    # In a fixed order, because votes come in any: of equal spreads the first option is the widest.
    options = sorted({option for vote in votes.values() for option in vote})
    spreads = {option: spread_of(option, votes.values()) for option in options}
    widest = max(options, key=lambda option: spreads[option], default="")
    favourite = first_choices.pop() if len(first_choices) == 1 and len(votes) > 1 else ""
    shares, lead = [0.0], 0.0
    if favourite:
        shares = [round(vote.get(favourite, 0.0), _PLACES) for vote in votes.values()]
        average = dict(mean(votes, models or {}))
        share = average.pop(favourite, 0.0)
        # If the shares add up to less than 1, the difference (doubt) counts as an option.
        second = max(*average.values(), 1 - share - sum(average.values()), 0.0)
        lead = round(share - second, _PLACES)
    return Agreement(
        option=favourite,
        widest=widest,
        spread=spreads.get(widest, 0.0),
        lowest=min(shares),
        highest=max(shares),
        lead=lead,
    )


def spread_of(option: str, votes: Collection[Probabilities]) -> float:
    """The highest minus the lowest probability for an option."""
    shares = [vote.get(option, 0.0) for vote in votes]
    return round(max(shares) - min(shares), _PLACES) if shares else 0.0


def mean(votes: Mapping[str, Probabilities], models: Mapping[str, str]) -> Probabilities:
    """The mean probability of each option, 0 to 1; all voters of one model count as one.

    A voter that is not in `models` counts as a model of its own.
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
    """Whether the first choice changed, or a probability changed by 10 percentage points."""
    if leading(before) != leading(after):
        return True
    options = before.keys() | after.keys()
    changes = (abs(before.get(option, 0.0) - after.get(option, 0.0)) for option in options)
    return round(max(changes, default=0.0), _PLACES) >= MOVED_FROM
