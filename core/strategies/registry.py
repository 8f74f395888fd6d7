"""All context strategies by method, and the summary for the judge that they share.

To add a strategy: one module with the functions of `Strategy`, one line in `STRATEGIES`.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.formats.registry import format_of
from core.models import JUDGE, Act, ContextMethod, Contribution, Debate, Summary, Turn
from core.request import Part
from core.strategies import full, hierarchical, length, rounds
from core.strategies.history import chars


class Strategy(Protocol):
    """A context strategy is a module of pure functions over a debate."""

    @property
    def METHOD(self) -> ContextMethod:  # noqa: N802 - a module's constant
        """What settings call it."""
        ...

    @property
    def IN_BACKGROUND(self) -> bool:  # noqa: N802 - a module's constant
        """Whether summaries are made beside the debate, so that no turn should wait for one."""
        ...

    def ready(self, debate: Debate) -> Sequence[Turn]:
        """Summaries that can be made now and are not there yet."""
        ...

    def lacks(self, debate: Debate, turn: Turn) -> bool:
        """Whether the turn has to wait for a summary."""
        ...

    def history(self, debate: Debate, turn: Turn) -> Sequence[Part]:
        """What stands in the prompt of this turn for all that was said before."""
        ...


STRATEGIES: Mapping[ContextMethod, Strategy] = {
    full.METHOD: full,
    length.METHOD: length,
    rounds.METHOD: rounds,
    hierarchical.METHOD: hierarchical,
}


def strategy_of(debate: Debate) -> Strategy:
    """The debate's strategy; switched off, everything is shown in full."""
    rules = debate.setup.summarization
    return STRATEGIES[rules.method] if rules.enabled else full


def judge_summary_turn(debate: Debate) -> Turn | None:
    """The turn on which the judge sums up the last positions; None if they are short enough."""
    rules = debate.setup.summarization
    if not rules.enabled or rules.method is ContextMethod.FULL:
        return None
    if chars(last_positions(debate)) < rules.threshold:
        return None
    return Turn(act=Act.SUMMARY, round=debate.setup.rounds, agent=JUDGE)


def judge_summary(debate: Debate) -> Summary | None:
    """The judge's summary, if it was needed and could be made."""
    turn = judge_summary_turn(debate)
    return debate.summaries.get(turn.key) if turn else None


def last_positions(debate: Debate) -> Sequence[Contribution]:
    """What the judge's summary is made from: the final positions, never the critiques."""
    return list(format_of(debate).positions(debate).values())
