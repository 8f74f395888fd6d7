"""The shadow answer: one model answers the question alone, hidden until the verdict (pure).

With it teams can compare each verdict with the answer of a single model. It must not influence the
debate: the model gets only the question and the sources, at the start, and neither agents nor
people see its answer before the verdict. No other turn waits for it.
"""

from collections.abc import Sequence

from core.debate.agents import OFFLINE
from core.debate.state import Debate, Status
from core.debate.turn import SHADOW, SUMMARIZER, Act, Turn
from core.rules.options import options_of
from core.usage import Usage

ANSWER = Turn(act=Act.SHADOW, round=0, agent=SHADOW)
CHOICE = Turn(act=Act.SHADOW_CHOICE, round=0, agent=SHADOW)


def ready(debate: Debate) -> Sequence[Turn]:
    if debate.setup.shadow_agent is None:
        return ()
    if not debate.is_done(ANSWER):
        return (ANSWER,)
    # The offline checklists cannot compare texts.
    compares = debate.setup.agent(SUMMARIZER).provider != OFFLINE
    options = options_of(debate).items
    if debate.shadow and options and compares and not debate.is_done(CHOICE):
        return (CHOICE,)
    return ()


def is_sealed(debate: Debate) -> bool:
    """Whether the answer is still hidden: the debate runs and has had no verdict."""
    return debate.status is Status.RUNNING and "verdict" not in debate.times


def agrees(debate: Debate) -> bool | None:
    """Whether the shadow answer takes the verdict's option; None: unknown, or still hidden."""
    verdict, choice = debate.verdict, debate.shadow_choice
    if is_sealed(debate) or verdict is None or choice is None:
        return None
    options = options_of(debate)
    verdict_option, shadow_option = options.resolve(verdict.option), options.resolve(choice.option)
    return verdict_option == shadow_option if verdict_option or shadow_option else None


def shadow_usage(debate: Debate) -> Usage:
    usages = (expense.usage for expense in debate.expenses if expense.agent == SHADOW)
    return sum(usages, start=Usage())
