"""The panel's facilitator: go on, ask people, or vote."""

from core.events import FacilitatorDecided
from core.llm.call import ModelCalls
from core.models import Debate, Guidance, NextStep, Question, Turn
from core.turns.replies import FacilitationReply, facilitation_fault
from core.turns.request_for import request_for, terms_for


async def guide(calls: ModelCalls, debate: Debate, turn: Turn) -> FacilitatorDecided:
    """Decide what comes after a round.

    Raises:
        ProviderError: No model could be asked.
        ReplyUnreadable: The reply is no decision, even repaired.
        LimitReached: A cap forbids the call.
    """
    reply, call = await calls.ask_for(
        request_for(debate, turn),
        debate.setup.agent(turn.agent),
        FacilitationReply,
        check=facilitation_fault,
        options=terms_for(debate, turn),
    )
    question = Question(text=reply.question.strip(), assumption=reply.assumption.strip())
    asks = reply.decision == NextStep.ASK and bool(question.text)
    step = NextStep(reply.decision) if asks or reply.decision != NextStep.ASK else NextStep.GO_ON
    guidance = Guidance(
        turn=turn,
        next_step=step,
        focus=reply.focus.strip(),
        question=question if asks else None,
        call=call,
    )
    return FacilitatorDecided(guidance=guidance)
