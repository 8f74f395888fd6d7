"""The request a turn makes of a model, and on which terms."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from core.acts import prompt as render
from core.acts.act import ACTS
from core.acts.citing import is_to_cite, may_look_up
from core.acts.context import option_labels, parts_for
from core.acts.replies import NOBODY, choice_reply, same_fault, same_reply
from core.debate.agents import Agent
from core.debate.evidence import SourceKind
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.figures import day
from core.llm.call import CallOptions, ModelAnswer, ModelCalls, ModelRef
from core.llm.replies import Check
from core.request import ModelRequest, Part, PartKind
from core.rules.history.material import reads_letters
from core.rules.judging import is_first_answer
from core.rules.schedule import waits_for_models
from core.usage import Call

#: What was decided earlier; as one text in debates of older versions.
_DECIDED = frozenset({SourceKind.REGISTER, SourceKind.DECISION})

M = TypeVar("M", bound=BaseModel)


async def ask_model(
    calls: ModelCalls,
    debate: Debate,
    turn: Turn,
    form: type[M],
    *,
    check: Check[M] | None = None,
    agent: Agent | None = None,
) -> ModelAnswer[M]:
    """A turn's reply in this form: from the turn's agent, or from this one.

    `check` says in a sentence what is wrong with a reply; empty or None if it is good.

    Raises:
        CallFailed: No model could be asked, or its reply not be read.
    """
    agent = agent or debate.setup.agent(turn.agent)
    request, terms = request_for(debate, turn, agent), terms_for(debate, turn, agent)
    return await calls.ask_for(request, agent, form, check=check, options=terms)


async def ask_choice(
    calls: ModelCalls, debate: Debate, turn: Turn, agent: Agent
) -> tuple[str, str, Call]:
    """Id of the option that an agent chooses (empty: none of them), why, and the call."""
    form = choice_reply(option_labels(debate))
    reply, call = await ask_model(calls, debate, turn, form, agent=agent)
    return "" if reply.option == NOBODY else reply.option, reply.reason.strip(), call


async def ask_for_same(
    calls: ModelCalls,
    debate: Debate,
    turn: Turn,
    labels: tuple[str, ...],
    *,
    agent: Agent | None = None,
) -> tuple[Sequence[int], Call]:
    """Which of the texts with these labels say the same: for each the first one's place, from 0."""
    reply, call = await ask_model(
        calls,
        debate,
        turn,
        same_reply(labels),
        check=lambda reply: same_fault(reply, labels),
        agent=agent,
    )
    firsts = list[int]()
    for number in reply.same_as:  # "5 as 3, 3 as 1": all are 1
        firsts.append(firsts[number - 1] if number <= len(firsts) else len(firsts))
    return firsts, call


def request_for(
    debate: Debate,
    turn: Turn,
    agent: Agent | None = None,
    *,
    parts: Sequence[Part] | None = None,
    values: Mapping[str, object] | None = None,
) -> ModelRequest:
    """What the agent is shown and asked on this turn.

    `parts` take the place of those that the act declares; `values` stand beside its own.
    """
    act, agent = ACTS[turn.act], agent or debate.setup.agent(turn.agent)
    # The agent reads its own letter where what it is shown calls agents by letters.
    letter = debate.setup.letter(turn.agent) if reads_letters(debate, turn) else ""
    all_values: dict[str, object] = {"words": act.words, "letter": letter, **(values or {})}
    if is_first_answer(debate, turn):
        # What an agent lacks it asks people before, where they can be asked.
        all_values |= {"raises": True, "was_asked": debate.setup.clarifying.enabled}
    all_values |= act.values(debate, turn)
    if act.states_stance:
        all_values["options"] = ", ".join(option_labels(debate))
    # Questions say "until March". A call that is repeated asks the same: the last outcome's day.
    text = f"Today is {day(debate.now)}.\n\n{render.task(turn.act, agent, **all_values)}"
    if is_to_cite(debate, turn):
        text += "\n\n" + render.rendered(
            "citing",
            is_judge=turn.act is Act.SYNTHESIS,
            may_look_up=may_look_up(debate, turn),
            has_register=any(source.reference.kind in _DECIDED for source in debate.evidence),
        )
    shown = parts_for(debate, turn) if parts is None else parts
    return ModelRequest(
        model=agent.model,
        act=turn.act,
        role=agent.role,
        system=render.system(turn.act),
        parts=(*shown, Part(kind=PartKind.TASK, label="Task", text=text)),
        delimiter=debate.setup.delimiter,
        max_output_tokens=act.max_tokens + act.more_tokens(debate),
        temperature=agent.temperature,
        effort=act.effort,
        cache_key=debate.id,
    )


def terms_for(debate: Debate, turn: Turn, agent: Agent | None = None) -> CallOptions:
    agent = agent or debate.setup.agent(turn.agent)
    return CallOptions(
        seconds=debate.setup.limits.turn_seconds,
        fallbacks=[ModelRef(other.provider, other.model) for other in agent.fallbacks or ()],
        prompt_source=render.source(turn.act, agent),
        patient=waits_for_models(debate, turn.act),
    )
