"""The judge's reply: its form, and the verdict that it, the vote and an audit make (pure).

A judge that overturns a majority without new evidence loses on balance (arXiv:2606.29270). So it
names the requirement that the vote's option breaks, in the team's words, or a quote; whether these
words exist is looked up here. Else the vote's option stands, and the objection becomes the dissent.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from core.acts.citing import without_quotes
from core.acts.context import name_of, note_labels
from core.acts.replies import (
    NOBODY,
    exact_label,
    first_sentence,
    label_in,
    lines_of,
    narrowed,
    of_hundred,
    one_of,
)
from core.debate.contributions import NoteOutcome
from core.debate.evidence import CitationStatus, SourceKind
from core.debate.rules import PlaybookCriterion
from core.debate.state import Debate
from core.debate.turn import JUDGE
from core.debate.verdict import (
    Audit,
    AuditFault,
    AuditKind,
    EarlierDecision,
    Judgement,
    Overrule,
    Relation,
    Requirement,
    RequirementStatus,
    Verdict,
    VerdictSection,
)
from core.evidence.citations import check_citations
from core.evidence.words import words_of
from core.figures import quantity
from core.request import Part, PartKind
from core.rules.formats import review
from core.rules.formats.registry import format_of
from core.rules.judging import MOST_LONE, raised_points
from core.rules.options import options_of, short_name
from core.rules.playbook import criteria_of, parts_of
from core.rules.voting import best_texts, counted_ballots, option_voted_for

#: What is said of a verdict with faults that an audit found and the judge did not mend.
DOUBTED = "an audit doubts words of this verdict"
#: A requirement is named by at least so many of the team's words in a row.
_LEAST_WORDS = 3
#: Reasons that the voters' ballots lend to a verdict.
_MOST_REASONS = 3
#: Longest ground that was not found, as it is told.
_NAMED_CHARS = 200
_STATES = [status.value for status in RequirementStatus]
_NAMES_OF_STATES = {state: state for state in _STATES} | {
    **dict.fromkeys(("fulfilled", "yes"), RequirementStatus.MET.value),
    **dict.fromkeys(("unmet", "not fulfilled", "no"), RequirementStatus.NOT_MET.value),
}


class NoteReply(BaseModel):
    note: str
    explanation: str
    used: bool


class RequirementReply(BaseModel):
    requirement: str
    words: str
    status: Annotated[
        str,
        BeforeValidator(
            partial(exact_label, labels=_NAMES_OF_STATES, default=RequirementStatus.UNKNOWN.value)
        ),
        WithJsonSchema({"type": "string", "enum": _STATES}),
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
    raised = raised_points(debate)
    # Fields of the same name in both.
    same: dict[str, object] = {name: getattr(reply, name).strip() for name in Verdict.TEXTS}
    same |= {name: lines_of(getattr(reply, name)) for name in Verdict.LISTS}
    others = {
        "option": "" if reply.option == NOBODY else reply.option,
        "requirements": requirements,
        "unmet_requirements": tuple(
            requirement.text
            for requirement in requirements
            if requirement.status is RequirementStatus.NOT_MET
        ),
        "criteria": tuple(
            Judgement(option=criterion.option, criterion=named, words=criterion.judgement)
            for criterion in reply.criteria
            if (named := names.get(criterion.criterion, criterion.criterion.strip()))
        ),
        "sections": tuple(
            VerdictSection(title=part.title, text=texts[label])
            for label, part in parts_of(playbook).items()
            if texts.get(label)
        ),
        "dissent_by": holders.get(reply.dissent_by or "", "") if same["dissent"] else "",
        "lone": tuple(raised[it] for it in dict.fromkeys(reply.lone) if it in raised)[:MOST_LONE],
        "notes": tuple(
            NoteOutcome(note=note.id, used=answer.used, explanation=answer.explanation)
            for label, note in notes.items()
            for answer in [answers.get(label, unmentioned)]
        ),
        "earlier": tuple(_earlier(debate, reply)),
        "confidence": None,
        "judge_confidence": reply.confidence and max(0, min(reply.confidence, 100)),
    }
    return Verdict.model_validate(same | others)


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


def stands_in(words: str, text: Sequence[str]) -> bool:
    """Whether words occur in a text in a row, regardless of case and marks."""
    phrase = " ".join(words_of(words))
    return bool(phrase) and f" {phrase} " in f" {' '.join(text)} "


def verdict_part(debate: Debate, verdict: Verdict) -> Part:
    return Part(kind=PartKind.OWN, label="The verdict", text="\n".join(_lines(debate, verdict)))


def left_standing(
    debate: Debate, audit: Audit, draft: Verdict, verdict: Verdict
) -> Sequence[AuditFault]:
    """The faults whose words the judge did not change.

    Of a requirement called met, that is the row that calls it so; of a dropped dissent, whose words
    stand in a ballot, the dissent and its holder.
    """
    before, after = (words_of(verdict_part(debate, each).text) for each in (draft, verdict))
    was_met, is_met = (
        words_of("\n".join(_requirement_lines(each, RequirementStatus.MET)))
        for each in (draft, verdict)
    )

    def stands(fault: AuditFault) -> bool:
        if fault.kind is AuditKind.DISSENT:
            same = (verdict.dissent, verdict.dissent_by) == (draft.dissent, draft.dissent_by)
            return same and stands_in(fault.words, after) == stands_in(fault.words, before)
        if fault.kind is AuditKind.REQUIREMENT and stands_in(fault.words, was_met):
            return stands_in(fault.words, is_met)
        return stands_in(fault.words, after) if stands_in(fault.words, before) else after == before

    return [fault for fault in audit.faults if stands(fault)]


def open_faults(debate: Debate) -> Sequence[AuditFault]:
    """What an audit found and the judge did not mend; empty without an audit."""
    audit, draft, verdict = debate.audit, debate.draft, debate.verdict
    return left_standing(debate, audit, draft, verdict) if audit and draft and verdict else ()


def is_doubted(debate: Debate, requirement: Requirement) -> bool:
    return any(
        fault.kind is AuditKind.REQUIREMENT and stands_in(requirement.text, words_of(fault.words))
        for fault in open_faults(debate)
    )


def decision_doubt(debate: Debate) -> str:
    return f" ({DOUBTED})" if open_faults(debate) else ""


def audit_words(debate: Debate) -> str:
    """What an audit came to, in a sentence; empty where there was none."""
    audit, draft, verdict = debate.audit, debate.draft, debate.verdict
    if audit is None or draft is None or verdict is None:
        return ""
    if audit.failure:
        return f"{audit.auditor} was to audit the verdict and could not: {audit.failure}"
    if not audit.faults:
        return f"An audit of the verdict by {audit.auditor} found no fault."
    found, changed = len(audit.faults), len(audit.faults) - len(open_faults(debate))
    text = f"An audit of the verdict by {audit.auditor} found {quantity(found, 'fault')}"
    return f"{text}; the judge then changed the words of {changed or 'none'}."


def _requirement_lines(verdict: Verdict, *statuses: RequirementStatus) -> Iterator[str]:
    for requirement in verdict.requirements:
        text = f' (shown by "{requirement.words}")' if requirement.words else ""
        if requirement.status in statuses:
            yield f"Requirement: {requirement.text}: {requirement.status.value}{text}"


def _lines(debate: Debate, verdict: Verdict) -> Iterator[str]:
    yield f"Decision: {verdict.decision}"
    yield from (f"Reason: {reason}" for reason in verdict.reasons)
    holder = f" (held by {name_of(debate, verdict.dissent_by)})" if verdict.dissent_by else ""
    yield f"Dissent: {verdict.dissent or 'none'}{holder}"
    yield from _requirement_lines(verdict, *RequirementStatus)
    yield from (
        f"{judgement.option} by {judgement.criterion}: {judgement.words}"
        for judgement in verdict.criteria
    )
    for title, texts in (
        ("Solution", (verdict.solution,)),
        ("First steps", (verdict.implementation,)),
        *((section.title, (section.text,)) for section in verdict.sections),
        ("Given up", verdict.tradeoffs),
        ("Recommended besides", verdict.recommendations),
        ("Open question", verdict.open_questions),
        ("Would overturn it, if it were so", verdict.overturned_by),
    ):
        yield from (f"{title}: {text}" for text in texts if text)
    for point in verdict.lone:
        yield f"Left out, raised by {name_of(debate, point.agent)} alone: {point.text}"
    for citation in verdict.citations:
        yield f'Quote of {citation.source}, {citation.status.value}: "{citation.words}"'


def binding_option(debate: Debate) -> str:
    """Id of the option that the judge may leave on a ground only; empty: it is free to choose.

    The verdict of a review is bound by its findings instead.
    """
    return "" if debate.setup.format == review.NAME else option_voted_for(debate)


def bound_by_vote(debate: Debate, verdict: Verdict, ground: str) -> Verdict:
    """The judge's verdict, or what the vote chose where the judge left that without a ground.

    `ground` is the broken requirement or the quote that the judge names for leaving the vote.
    """
    voted = binding_option(debate)
    if not voted or verdict.is_undecided or options_of(debate).resolve(verdict.option) == voted:
        return verdict
    words, source = checked_ground(debate, ground)
    overrule = Overrule(vote=voted, judge=verdict.option, ground=words, source=source)
    options = options_of(debate)
    vote, named = options.name(voted), short_name(ground, _NAMED_CHARS)
    if overrule.stands:
        # Only the words of a ground are looked up: that a requirement is broken is its opinion.
        why = f"{source} says" if source else "it holds that this breaks"
        text = f'The judge overruled the vote for "{vote}": {why} "{words}".'
    else:
        verdict = _verdict_of_vote(debate, verdict, voted)
        judge = f'"{options.name(overrule.judge)}"' if overrule.judge else "none of the options"
        why = f"because of “{named}”, which was found nowhere" if named else "without a ground"
        text = (
            f"The judge would have decided for {judge}, {why}: "
            f'the vote for "{vote}" stands, and the objection is the dissent.'
        )
    return verdict.model_copy(update={"overrule": overrule, "warnings": (text, *verdict.warnings)})


def checked_ground(debate: Debate, ground: str) -> tuple[str, str]:
    """The words that a ground rests on and the id of their source, if they are there; else empty.

    A requirement has no source: it stands in what the team wrote, or the playbook names it.
    """
    citations = check_citations(ground, debate.evidence)[1]
    quoted = (citation for citation in citations if citation.status is CitationStatus.VERIFIED)
    if quote := next(quoted, None):
        return quote.words, quote.source
    criteria = criteria_of(debate.setup.playbook)
    musts = {label: criterion.name for label, criterion in criteria.items() if criterion.must}
    label = label_in(ground, tuple(musts))
    if label in musts:
        return musts[str(label)], ""
    named = without_quotes(ground).strip(" \"'“”„")
    if len(words_of(named)) < _LEAST_WORDS:
        return "", ""
    notes = (note.text for note in debate.notes)
    answers = (answer.text for answer in debate.answers.values())
    written = (debate.setup.question, debate.setup.context, *notes, *answers, *musts.values())
    is_there = any(stands_in(named, words_of(text)) for text in written)
    return (named, "") if is_there else ("", "")


def best_holder(debate: Debate) -> str:
    """Id of the agent with the best text for what the vote chose, the first where nobody voted."""
    best = best_texts(debate.tally) if debate.tally else ()
    return next(iter((*best, *format_of(debate).positions(debate))))


def _verdict_of_vote(debate: Debate, verdict: Verdict, voted: str) -> Verdict:
    """What the vote chose, in the words of the best text for it, with the judge's as the dissent.

    What the judge says of its own decision does not hold of this one: a requirement that nobody
    judged is unknown.
    """
    best = best_holder(debate)
    position = format_of(debate).positions(debate)[best]
    reasons = tuple(
        f"{debate.setup.agent(ballot.voter).name}: {ballot.reasons[best]}"
        for ballot in (counted_ballots(debate, debate.tally) if debate.tally else ())
        if ballot.ranking[:1] == (best,)
    )
    unknown = {"status": RequirementStatus.UNKNOWN, "words": ""}
    own = VerdictSection(title="The judge's objection in full", text=verdict.solution)
    return verdict.model_copy(
        update={
            "decision": first_sentence(position.answer) or first_sentence(position.text),
            "option": voted,
            "reasons": reasons[:_MOST_REASONS],
            "solution": position.text,
            "implementation": "",
            "tradeoffs": (),
            "recommendations": (),
            "overturned_by": (),
            "unmet_requirements": (),
            "requirements": tuple(it.model_copy(update=unknown) for it in verdict.requirements),
            "dissent": " ".join((verdict.decision, *verdict.reasons)),
            "dissent_by": JUDGE,
            "lone": tuple(point for point in verdict.lone if point.agent != best),
            "sections": (own,) if verdict.solution else (),
        }
    )
