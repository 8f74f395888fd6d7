"""Who holds another option best after the debate than before it, and what moved them (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.models import Contribution, Debate, Source
from core.rules.options import leading, options_of


@dataclass(frozen=True)
class MindChange:
    """What a voter held best before and after the debate: ids of options."""

    voter: str
    before: str
    after: str
    #: How likely it held both before and after, 0 to 1 by option id.
    first: Mapping[str, float]
    final: Mapping[str, float]
    #: What the voter says moved it: key of a contribution, or id of a source; None: nothing.
    moved_by: str | None


def mind_changes(debate: Debate) -> Sequence[MindChange]:
    """Voters who moved, in roster order.

    Empty without a blind ballot, before the final one, and in debates of older versions, which
    compared whose text was ranked first.
    """
    options = options_of(debate)
    by_round = sorted(debate.ballots.values(), key=lambda ballot: ballot.turn.round)
    blind = {ballot.voter: ballot for ballot in by_round if ballot.turn.round == 0}
    # Of several later ballots of a voter the newest counts.
    final = {ballot.voter: ballot for ballot in by_round if ballot.turn.round > 0}
    found: list[MindChange] = []
    for agent in debate.setup.agents:
        if agent.id not in blind or agent.id not in final:
            continue
        first = options.probabilities(blind[agent.id].probabilities)
        last = options.probabilities(final[agent.id].probabilities)
        before, after = leading(first), leading(last)
        if before and after and before != after:
            moved_by = final[agent.id].moved_by
            found.append(MindChange(agent.id, before, after, first, last, moved_by))
    return found


def mover(debate: Debate, change: MindChange) -> Contribution | Source | None:
    """What moved the voter: what another agent said, or a source; None where it names nothing."""
    made = debate.contributions.get(change.moved_by or "")
    if made:
        return made if made.turn.agent != change.voter else None
    return next((source for source in debate.evidence if source.id == change.moved_by), None)
