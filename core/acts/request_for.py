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
    SUMMARIZER,
    Act,
    Agent,
    Debate,
    SourceKind,
    Turn,
)
from core.request import ModelRequest, Part, PartKind
from core.rules.history.told import reads_letters
from core.rules.schedule import is_patient

#: Longest section that a playbook adds, and cell of its table, in tokens.
_PART_TOKENS, _CELL_TOKENS = 450, 60
#: What was decided earlier; as one text in debates of older versions.
_DECIDED = frozenset({SourceKind.REGISTER, SourceKind.DECISION})


def request_for(debate: Debate, turn: Turn) -> ModelRequest:
    """What to ask a model on this turn."""
    act = ACTS[turn.act]
    # The agent reads its own letter where what it is shown calls agents by letters.
    letter = debate.setup.letter(turn.agent) if reads_letters(debate, turn) else ""
    values = {"words": act.words, "letter": letter, **act.values(debate, turn)}
    if act.states_stance:
        values["options"] = ", ".join(options_shown(debate))
    agent, parts = debate.setup.agent(turn.agent), parts_for(debate, turn)
    if turn.act is Act.SHADOW_CHOICE:
        agent = debate.setup.agent(SUMMARIZER)
    return request_with(debate, turn, agent, parts=parts, values=values)


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
    tokens, playbook = ACTS[turn.act].max_tokens, debate.setup.playbook
    if turn.act is Act.SYNTHESIS and playbook:
        # What a playbook asks of the verdict takes more.
        cells = len(playbook.criteria) * len(options_shown(debate))
        tokens += _PART_TOKENS * len(playbook.verdict) + _CELL_TOKENS * cells
    return ModelRequest(
        model=agent.model,
        act=turn.act,
        role=agent.role,
        system=render.system(),
        parts=(*parts, task),
        delimiter=debate.setup.delimiter,
        max_output_tokens=tokens,
        temperature=agent.temperature,
        effort=ACTS[turn.act].effort,
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
