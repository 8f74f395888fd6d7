"""The shadow answer: one model answers alone, and its answer is matched to an option."""

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel

from core.acts.act import ACTS, ActSpec, side_act
from core.acts.citing import with_checked_evidence
from core.acts.context import option_labels, options_part, question_parts, without_cache_marks
from core.acts.replies import lines_of
from core.acts.request_for import ask_choice, ask_model
from core.debate.state import Debate
from core.debate.turn import SUMMARIZER, Act, Turn
from core.debate.turn_events import ShadowAnswered, ShadowPlaced
from core.debate.verdict import ShadowAnswer, ShadowChoice
from core.llm.call import ModelCalls
from core.request import Part, PartKind
from core.rules.playbook import parts_of


class ShadowReply(BaseModel):
    options: list[str] = []
    reasons: list[str] = []
    risks: list[str] = []
    overturned_by: list[str] = []
    decision: str
    solution: str = ""


async def answer(calls: ModelCalls, debate: Debate, turn: Turn) -> ShadowAnswered:
    reply, call = await ask_model(calls, debate, turn, ShadowReply)
    shadow = ShadowAnswer(
        turn=turn,
        decision=reply.decision.strip(),
        solution=reply.solution.strip(),
        alternatives=lines_of(reply.options),
        reasons=lines_of(reply.reasons),
        risks=lines_of(reply.risks),
        overturned_by=lines_of(reply.overturned_by),
        call=call,
    )
    return ShadowAnswered(shadow=await asyncio.to_thread(with_checked_evidence, debate, shadow))


async def match_option(calls: ModelCalls, debate: Debate, turn: Turn) -> ShadowPlaced:
    option, _, call = await ask_choice(calls, debate, turn, debate.setup.agent(SUMMARIZER))
    return ShadowPlaced(choice=ShadowChoice(turn=turn, option=option, call=call))


def _parts_of_choice(debate: Debate, _turn: Turn) -> Sequence[Part]:
    shadow = debate.shadow
    text = "\n".join((shadow.decision, *shadow.reasons)) if shadow else ""
    answer = [Part(kind=PartKind.CANDIDATE, label="Answer", text=text)] if shadow else []
    return without_cache_marks((question_parts(debate)[0], *options_part(debate), *answer))


ACTS[Act.SHADOW] = ActSpec(
    words=350,
    is_posted=False,
    values=lambda debate, _: {"sections": bool(parts_of(debate.setup.playbook))},
    prompt_parts=lambda debate, _: without_cache_marks(question_parts(debate)),
    perform=answer,
)

ACTS[Act.SHADOW_CHOICE] = side_act(
    max_tokens=512,
    values=lambda debate, _: {"options": ", ".join(option_labels(debate))},
    prompt_parts=_parts_of_choice,
    perform=match_option,
)
