"""The judge's reply: its form, and how it is read as a verdict (pure).

Labels of notes, options, earlier decisions and of what a playbook names stand in the form.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from core.acts.context import note_labels
from core.acts.replies import NOBODY, WORD, label_in, lines_of, narrowed, of_hundred, one_of
from core.debate.contributions import NoteOutcome
from core.debate.evidence import SourceKind
from core.debate.rules import PlaybookCriterion
from core.debate.state import Debate
from core.debate.turn import JUDGE
from core.debate.verdict import (
    EarlierDecision,
    Judgement,
    Relation,
    Requirement,
    RequirementStatus,
    Verdict,
    VerdictSection,
)
from core.rules.judging import MOST_LONE, raised_points
from core.rules.playbook import criteria_of, parts_of


class NoteReply(BaseModel):
    note: str
    explanation: str
    used: bool


def _status(raw: object) -> object:
    """A status as the form has it: "fulfilled" and "not_met" are clear, all else is unknown."""
    if not isinstance(raw, str):
        return raw
    bare = " ".join(WORD.findall(raw.casefold().replace("_", " ")))
    if bare in {"met", "yes", "fulfilled", "holds", "true"}:
        return RequirementStatus.MET.value
    if bare in {"not met", "unmet", "no", "broken", "not fulfilled", "violated", "false"}:
        return RequirementStatus.NOT_MET.value
    return RequirementStatus.UNKNOWN.value


class RequirementReply(BaseModel):
    requirement: str
    words: str
    status: Annotated[
        str,
        BeforeValidator(_status),
        WithJsonSchema({"type": "string", "enum": [status.value for status in RequirementStatus]}),
    ]


class JudgementReply(BaseModel):
    option: str
    criterion: str
    judgement: str


class EarlierReply(BaseModel):
    source: str
    why: str
    relation: str


class PartReply(BaseModel):
    part: str
    text: str


class VerdictReply(BaseModel):
    """What the judge answers: what weighs, then what follows from it.

    The form has the last fields only where there is something to say in them.
    """

    reasons: list[str] = []
    dissent: str
    #: Name of the agent that holds it, `NOBODY` where it is the judge's own; None: not said.
    dissent_by: str | None = None
    requirements: list[RequirementReply] = []
    criteria: list[JudgementReply] = []
    decision: str
    #: Id of the option decided for, or `NOBODY`'s word where it is none of them.
    option: str = NOBODY
    solution: str
    implementation: str
    tradeoffs: list[str]
    recommendations: list[str]
    open_questions: list[str]
    overturned_by: list[str]
    notes: list[NoteReply]
    #: None: none can be given. (The form vendors get asks for a number.)
    confidence: Annotated[int | None, BeforeValidator(of_hundred)]
    #: The requirement or quote for which it leaves the vote's option; empty: it does not.
    overrules: SkipJsonSchema[str] = ""
    #: Labels of what one agent alone raised and the decision leaves out.
    lone: SkipJsonSchema[list[str]] = []
    earlier: SkipJsonSchema[list[EarlierReply]] = []
    parts: SkipJsonSchema[list[PartReply]] = []


@cache
def verdict_reply(  # noqa: PLR0913 - each kind of label that stands in the form
    notes: tuple[str, ...],
    options: tuple[str, ...] = (),
    earlier: tuple[str, ...] = (),
    *,
    criteria: tuple[str, ...] = (),
    parts: tuple[str, ...] = (),
    voted: bool = False,
    raised: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
) -> type[VerdictReply]:
    """The form of a verdict that answers for notes of these labels and chooses among options.

    Without `criteria` of a playbook the judge chooses what it compares the options by.
    """
    types: dict[str, Any] = {}
    if agents:
        holders = one_of((*dict.fromkeys(agents), NOBODY))
        # None where nothing is said, so that no call is spent on a repair.
        said = BeforeValidator(lambda raw: raw if isinstance(raw, str) and raw.strip() else None)
        types["dissent_by"] = Annotated[holders | None, said]
    if voted:
        types["overrules"] = str
    if raised:
        types["lone"] = list[one_of(raised)]
    if earlier:
        relation = one_of([relation.value for relation in Relation])
        types["earlier"] = list[narrowed(EarlierReply, source=one_of(earlier), relation=relation)]
    if parts:
        types["parts"] = list[narrowed(PartReply, part=one_of(parts))]
    if notes:
        types["notes"] = list[narrowed(NoteReply, note=one_of(notes))]
    if options:
        which = {"criterion": one_of(criteria)} if criteria else {}
        judgement = narrowed(JudgementReply, option=one_of(options), **which)
        types |= {"criteria": list[judgement], "option": one_of((*options, NOBODY))}
    return narrowed(VerdictReply, **types)


def verdict_from(debate: Debate, reply: VerdictReply) -> Verdict:
    playbook = debate.setup.playbook
    criteria = criteria_of(playbook)
    requirements = _requirements(reply, criteria)
    names = {label: criterion.name for label, criterion in criteria.items()}
    texts = {part.part: part.text.strip() for part in reply.parts}
    notes = dict(zip(note_labels(debate), debate.notes, strict=True))
    answers = {label_in(note.note, tuple(notes)): note for note in reply.notes}
    unmentioned = NoteReply(note="", explanation="The judge did not mention it.", used=False)
    holders = {agent.name: agent.id for agent in debate.setup.agents} | {NOBODY: JUDGE}
    raised, dissent = raised_points(debate), reply.dissent.strip()
    return Verdict(
        decision=reply.decision.strip(),
        option="" if reply.option == NOBODY else reply.option,
        reasons=lines_of(reply.reasons),
        requirements=requirements,
        criteria=tuple(
            Judgement(option=criterion.option, criterion=named, words=criterion.judgement)
            for criterion in reply.criteria
            if (named := names.get(criterion.criterion, criterion.criterion.strip()))
        ),
        sections=tuple(
            VerdictSection(title=part.title, text=texts[label])
            for label, part in parts_of(playbook).items()
            if texts.get(label)
        ),
        solution=reply.solution.strip(),
        implementation=reply.implementation.strip(),
        tradeoffs=lines_of(reply.tradeoffs),
        recommendations=lines_of(reply.recommendations),
        unmet_requirements=tuple(
            requirement.text
            for requirement in requirements
            if requirement.status is RequirementStatus.NOT_MET
        ),
        open_questions=lines_of(reply.open_questions),
        dissent=dissent,
        dissent_by=holders.get(reply.dissent_by or "", "") if dissent else "",
        overturned_by=lines_of(reply.overturned_by),
        lone=tuple(raised[it] for it in dict.fromkeys(reply.lone) if it in raised)[:MOST_LONE],
        notes=tuple(
            NoteOutcome(note=note.id, used=answer.used, explanation=answer.explanation)
            for label, note in notes.items()
            for answer in [answers.get(label, unmentioned)]
        ),
        earlier=tuple(_earlier(debate, reply)),
        confidence=None,
        judge_confidence=None if reply.confidence is None else max(0, min(reply.confidence, 100)),
    )


def _earlier(debate: Debate, reply: VerdictReply) -> Iterator[EarlierDecision]:
    stated = [answer for answer in reply.earlier if answer.relation in set(Relation)]
    answers = {answer.source: answer for answer in reversed(stated)}
    for source in debate.evidence:
        if source.id in answers and source.reference.kind is SourceKind.DECISION:
            yield EarlierDecision(
                source=source.id,
                debate=source.reference.fetch,
                title=source.reference.title,
                address=source.reference.address,
                relation=Relation(answers[source.id].relation),
                why=answers[source.id].why.strip(),
            )


def _requirements(
    reply: VerdictReply, criteria: Mapping[str, PlaybookCriterion]
) -> tuple[Requirement, ...]:
    musts = {label: criterion.name for label, criterion in criteria.items() if criterion.must}
    stated = [
        (str(label_in(requirement.requirement, tuple(musts))), requirement)
        for requirement in reply.requirements
        if requirement.requirement.strip()
    ]
    requirements = [
        Requirement(
            text=musts.get(label, reply.requirement.strip()),
            words=reply.words.strip(),
            status=RequirementStatus(reply.status),
        )
        for label, reply in stated
    ]
    # Musts that the judge does not mention are unknown.
    unknown = RequirementStatus.UNKNOWN
    missing = [name for label, name in musts.items() if label not in dict(stated)]
    return (*requirements, *(Requirement(text=name, status=unknown) for name in missing))
