"""People's ballots on the options, counted beside the agents' own (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.debate.state import Debate
from core.rules.options import options_of


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
