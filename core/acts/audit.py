"""The audit: a model of another vendor looks for faults in the draft of the verdict."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from core.acts.act import ACTS, always, side_act
from core.acts.context import tally_part
from core.acts.replies import label_in
from core.acts.request_for import ask_model
from core.acts.verdict import contains_words, verdict_part
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import Audited
from core.debate.verdict import Audit, AuditFault, AuditKind
from core.errors import CallFailed
from core.evidence.words import words_of
from core.llm.call import ModelCalls
from core.request import Part
from core.rules.judging import auditor_of, judge_of

#: Most faults of an audit that count.
_MOST_FAULTS = 5
_KINDS = [kind.value for kind in AuditKind]


class FaultReply(BaseModel):
    kind: Annotated[
        AuditKind,
        BeforeValidator(partial(label_in, labels=_KINDS)),
        WithJsonSchema({"type": "string", "enum": _KINDS}),
    ]
    words: str
    why: str


class AuditReply(BaseModel):
    faults: list[FaultReply]


async def audit(calls: ModelCalls, debate: Debate, turn: Turn) -> Audited:
    """Let another vendor's model look for faults in the verdict.

    A fault whose quote is neither in the verdict nor in a ballot is invented: it is counted and
    dropped. If the call fails, the audit records the failure and no faults.
    """
    auditor = auditor_of(debate) or judge_of(debate)
    try:
        reply, call = await ask_model(calls, debate, turn, AuditReply, agent=auditor)
    except CallFailed as error:
        failure = Audit(turn=turn, auditor=auditor.full_name, failure=str(error), lost=error.usage)
        return Audited(audit=failure, edition=debate.edition)
    words = words_of("\n".join(part.text for part in _audited_parts(debate, turn)))
    faults = [
        AuditFault(kind=answer.kind, words=answer.words.strip(), why=answer.why.strip())
        for answer in reply.faults
        if contains_words(answer.words, words)
    ]
    result = Audit(
        turn=turn,
        auditor=auditor.full_name,
        faults=tuple(faults[:_MOST_FAULTS]),
        invented=len(reply.faults) - len(faults),
        call=call,
    )
    return Audited(audit=result, edition=debate.edition)


def _audited_parts(debate: Debate, _turn: Turn) -> Sequence[Part]:
    return (*([verdict_part(debate, debate.draft)] if debate.draft else []), *tally_part(debate))


ACTS[Act.AUDIT] = side_act(
    max_tokens=1024,
    values=lambda _debate, _turn: {"most": _MOST_FAULTS},
    turn_parts=_audited_parts,
    skips_cache=always,
    perform=audit,
)
