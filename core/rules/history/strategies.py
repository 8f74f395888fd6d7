"""All context strategies by method, and the summaries for the judge and for people.

To add a strategy: write a module with `METHOD` and the functions of `Strategy`, and add it to
`STRATEGIES`.
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
    #: Returns the parts of a turn's prompt for earlier rounds.
    history: Callable[[Debate, Turn], Sequence[Part]]
    #: Returns the turns of summaries that can be made now, up to a number of rounds. They may be
    #: done already.
    ready: Callable[[Debate, int], Sequence[Turn]] = _no_turns
    #: Returns the turns of summaries that a turn's prompt shows if they are ready.
    shown_summaries: Callable[[Debate, Turn], Sequence[Turn]] = _no_turns


STRATEGIES: Mapping[ContextMethod, Strategy] = {
    # An agent sees its own history in full.
    ContextMethod.FULL: Strategy(history=material.own_history),
    **{
        module.METHOD: Strategy(
            history=module.history, ready=module.ready, shown_summaries=module.shown_summaries
        )
        for module in (length, hierarchical, rounds)
    },
}


def strategy_of(debate: Debate, agent: str) -> Strategy:
    return STRATEGIES[material.method_of(debate, agent)]


def ready(debate: Debate, rounds_open: int) -> Sequence[Turn]:
    """The open turns of all summaries that can be made now. People need none of a single agent."""
    setup, methods, turns = debate.setup, material.methods_in_use(debate), list[Turn]()
    for method, strategy in STRATEGIES.items():
        turns += strategy.ready(debate, rounds_open) if method in methods else ()
    if setup.summarization.enabled and len(setup.agents) > 1:
        turns += _for_people(debate, rounds_open)
    return debate.open_turns(dict.fromkeys(turns))


def _for_people(debate: Debate, rounds_open: int) -> Sequence[Turn]:
    """The summaries for the board, in every format and with every strategy.

    The first answers are summarised as soon as all exist, then each finished round; in a format
    with only one round each finished phase.
    """
    form = format_of(debate)
    acts = {item.turn.act for item in debate.contributions.values() if item.turn.round == 1}
    # A phase is over if no turn of it or of an earlier phase can follow.
    pending = {turn.act for turn in turns_ready(debate, min(rounds_open, 1))}
    first = min(map(form.phases.index, pending.intersection(form.phases)), default=len(form.phases))
    finished = [act for act in form.stages if act in acts and form.phases.index(act) < first]
    # With `hierarchical` that strategy itself makes the summaries of rounds, after long texts.
    methods = {material.method_of(debate, agent.id) for agent in debate.setup.agents}
    by_round = form.most_rounds > 1 and ContextMethod.HIERARCHICAL not in methods
    round_turns = rounds.of_each_round(debate, rounds_open) if by_round else ()
    return [*map(material.stage_turn, finished), *round_turns]


def summary_rank(debate: Debate, turn: Turn) -> tuple[int, int]:
    """The sort key of summaries by the progress of the debate: round, then phase."""
    phases = format_of(debate).phases
    return turn.round, phases.index(Act(turn.target)) if turn.target in phases else len(phases)


def shown_summaries(debate: Debate, turn: Turn) -> Sequence[Turn]:
    """The turns of summaries that a turn's prompt shows if they are ready."""
    if turn.act is Act.SYNTHESIS:
        summary = judge_summary_turn(debate)
        return (summary,) if summary else ()
    if turn.act is Act.BALLOT and debate.setup.format == panel.NAME:
        return [material.round_turn(number) for number in range(1, turn.round)]
    if turn.act in format_of(debate).phases:
        return strategy_of(debate, turn.agent).shown_summaries(debate, turn)
    return ()


def judge_summary_turn(debate: Debate) -> Turn | None:
    """The turn that summarises the last positions for the judge; None if it reads them in full.

    They are summarised only if the judge has its own settings for it and they are long.
    """
    is_full = material.method_of(debate, JUDGE) is ContextMethod.FULL
    if debate.setup.judge.summarization is None or is_full:
        return None
    length = material.chars(format_of(debate).positions(debate).values())
    if length < material.summarization_for(debate, JUDGE).threshold:
        return None
    return Turn(act=Act.SUMMARY, round=debate.setup.rounds, agent=JUDGE)


def judge_summary(debate: Debate) -> Summary | None:
    turn = judge_summary_turn(debate)
    return debate.summaries.get(turn.key) if turn else None
