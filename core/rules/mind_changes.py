"""Who ranks another position first after the debate than before it, and why (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.models import Debate


@dataclass(frozen=True)
class MindChange:
    """A voter's first choice before and after the debate."""

    voter: str
    before: str
    after: str
    #: Key of the critique that the voter says moved it; None where it names none.
    moved_by: str | None


def mind_changes(debate: Debate) -> Sequence[MindChange]:
    """Voters who moved, in roster order. Empty without a blind ballot or before the final one."""
    by_round = sorted(debate.ballots.values(), key=lambda ballot: ballot.turn.round)
    blind = {ballot.voter: ballot for ballot in by_round if ballot.turn.round == 0}
    # Of several later ballots of a voter the newest counts.
    final = {ballot.voter: ballot for ballot in by_round if ballot.turn.round > 0}
    return [
        MindChange(agent.id, blind[agent.id].ranking[0], ballot.ranking[0], ballot.moved_by)
        for agent in debate.setup.agents
        if (ballot := final.get(agent.id))
        and agent.id in blind
        and blind[agent.id].ranking[0] != ballot.ranking[0]
    ]
