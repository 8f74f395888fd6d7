"""The panel's facilitator: go on, ask people, or vote."""

from functools import partial
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from core.acts.act import ACTS, ActSpec
from core.acts.replies import label_in
from core.acts.request_for import ask_model
from core.debate.contributions import Question
from core.debate.rules import Ending
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import FacilitatorDecided
from core.debate.vote import Guidance, NextStep
from core.llm.call import ModelCalls
from core.request import Effort
from core.rules import gate
from core.rules.formats import panel

_STEPS = [step.value for step in NextStep]


class FacilitationReply(BaseModel):
    focus: str
    question: str
    assumption: str
    #: Every step, also where the prompt says that one is not open: a vendor's cache is another one
    #: for each form.
    decision: Annotated[
        NextStep,
        BeforeValidator(partial(label_in, labels=_STEPS)),
        WithJsonSchema({"type": "string", "enum": _STEPS}),
    ]


async def guide(calls: ModelCalls, debate: Debate, turn: Turn) -> FacilitatorDecided:
    steps = panel.steps_open(debate, turn)
    weighed = gate.weigh(debate, turn.round) if NextStep.VOTE in steps else None
    if weighed and weighed.ends_rounds and debate.setup.termination.ending is Ending.CONVERGED:
        # There is nothing for a facilitator to decide: it costs no call.
        by_rule = Guidance(turn=turn, next_step=NextStep.VOTE, closing=True, gate=weighed)
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
        "may_vote": NextStep.VOTE in panel.steps_open(debate, turn),
        "may_ask": panel.questions_left(debate),
    },
    # Of several choices each goes on as the one before.
    is_alone=lambda debate: debate.setup.rounds <= panel.LEAST_ROUNDS,
    perform=guide,
)
