"""The running summary people read on the board, in every format and with every strategy (pure).

Each round that is over is summed up in the background; a format that has only one round, phase by
phase. Agents are shown these summaries only where their strategy says so.
"""

from collections.abc import Sequence

from core.models import SUMMARIZER, Act, ContextMethod, Debate, Turn
from core.rules.formats.registry import format_of, turns_ready
from core.rules.history import rounds as by_round
from core.rules.history.material import Material
from core.rules.history.rules_in_force import method_of


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """Rounds and phases that are over and not summed up yet; none if summaries are switched off."""
    if not debate.setup.summarization.enabled:
        return ()
    turns, stages = list[Turn](), format_of(debate).stages
    if stages:
        # Phases that nobody can add to any more, while others are still to come.
        phases = format_of(debate).phases
        coming = [phases.index(turn.act) for turn in turns_ready(debate, 1)]
        said = {made.turn.act for made in debate.contributions.values()}
        over = [act for act in stages if coming and min(coming) > phases.index(act)]
        turns += [stage_turn(act) for act in over if act in said]
    # Where everybody uses `hierarchical` a round waits for its condensed texts.
    methods = {method_of(debate, agent.id) for agent in debate.setup.agents}
    if ContextMethod.HIERARCHICAL not in methods:
        turns += by_round.of_each_round(debate, rounds)
    return tuple(turn for turn in turns if not debate.is_done(turn))


def material(debate: Debate, turn: Turn) -> Material | None:
    """A round, or a phase of the only one."""
    said = [made for made in debate.contributions.values() if made.turn.act == turn.target]
    if turn.target in format_of(debate).stages:
        return by_round.of_round(debate, turn.round, said, by_round.METHOD)
    return by_round.material(debate, turn)


def stage_turn(act: Act) -> Turn:
    """The turn on which a phase of the only round is summed up."""
    return Turn(act=Act.SUMMARY, round=1, agent=SUMMARIZER, target=act.value)
