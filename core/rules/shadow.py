"""The shadow answer: one model's answer alone, unseen until the verdict (pure).

It shows each team, question by question, whether its debates say anything else than one answer
would have. So nothing of it may reach who debates: it is asked with the question and the sources
only, at the start, and nobody is shown it before the verdict. Nothing waits for it.
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
    # Checklists compare no texts.
    compares = debate.setup.agent(SUMMARIZER).provider != OFFLINE
    options = options_of(debate).items
    if debate.shadow and options and compares and not debate.is_done(CHOICE):
        return (CHOICE,)
    return ()


def is_sealed(debate: Debate) -> bool:
    """Whether the answer may not be shown yet: the debate runs, and has had no verdict."""
    return debate.status is Status.RUNNING and "verdict" not in debate.times


def agrees(debate: Debate) -> bool | None:
    """Whether one answer alone takes the verdict's option; None: nobody can say, or not yet."""
    verdict, choice = debate.verdict, debate.shadow_choice
    if is_sealed(debate) or verdict is None or choice is None:
        return None
    options = options_of(debate)
    ours, alone = options.resolve(verdict.option), options.resolve(choice.option)
    return ours == alone if ours or alone else None


def shadow_usage(debate: Debate) -> Usage:
    own = (expense.usage for expense in debate.expenses if expense.agent == SHADOW)
    return sum(own, start=Usage())
