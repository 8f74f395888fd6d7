"""The request of a turn to a model, and the options of the call."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from core.acts import prompt as render
from core.acts.act import ACTS
from core.acts.citing import may_cite, may_look_up
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

#: Earlier decisions; debates of older versions have them as one text.
_EARLIER_DECISIONS = frozenset({SourceKind.REGISTER, SourceKind.DECISION})

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
    """A reply in this form, from `agent` or else from the turn's agent.

    `check` returns the fault of a reply as a sentence; empty or None if there is none.

    Raises:
        CallFailed: No model could be asked, or its reply could not be read.
    """
    agent = agent or debate.setup.agent(turn.agent)
    request, terms = request_for(debate, turn, agent), terms_for(debate, turn, agent)
    return await calls.ask_for(request, agent, form, check=check, options=terms)


async def ask_choice(
    calls: ModelCalls, debate: Debate, turn: Turn, agent: Agent
) -> tuple[str, str, Call]:
    """Id of the option that an agent chooses (empty: none of them), its reason, and the call."""
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
    """For each labelled text the index (from 0) of the first text that says the same."""
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
    """The request for this turn.

    `parts` replace those that the act declares; `values` are added to the act's values.
    """
    act, agent = ACTS[turn.act], agent or debate.setup.agent(turn.agent)
    # The agent is told its letter if its prompt calls agents by letters.
    letter = debate.setup.letter(turn.agent) if reads_letters(debate, turn) else ""
    all_values: dict[str, object] = {"words": act.words, "letter": letter, **(values or {})}
    if is_first_answer(debate, turn):
        # If people can be asked, agents have already asked for facts that are missing.
        all_values |= {"raises": True, "was_asked": debate.setup.clarifying.enabled}
    all_values |= act.values(debate, turn)
    if act.states_stance:
        all_values["options"] = ", ".join(option_labels(debate))
    # Questions can say "until March". The date is the last event's, so a repeated call is the same.
    text = f"Today is {day(debate.now)}.\n\n{render.task(turn.act, agent, **all_values)}"
    if may_cite(debate, turn):
        text += "\n\n" + render.rendered(
            "citing",
            is_judge=turn.act is Act.SYNTHESIS,
            may_look_up=may_look_up(debate, turn),
            has_register=any(
                source.reference.kind in _EARLIER_DECISIONS for source in debate.evidence
            ),
        )
    if parts is None:
        parts = parts_for(debate, turn)
    return ModelRequest(
        model=agent.model,
        act=turn.act,
        role=agent.role,
        system=render.system(turn.act),
        parts=(*parts, Part(kind=PartKind.TASK, label="Task", text=text)),
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
        fallbacks=[ModelRef(choice.provider, choice.model) for choice in agent.fallbacks or ()],
        prompt_source=render.source(turn.act, agent),
        waits_for_models=waits_for_models(debate, turn.act),
    )
