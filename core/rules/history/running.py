"""The running summary people read on the board, in every format and with every strategy (pure).

The first answers are summed up in the background as soon as all are there, then each round that is
over, the last one too; a format that has only one round, phase by phase. Agents are shown these
summaries only where their strategy says so.
"""

from collections.abc import Sequence

from core.debate.agents import ContextMethod
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.rules.formats.registry import format_of, turns_ready
from core.rules.history import rounds as by_round
from core.rules.history.material import stage_turn
from core.rules.history.told import method_of


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """Phases and rounds that are over and not summed up yet; none with one agent alone."""
    if not debate.setup.summarization.enabled or len(debate.setup.agents) == 1:
        return ()
    form = format_of(debate)
    acts = {
        contribution.turn.act
        for contribution in debate.contributions.values()
        if contribution.turn.round == 1
    }
    # A phase is over when no turn of it, or of one before it, can follow.
    coming = {turn.act for turn in turns_ready(debate, min(rounds, 1))}.intersection(form.phases)
    first = min(map(form.phases.index, coming), default=len(form.phases))
    over = [act for act in form.stages if act in acts and form.phases.index(act) < first]
    turns = [stage_turn(act) for act in over]
    # Where everybody uses `hierarchical` a round waits for its condensed texts.
    methods = {method_of(debate, agent.id) for agent in debate.setup.agents}
    if form.most_rounds > 1 and ContextMethod.HIERARCHICAL not in methods:
        turns += by_round.of_each_round(debate, rounds)
    return tuple(turn for turn in turns if not debate.is_done(turn))


def rank(debate: Debate, turn: Turn) -> tuple[int, int]:
    """How far the debate had come where this sums it up: by round, then by phase."""
    phases = format_of(debate).phases
    return turn.round, phases.index(Act(turn.target)) if turn.target in phases else len(phases)
