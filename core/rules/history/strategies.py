"""All context strategies by method, and the summary for the judge that they share.

To add a strategy: one module with the functions of `Strategy`, one line in `STRATEGIES`.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.models import JUDGE, Act, ContextMethod, Debate, Summary, Turn
from core.request import Part
from core.rules.formats import panel
from core.rules.formats.registry import format_of
from core.rules.history import full, hierarchical, length, rounds, running
from core.rules.history.material import round_turn
from core.rules.history.told import chars, last_positions, method_of, methods_in_use, rules_of


class Strategy(Protocol):
    """A context strategy is a module of pure functions over a debate."""

    @property
    def METHOD(self) -> ContextMethod:  # noqa: N802 - a module's constant
        """What settings call it."""
        ...

    def ready(self, debate: Debate, rounds: int) -> Sequence[Turn]:
        """Summaries that can be made now and are not there yet; `rounds` may be held so far."""
        ...

    def wants(self, debate: Debate, turn: Turn) -> Sequence[Turn]:
        """Summaries that the prompt of this turn shows if they are there; it waits for none."""
        ...

    def history(self, debate: Debate, turn: Turn) -> Sequence[Part]:
        """What stands in the prompt of this turn for all that was said before."""
        ...


STRATEGIES: Mapping[ContextMethod, Strategy] = {
    full.METHOD: full,
    length.METHOD: length,
    hierarchical.METHOD: hierarchical,
    rounds.METHOD: rounds,
}


def strategy_of(debate: Debate, agent: str) -> Strategy:
    """The agent's strategy; switched off, it sees everything in full."""
    return STRATEGIES[method_of(debate, agent)]


def ready(debate: Debate, rounds: int) -> Sequence[Turn]:
    """Summaries that can be made now, whoever wants them; `rounds` may be held as things stand."""
    methods = methods_in_use(debate)
    in_use = (strategy for method, strategy in STRATEGIES.items() if method in methods)
    turns = [turn for strategy in in_use for turn in strategy.ready(debate, rounds)]
    return tuple(dict.fromkeys((*turns, *running.ready(debate, rounds))))


def wants(debate: Debate, turn: Turn) -> Sequence[Turn]:
    """Summaries that the prompt of this turn shows if they are there."""
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
    """The judge's summary, if it was needed and could be made."""
    turn = judge_summary_turn(debate)
    return debate.summaries.get(turn.key) if turn else None
