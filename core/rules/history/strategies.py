"""All context strategies by method, and the summaries that they share: the judge's, people's.

To add a strategy: a module with `METHOD` and the functions of `Strategy`, named in `STRATEGIES`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.debate.agents import ContextMethod
from core.debate.contributions import Summary
from core.debate.state import Debate
from core.debate.turn import JUDGE, Act, Turn
from core.request import Part
from core.rules.formats import panel
from core.rules.formats.registry import format_of, turns_ready
from core.rules.history import hierarchical, length, material, rounds


def _no_turns(_debate: Debate, _turn_or_rounds: Turn | int) -> Sequence[Turn]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Strategy:
    #: What stands in the prompt of a turn for all that was said before.
    history: Callable[[Debate, Turn], Sequence[Part]]
    #: Summaries that can be made now, if they are not there; so many rounds may be held so far.
    ready: Callable[[Debate, int], Sequence[Turn]] = _no_turns
    #: Summaries that the prompt of a turn shows if they are there; it waits for none.
    wants: Callable[[Debate, Turn], Sequence[Turn]] = _no_turns


STRATEGIES: Mapping[ContextMethod, Strategy] = {
    # Nothing is summarised: an agent sees its whole own history.
    ContextMethod.FULL: Strategy(history=material.own_history),
    **{
        module.METHOD: Strategy(history=module.history, ready=module.ready, wants=module.wants)
        for module in (length, hierarchical, rounds)
    },
}


def strategy_of(debate: Debate, agent: str) -> Strategy:
    return STRATEGIES[material.method_of(debate, agent)]


def ready(debate: Debate, rounds_open: int) -> Sequence[Turn]:
    """Every summary that can be made now; with one agent alone people need none."""
    setup, methods, turns = debate.setup, material.methods_in_use(debate), list[Turn]()
    for method, strategy in STRATEGIES.items():
        turns += strategy.ready(debate, rounds_open) if method in methods else ()
    if setup.summarization.enabled and len(setup.agents) > 1:
        turns += _for_people(debate, rounds_open)
    return debate.open_turns(dict.fromkeys(turns))


def _for_people(debate: Debate, rounds_open: int) -> Sequence[Turn]:
    """The running summary on the board, in every format and with every strategy.

    The first answers are summed up as soon as all are there, then each round that is over, the last
    one too; a format that has only one round, phase by phase.
    """
    form = format_of(debate)
    acts = {it.turn.act for it in debate.contributions.values() if it.turn.round == 1}
    # A phase is over when no turn of it, or of one before it, can follow.
    coming = {turn.act for turn in turns_ready(debate, min(rounds_open, 1))}
    first = min(map(form.phases.index, coming.intersection(form.phases)), default=len(form.phases))
    over = [act for act in form.stages if act in acts and form.phases.index(act) < first]
    # Where everybody uses `hierarchical` a round waits for its condensed texts.
    methods = {material.method_of(debate, agent.id) for agent in debate.setup.agents}
    by_round = form.most_rounds > 1 and ContextMethod.HIERARCHICAL not in methods
    whole = rounds.of_each_round(debate, rounds_open) if by_round else ()
    return [*map(material.stage_turn, over), *whole]


def summary_rank(debate: Debate, turn: Turn) -> tuple[int, int]:
    """How far the debate had come where this sums it up: by round, then by phase."""
    phases = format_of(debate).phases
    return turn.round, phases.index(Act(turn.target)) if turn.target in phases else len(phases)


def wants(debate: Debate, turn: Turn) -> Sequence[Turn]:
    if turn.act is Act.SYNTHESIS:
        summary = judge_summary_turn(debate)
        return (summary,) if summary else ()
    if turn.act is Act.BALLOT and debate.setup.format == panel.NAME:
        return [material.round_turn(number) for number in range(1, turn.round)]
    if turn.act in format_of(debate).phases:
        return strategy_of(debate, turn.agent).wants(debate, turn)
    return ()


def judge_summary_turn(debate: Debate) -> Turn | None:
    """The turn on which the judge sums up the last positions; None if they are short enough.

    The judge reads them in full unless its own settings say otherwise.
    """
    is_full = material.method_of(debate, JUDGE) is ContextMethod.FULL
    if debate.setup.judge.summarization is None or is_full:
        return None
    if (
        material.chars(material.last_positions(debate))
        < material.summarization_for(debate, JUDGE).threshold
    ):
        return None
    return Turn(act=Act.SUMMARY, round=debate.setup.rounds, agent=JUDGE)


def judge_summary(debate: Debate) -> Summary | None:
    turn = judge_summary_turn(debate)
    return debate.summaries.get(turn.key) if turn else None
