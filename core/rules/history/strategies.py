"""All context strategies by method, and the summary for the judge that they share.

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
from core.rules.formats.registry import format_of
from core.rules.history import hierarchical, length, rounds, running
from core.rules.history.material import round_turn
from core.rules.history.told import (
    chars,
    last_positions,
    method_of,
    methods_in_use,
    own_history,
    rules_of,
)


def _no_turns(_debate: Debate, _turn_or_rounds: Turn | int) -> Sequence[Turn]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Strategy:
    #: What stands in the prompt of a turn for all that was said before.
    history: Callable[[Debate, Turn], Sequence[Part]]
    #: Summaries that can be made now and are not there yet; so many rounds may be held so far.
    ready: Callable[[Debate, int], Sequence[Turn]] = _no_turns
    #: Summaries that the prompt of a turn shows if they are there; it waits for none.
    wants: Callable[[Debate, Turn], Sequence[Turn]] = _no_turns


STRATEGIES: Mapping[ContextMethod, Strategy] = {
    # Nothing is summarised: an agent sees its whole own history.
    ContextMethod.FULL: Strategy(history=own_history),
    **{
        module.METHOD: Strategy(history=module.history, ready=module.ready, wants=module.wants)
        for module in (length, hierarchical, rounds)
    },
}


def strategy_of(debate: Debate, agent: str) -> Strategy:
    return STRATEGIES[method_of(debate, agent)]


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    methods = methods_in_use(debate)
    in_use = (strategy for method, strategy in STRATEGIES.items() if method in methods)
    turns = [turn for strategy in in_use for turn in strategy.ready(debate, rounds)]
    return tuple(dict.fromkeys((*turns, *running.ready(debate, rounds))))


def wants(debate: Debate, turn: Turn) -> Sequence[Turn]:
    if turn.act is Act.SYNTHESIS:
        summary = judge_summary_turn(debate)
        return (summary,) if summary else ()
    if turn.act is Act.BALLOT and debate.setup.format == panel.NAME:
        return [round_turn(number) for number in range(1, turn.round)]
    if turn.act in format_of(debate).phases:
        return strategy_of(debate, turn.agent).wants(debate, turn)
    return ()


def judge_summary_turn(debate: Debate) -> Turn | None:
    """The turn on which the judge sums up the last positions; None if they are short enough.

    The judge reads them in full unless its own settings say otherwise.
    """
    if debate.setup.judge.summarization is None or method_of(debate, JUDGE) is ContextMethod.FULL:
        return None
    if chars(last_positions(debate)) < rules_of(debate, JUDGE).threshold:
        return None
    return Turn(act=Act.SUMMARY, round=debate.setup.rounds, agent=JUDGE)


def judge_summary(debate: Debate) -> Summary | None:
    turn = judge_summary_turn(debate)
    return debate.summaries.get(turn.key) if turn else None
