"""The panel's facilitator: go on, ask people, or vote."""

from collections.abc import Sequence
from functools import cache

from pydantic import BaseModel

from core.acts.act import ActSpec, declare
from core.acts.replies import narrowed, one_of
from core.acts.request_for import ask_model
from core.debate.gate import Guidance, NextStep
from core.debate.questions import Question
from core.debate.rules import Ending
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import FacilitatorDecided
from core.llm.call import ModelCalls
from core.request import Effort
from core.rules import gate
from core.rules.formats import panel


class FacilitationReply(BaseModel):
    """What a facilitator answers."""

    focus: str
    question: str
    assumption: str
    decision: str


@cache
def facilitation_reply() -> type[FacilitationReply]:
    """The form of a decision: every step, also where the prompt says that one is not open.

    A vendor's cache is another one for each form.
    """
    return narrowed(FacilitationReply, decision=one_of([step.value for step in NextStep]))


def facilitation_fault(reply: FacilitationReply, steps: Sequence[NextStep]) -> str | None:
    """What is wrong with the decision, as a sentence for the model; None if it is good.

    `steps` are those that its task leaves open.
    """
    if reply.decision in set(NextStep):
        return None
    return f'"decision" must be one of {", ".join(steps)}, not "{reply.decision}".'


async def guide(calls: ModelCalls, debate: Debate, turn: Turn) -> FacilitatorDecided:
    """Decide what comes after a round."""
    steps = panel.steps_open(debate, turn)
    weighed = gate.weigh(debate, turn.round) if NextStep.VOTE in steps else None
    if weighed and weighed.ends_rounds and debate.setup.termination.ending is Ending.CONVERGED:
        # There is nothing for a facilitator to decide: it costs no call.
        by_rule = Guidance(turn=turn, next_step=NextStep.VOTE, closing=True, gate=weighed)
        return FacilitatorDecided(guidance=by_rule)
    reply, call = await ask_model(
        calls,
        debate,
        turn,
        facilitation_reply(),
        check=lambda reply: facilitation_fault(reply, steps),
    )
    question = Question(text=reply.question.strip(), assumption=reply.assumption.strip())
    asks = reply.decision == NextStep.ASK and bool(question.text)
    step = NextStep(reply.decision) if asks or reply.decision != NextStep.ASK else NextStep.GO_ON
    if step not in steps:
        step, asks = NextStep.GO_ON, False
    guidance = Guidance(
        turn=turn,
        next_step=step,
        focus=reply.focus.strip(),
        question=question if asks else None,
        closing=step is NextStep.VOTE,
        call=call,
    )
    return FacilitatorDecided(guidance=guidance)


declare(
    Act.FACILITATION,
    ActSpec(
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
    ),
)
