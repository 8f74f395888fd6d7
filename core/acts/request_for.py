"""The request a turn makes of a model, and on which terms (pure)."""

from collections.abc import Mapping, Sequence

from core.acts import prompt as render
from core.acts.act import ACTS
from core.acts.citing import is_to_cite, may_look_up
from core.acts.context import (
    options_shown,
    parts_for,
)
from core.llm.call import CallOptions, ModelRef
from core.models import (
    Act,
    Agent,
    Debate,
    SourceKind,
    Turn,
)
from core.request import ModelRequest, Part, PartKind
from core.rules.history.told import reads_letters
from core.rules.schedule import is_patient

#: What was decided earlier; as one text in debates of older versions.
_DECIDED = frozenset({SourceKind.REGISTER, SourceKind.DECISION})


def request_for(debate: Debate, turn: Turn, agent: Agent | None = None) -> ModelRequest:
    """What to ask a model on this turn: that of the turn's agent, or of this one."""
    act = ACTS[turn.act]
    # The agent reads its own letter where what it is shown calls agents by letters.
    letter = debate.setup.letter(turn.agent) if reads_letters(debate, turn) else ""
    values = {"words": act.words, "letter": letter, **act.values(debate, turn)}
    if act.states_stance:
        values["options"] = ", ".join(options_shown(debate))
    agent = agent or debate.setup.agent(turn.agent)
    return request_with(debate, turn, agent, parts=parts_for(debate, turn), values=values)


def request_with(
    debate: Debate,
    turn: Turn,
    agent: Agent,
    *,
    parts: Sequence[Part],
    values: Mapping[str, object],
) -> ModelRequest:
    """What to ask a model about these parts."""
    text = render.task(turn.act, agent, **values)
    if is_to_cite(debate, turn):
        text += "\n\n" + render.citing(
            is_judge=turn.act is Act.SYNTHESIS,
            may_look_up=may_look_up(debate, turn),
            has_register=any(one.reference.kind in _DECIDED for one in debate.evidence),
        )
    task = Part(kind=PartKind.TASK, label="Task", text=text)
    act = ACTS[turn.act]
    tokens = act.max_tokens + (act.more_tokens(debate) if act.more_tokens else 0)
    return ModelRequest(
        model=agent.model,
        act=turn.act,
        role=agent.role,
        system=render.system(),
        parts=(*parts, task),
        delimiter=debate.setup.delimiter,
        max_output_tokens=tokens,
        temperature=agent.temperature,
        effort=act.effort,
        cache_key=debate.id,
    )


def terms_for(debate: Debate, turn: Turn, agent: Agent | None = None) -> CallOptions:
    """The conditions a debate sets for the model call of a turn."""
    agent = agent or debate.setup.agent(turn.agent)
    return CallOptions(
        seconds=debate.setup.limits.turn_seconds,
        fallbacks=[ModelRef(other.provider, other.model) for other in agent.fallbacks or ()],
        prompt_source=render.source(turn.act, agent),
        patient=is_patient(debate, turn.act),
    )
