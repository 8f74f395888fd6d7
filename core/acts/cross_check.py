"""The check before the verdict: the judge chooses with the positions in the opposite order."""

from core.acts.act import ActSpec, always, declare
from core.acts.context import option_labels, options_part, told_in_short
from core.acts.judge import (
    final_positions,
    is_answered,
    last_critiques,
    last_words,
)
from core.acts.replies import NOBODY, choice_reply
from core.acts.request_for import ask_model
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import CrossChecked
from core.debate.verdict import CrossCheck
from core.llm.call import ModelCalls
from core.request import Effort
from core.rules.ending import lost_turns
from core.rules.judging import judge_of


async def cross_check(calls: ModelCalls, debate: Debate, turn: Turn) -> CrossChecked:
    """Have the judge choose with the positions in the opposite order, before it writes.

    Judges keep their choice in two of three such swaps (arXiv:2306.05685): where a vote is close,
    another choice says that the order decided.
    """
    judge = judge_of(debate)
    reply, call = await ask_model(
        calls, debate, turn, choice_reply(option_labels(debate)), agent=judge
    )
    option = "" if reply.option == NOBODY else reply.option
    check = CrossCheck(turn=turn, option=option, reason=reply.reason.strip(), call=call)
    return CrossChecked(check=check)


declare(
    Act.CROSS_CHECK,
    ActSpec(
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        values=lambda debate, _: {
            "options": ", ".join(option_labels(debate)),
            "answered": is_answered(debate),
            "lost": lost_turns(debate),
        },
        # The same case in the opposite order; how the vote went is not told.
        about=lambda debate, turn: (
            *reversed(final_positions(debate)),
            *told_in_short(debate, turn),
            *reversed(last_critiques(debate)),
            *last_words(debate),
            *options_part(debate),
        ),
        is_alone=always,
        perform=cross_check,
    ),
)
