"""The request a turn makes of a model, and on which terms (pure)."""

from core.context import parts_for
from core.model_call import Terms
from core.models import Act, Debate, Turn
from core.prompts import render
from core.request import Effort, ModelRequest

#: Cap on a reply in tokens, hidden reasoning not counted.
_MAX_TOKENS = {Act.BALLOT: 1024, Act.CRITIQUE: 1024}
_USUAL_MAX_TOKENS = 2048
#: Proposals and refinements are worth thinking about; the rest is answered fast and cheaply.
_EFFORT = {Act.CRITIQUE: Effort.LOW, Act.BALLOT: Effort.LOW}


def request_for(debate: Debate, turn: Turn) -> ModelRequest:
    """What to ask a model on this turn."""
    agent = debate.setup.agent(turn.agent)
    return ModelRequest(
        model=agent.model,
        act=turn.act,
        role=agent.role,
        system=render.system(),
        parts=parts_for(debate, turn),
        delimiter=debate.setup.delimiter,
        max_output_tokens=_MAX_TOKENS.get(turn.act, _USUAL_MAX_TOKENS),
        temperature=agent.temperature,
        effort=_EFFORT.get(turn.act, Effort.MEDIUM),
        cache_key=debate.id,
    )


def terms_for(debate: Debate) -> Terms:
    """The conditions a debate sets for each of its model calls."""
    return Terms(seconds=debate.setup.limits.turn_seconds)
