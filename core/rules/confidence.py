"""How sure a verdict is, computed from the debate and said with what it rests on (pure).

What a model says of its own confidence is too high and climbs in a debate whatever happens
(arXiv:2505.19184, arXiv:2306.13063); agreement between different models tells more. Measured on
recorded forecasts (arXiv:2512.22625): by the spread of the first answers of different models, the
wrong side was taken in 6, 16, 30 and 42 % of the questions, a quarter of them each. Within one
model the spread says little, so that agreement with itself is worth no more than the third of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.rules.agreement import Probabilities, spread_of
from core.rules.options import leading

#: Largest spread of the first answers → how often such a side was the right one, in percent.
BY_SPREAD = ((0.05, 94), (0.10, 84), (0.20, 70), (1.0, 58))
#: The most that a single model's agreement with itself is worth.
ONE_MODEL_AT_MOST = 70
#: A verdict that leaves a major requirement unmet is never surer.
UNMET_AT_MOST = 40
#: Taken off for each major requirement of which nobody can say whether it is met, 20 at most.
_UNKNOWN, _UNKNOWN_AT_MOST = 5, 20
#: Taken off when the judge decided otherwise with the order of the positions swapped.
_SWAP = 20
#: Taken off at most for ballots that were not counted and turns that failed, by their share.
_MISSING = 30
#: Least percent → the word for it.
BANDS = ((80, "high"), (60, "fair"), (40, "low"), (0, "very low"))


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """What a verdict rests on."""

    #: The option decided for.
    option: str
    #: The final probabilities by voter, counted ballots only.
    votes: Mapping[str, Probabilities]
    #: The first ones, before anybody had read the others.
    first_votes: Mapping[str, Probabilities]
    #: The model of each voter, as `provider/model`.
    models: Mapping[str, str]
    #: Voters there could have been.
    voters: int
    turns_planned: int = 0
    turns_failed: int = 0
    requirements_unmet: int = 0
    requirements_unknown: int = 0
    #: Whether the judge, asked again in another order, decided for another option.
    swap_disagreed: bool = False


@dataclass(frozen=True)
class Confidence:
    """One figure, and what it rests on in words for people."""

    #: 0 to 100.
    percent: int
    rests_on: tuple[str, ...]

    @property
    def word(self) -> str:
        """The figure in a word."""
        return next(word for least, word in BANDS if self.percent >= least)


def confidence(grounds: Grounds) -> Confidence | None:
    """How sure the verdict is; None where no ballot was counted: then nothing can be said."""
    if not grounds.votes or not grounds.option:
        return None
    said: list[str] = []
    percent = _from_agreement(grounds, said)
    # Uncounted ballots and failed turns take something off.
    uncounted = max(0, grounds.voters - len(grounds.votes))
    off = 0.0
    if uncounted:
        said.append(f"{_count(uncounted, 'ballot')} could not be counted")
        off += _MISSING * uncounted / grounds.voters
    if grounds.turns_failed and grounds.turns_planned:
        said.append(f"{grounds.turns_failed} of {grounds.turns_planned} turns failed")
        off += _MISSING * min(1.0, grounds.turns_failed / grounds.turns_planned)
    percent -= min(off, _MISSING)
    if grounds.swap_disagreed:
        percent -= _SWAP
        said.append("the judge decided otherwise when it read the positions in another order")
    if unknown := grounds.requirements_unknown:
        percent -= min(unknown * _UNKNOWN, _UNKNOWN_AT_MOST)
        said.append(f"nobody can say yet whether {_count(unknown, 'major requirement')} can be met")
    if unmet := grounds.requirements_unmet:
        percent = min(percent, UNMET_AT_MOST)
        said.append(f"{_count(unmet, 'major requirement')} not met")
    return Confidence(round(max(0.0, min(100.0, percent))), tuple(said))


def _from_agreement(grounds: Grounds, said: list[str]) -> float:
    """What agreement is worth: by the spread of first answers, then by who stands by it.

    Agents of one model are one voice: each model counts by the share of its agents.
    """
    option, votes = grounds.option, grounds.votes
    by_model: dict[str, list[str]] = {}
    for voter in votes:
        by_model.setdefault(grounds.models.get(voter, ""), []).append(voter)
    shares = [
        sum(leading(votes[voter]) == option for voter in voters) / len(voters)
        for voters in by_model.values()
    ]
    agreed = sum(shares) / len(shares)
    for_it = sum(leading(vote) == option for vote in votes.values())
    said.append(f"{for_it} of {len(votes)} agents put it first")
    early = [grounds.first_votes[voter] for voter in votes if voter in grounds.first_votes]
    spread = spread_of(option, early or list(votes.values()))
    worth = float(next(percent for least, percent in BY_SPREAD if spread <= least))
    if len(by_model) == 1:
        said.append("all agents are one model, whose agreement with itself says little")
        worth = min(worth, ONE_MODEL_AT_MOST)
    else:
        apart = f"{round(spread * 100)} points apart"
        said.append(f"{len(by_model)} different models; their first answers on it lay {apart}")
    return worth * agreed


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
