"""Merges first answers into options, and decides whether another round is held.

In a panel the facilitator decides after each round: go on, ask people, or vote.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from core.acts.act import ACTS, ActSpec, always, side_act
from core.acts.context import candidate_parts, candidates
from core.acts.replies import first_sentence, label_in, label_type, narrow_form
from core.acts.request_for import ask_model
from core.debate.contributions import Question
from core.debate.rules import Ending
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import FacilitatorDecided, GatePassed, OptionsMerged
from core.debate.vote import Guidance, NextStep, Option, Options, QuestionKind
from core.errors import CallFailed
from core.llm.call import ModelCalls
from core.request import Effort
from core.rules import gate
from core.rules.formats import panel, review
from core.rules.options import MOST_OPTIONS, merge_by_rules, short_names, with_none_of_these

_BY_WORDS = (
    "No model could merge the answers into options; those in nearly the same words count as one."
)


_TWO_AT_LEAST = (
    "A question whether to do something has two options at least: to do it and not to do it, also "
    "where no position stands for one of them."
)
#: An answer that models may give for the kind of a question. "Whether to do X" is a choice too.
_WHETHER = "whether"
QUESTION_KINDS: Mapping[str, QuestionKind] = {
    QuestionKind.CHOICE.value: QuestionKind.CHOICE,
    _WHETHER: QuestionKind.CHOICE,
    QuestionKind.DESIGN.value: QuestionKind.DESIGN,
    QuestionKind.ESTIMATE.value: QuestionKind.ESTIMATE,
}
_STEPS = [step.value for step in NextStep]


class OptionsReply(BaseModel):
    options: list[str]
    #: For each position in the labels' order: the number of its option, counted from 1.
    stands_for: list[int]
    kind: str


@cache
def options_reply(labels: tuple[str, ...]) -> type[OptionsReply]:
    stands_for = Annotated[list[int], Field(description=f"for {', '.join(labels)}")]
    return narrow_form(OptionsReply, stands_for=stands_for, kind=label_type(tuple(QUESTION_KINDS)))


def options_fault(reply: OptionsReply, labels: Sequence[str]) -> str:
    """All faults of the list, in sentences for the model; empty if there are none."""
    names = [name.strip().casefold() for name in reply.options]
    # 0 means that the position gives no answer.
    in_range = not names or all(0 <= number <= len(names) for number in reply.stands_for)
    faults = (
        (not all(names), "Each option needs a name."),
        (len(set(names)) < len(names), "Each option must be named once."),
        (
            len(names) > MOST_OPTIONS,
            f"There can be {MOST_OPTIONS} options at most; there are {len(names)}.",
        ),
        (
            len(reply.stands_for) != len(labels),
            f'"stands_for" must hold {len(labels)} numbers: for {", ".join(labels)}.',
        ),
        (not in_range, f'Each number of "stands_for" must be from 1 to {len(names)}, or 0.'),
        (
            reply.kind not in QUESTION_KINDS,
            f'"kind" must be one of {", ".join(QUESTION_KINDS)}.',
        ),
        (
            reply.kind == _WHETHER and len(names) == 1,
            _TWO_AT_LEAST,
        ),
    )
    return " ".join(fault for is_present, fault in faults if is_present)


async def merge(calls: ModelCalls, debate: Debate, turn: Turn) -> OptionsMerged:
    """Merge the first answers into options: by a model, or by rules if the model fails.

    The options of a review are always the same verdicts.
    """
    if debate.setup.format == review.NAME:
        return OptionsMerged(options=review.options(debate, turn))
    slate = candidates(debate, turn)
    labels = tuple(slate)
    try:
        reply, call = await ask_model(
            calls,
            debate,
            turn,
            options_reply(labels),
            check=lambda reply: options_fault(reply, labels),
        )
    except CallFailed as error:
        positions = {candidate.turn.agent: candidate for candidate in slate.values()}
        drafts = [positions[agent.id] for agent in debate.setup.agents if agent.id in positions]
        answers = {draft.turn.agent: draft.answer or first_sentence(draft.text) for draft in drafts}
        items, stances = merge_by_rules(answers)
        return OptionsMerged(
            options=Options(
                turn=turn,
                question_kind=QuestionKind.CHOICE,
                items=with_none_of_these(items, QuestionKind.CHOICE),
                stances=stances,
                lost=error.usage,
                warnings=(f"{_BY_WORDS} {error}",),
            )
        )
    # The list of names is empty if no position gives an answer.
    names = short_names(reply.options)[:MOST_OPTIONS]
    items = tuple(Option(id=f"o{number}", name=name) for number, name in enumerate(names, start=1))
    stances = {
        candidate.turn.agent: f"o{number}"
        for candidate, number in zip(slate.values(), reply.stands_for, strict=True)
        if 1 <= number <= len(items)
    }
    kind = QUESTION_KINDS[reply.kind]
    items = with_none_of_these(items, kind)
    options = Options(turn=turn, question_kind=kind, items=items, stances=stances, call=call)
    return OptionsMerged(options=options)


async def pass_gate(_calls: ModelCalls, debate: Debate, turn: Turn) -> GatePassed:
    comparison = gate.gate_decision(debate, turn)
    assert comparison, f"{turn.key} was taken before it was clear."  # noqa: S101 - see the schedule
    return GatePassed(gate=comparison)


ACTS[Act.OPTIONS] = side_act(
    max_tokens=1024,
    values=lambda debate, turn: {
        "labels": ", ".join(candidates(debate, turn)),
        "most": MOST_OPTIONS,
    },
    turn_parts=candidate_parts,
    skips_cache=always,
    perform=merge,
)

ACTS[Act.GATE] = ActSpec(asks_model=False, is_posted=False, perform=pass_gate)


class FacilitationReply(BaseModel):
    focus: str
    question: str
    assumption: str
    #: Lists every step, even those that the prompt forbids now, because vendors keep a separate
    #: cache for each form.
    decision: Annotated[
        NextStep,
        BeforeValidator(partial(label_in, labels=_STEPS)),
        WithJsonSchema({"type": "string", "enum": _STEPS}),
    ]


async def facilitate(calls: ModelCalls, debate: Debate, turn: Turn) -> FacilitatorDecided:
    steps = panel.allowed_steps(debate, turn)
    decision = gate.weigh(debate, turn.round) if NextStep.VOTE in steps else None
    if decision and decision.ends_rounds and debate.setup.termination.ending is Ending.CONVERGED:
        # The rule decides, so no call is spent on a facilitator.
        by_rule = Guidance(turn=turn, next_step=NextStep.VOTE, closing=True, gate=decision)
        return FacilitatorDecided(guidance=by_rule)
    reply, call = await ask_model(calls, debate, turn, FacilitationReply)
    question = Question(text=reply.question.strip(), assumption=reply.assumption.strip())
    step = reply.decision
    if step not in steps or (step is NextStep.ASK and not question.text):
        step = NextStep.GO_ON
    guidance = Guidance(
        turn=turn,
        next_step=step,
        focus=reply.focus.strip(),
        question=question if step is NextStep.ASK else None,
        closing=step is NextStep.VOTE,
        call=call,
    )
    return FacilitatorDecided(guidance=guidance)


ACTS[Act.FACILITATION] = ActSpec(
    max_tokens=512,
    effort=Effort.LOW,
    sees_history=True,
    values=lambda debate, turn: {
        "round": turn.round,
        "left": panel.rounds_left(debate, turn.round),
        "may_vote": NextStep.VOTE in panel.allowed_steps(debate, turn),
        "may_ask": panel.questions_left(debate),
    },
    # With one choice no later prompt begins with the same text.
    skips_cache=lambda debate: debate.setup.rounds <= panel.LEAST_ROUNDS,
    perform=facilitate,
)
