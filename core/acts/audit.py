"""The audit: a model of another vendor looks for faults in the judge's verdict before it is posted.

A judge overlooks what its own kind writes (arXiv:2404.13076). The judge mends once what was found;
what then still stands is shown above the answer.
"""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from core.acts.act import ActSpec, always, declare
from core.acts.context import tally_part
from core.acts.replies import label_in
from core.acts.request_for import ask_model
from core.acts.verdict_faults import stands_in, verdict_part
from core.debate.state import Debate
from core.debate.turn import Act, Turn
from core.debate.turn_events import Audited
from core.debate.verdict import Audit, AuditFault, AuditKind
from core.errors import CallFailed
from core.evidence.words import words_of
from core.llm.call import ModelCalls
from core.request import Effort, Part
from core.rules.judging import auditor_of, judge_of

#: Faults that are taken up.
MOST_FAULTS = 5
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
    """Have another vendor's model look for faults in the verdict.

    A fault that quotes words which are neither in the verdict nor in a ballot is invented: it is
    counted and left out. If the call fails, the audit holds the failure and no faults.
    """
    auditor = auditor_of(debate) or judge_of(debate)
    try:
        reply, call = await ask_model(calls, debate, turn, AuditReply, agent=auditor)
    except CallFailed as error:
        failed = Audit(turn=turn, auditor=auditor.full_name, failure=str(error), lost=error.usage)
        return Audited(audit=failed, edition=debate.edition)
    texts = words_of("\n".join(part.text for part in _about(debate, turn)))
    faults = [
        AuditFault(kind=answer.kind, words=answer.words.strip(), why=answer.why.strip())
        for answer in reply.faults
        if stands_in(answer.words, texts)
    ]
    result = Audit(
        turn=turn,
        auditor=auditor.full_name,
        faults=tuple(faults[:MOST_FAULTS]),
        invented=len(reply.faults) - len(faults),
        call=call,
    )
    return Audited(audit=result, edition=debate.edition)


def _about(debate: Debate, _turn: Turn) -> Sequence[Part]:
    return (*([verdict_part(debate, debate.draft)] if debate.draft else []), *tally_part(debate))


declare(
    Act.AUDIT,
    ActSpec(
        max_tokens=1024,
        effort=Effort.LOW,
        is_posted=False,
        values=lambda _debate, _turn: {"most": MOST_FAULTS},
        about=_about,
        is_alone=always,
        perform=audit,
    ),
)
