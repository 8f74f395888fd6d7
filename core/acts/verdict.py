"""The judge's reply: its form, and the verdict made from it, the vote and an audit (pure).

Judges that overturn a majority without new evidence are wrong more often (arXiv:2606.29270). So the
judge must name the requirement that the vote's option breaks, in the team's words, or quote a
source, and this module checks that these words exist. If they do not, the vote's option stands and
the objection becomes the dissent.
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
    label_type,
    lines_of,
    narrow_form,
    percent_in,
)
from core.debate.contributions import NoteOutcome
from core.debate.evidence import CitationStatus, SourceKind
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
from core.rules.options import current_option, options_of, short_name
from core.rules.playbook import criteria_of, musts_of, parts_of
from core.rules.voting import best_texts, counted_ballots, option_voted_for

#: The remark on a verdict with faults that an audit found and the judge did not correct.
DOUBTED = "an audit doubts words of this verdict"
#: Fewest consecutive words of the team that identify a requirement.
_LEAST_WORDS = 3
#: Most reasons that a verdict takes from ballots.
_MOST_REASONS = 3
#: Longest ground in the warning that it was not found, in characters.
_GROUND_CHARS = 200
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
    #: Name of the agent that dissents, `NOBODY` for the judge itself; None: not stated.
    dissent_by: str | None = None
    requirements: list[RequirementReply] = []
    criteria: list[JudgementReply] = []
    decision: str
    #: Id of the option decided for, or `NOBODY` for none of them.
    option: str = NOBODY
    solution: str
    implementation: str
    tradeoffs: list[str]
    recommendations: list[str]
    open_questions: list[str]
    overturned_by: list[str]
    notes: list[NoteReply]
    #: None if the judge gives none. (The form for vendors asks for a number.)
    confidence: Annotated[int | None, BeforeValidator(percent_in)]
    #: The requirement or quote for which the judge overrules the vote; empty: it follows the vote.
    overrules: SkipJsonSchema[str] = ""
    #: Labels of points that one agent alone raised and the decision leaves out.
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
    """The form of a verdict, with the labels that its fields allow.

    Without `criteria` of a playbook the judge chooses the criteria to compare options by.
    """
    types: dict[str, Any] = {}
    if agents:
        holders = label_type((*dict.fromkeys(agents), NOBODY))
        # A missing name is read as None, so that no call is spent on a repair.
        or_none = BeforeValidator(lambda raw: raw if isinstance(raw, str) and raw.strip() else None)
        types["dissent_by"] = Annotated[holders | None, or_none]
    if voted:
        types["overrules"] = str
    if raised:
        types["lone"] = list[label_type(raised)]
    if earlier:
        relation = label_type([relation.value for relation in Relation])
        types["earlier"] = list[
            narrow_form(EarlierReply, source=label_type(earlier), relation=relation)
        ]
    if parts:
        types["parts"] = list[narrow_form(PartReply, part=label_type(parts))]
    if notes:
        types["notes"] = list[narrow_form(NoteReply, note=label_type(notes))]
    if options:
        criterion = {"criterion": label_type(criteria)} if criteria else {}
        judgement = narrow_form(JudgementReply, option=label_type(options), **criterion)
        types |= {"criteria": list[judgement], "option": label_type((*options, NOBODY))}
    return narrow_form(VerdictReply, **types)


def verdict_from(debate: Debate, reply: VerdictReply) -> Verdict:
    playbook = debate.setup.playbook
    criteria = criteria_of(playbook)
    requirements = _requirements(reply, musts_of(playbook))
    names = {label: criterion.name for label, criterion in criteria.items()}
    texts = {part.part: part.text.strip() for part in reply.parts}
    holders = {agent.name: agent.id for agent in debate.setup.agents} | {NOBODY: JUDGE}
    points = raised_points(debate)
    # These fields have the same names in the reply and the verdict.
    common_fields: dict[str, object] = {
        name: getattr(reply, name).strip() for name in Verdict.TEXTS
    }
    common_fields |= {name: lines_of(getattr(reply, name)) for name in Verdict.LISTS}
    other_fields = {
        "option": "" if reply.option == NOBODY else reply.option,
        "requirements": requirements,
        "unmet_requirements": tuple(
            requirement.text
            for requirement in requirements
            if requirement.status is RequirementStatus.NOT_MET
        ),
        "criteria": tuple(
            Judgement(option=criterion.option, criterion=name, words=criterion.judgement)
            for criterion in reply.criteria
            if (name := names.get(criterion.criterion, criterion.criterion.strip()))
        ),
        "sections": tuple(
            VerdictSection(title=part.title, text=texts[label])
            for label, part in parts_of(playbook).items()
            if texts.get(label)
        ),
        "dissent_by": holders.get(reply.dissent_by or "", "") if common_fields["dissent"] else "",
        "lone": tuple(points[label] for label in dict.fromkeys(reply.lone) if label in points)[
            :MOST_LONE
        ],
        "notes": tuple(_note_outcomes(debate, reply)),
        "earlier": tuple(_earlier(debate, reply)),
        "confidence": None,
        "judge_confidence": reply.confidence,
    }
    return Verdict.model_validate(common_fields | other_fields)


def _note_outcomes(debate: Debate, reply: VerdictReply) -> Iterator[NoteOutcome]:
    labels = note_labels(debate)
    answers = {label_in(answer.note, labels): answer for answer in reply.notes}
    missing = NoteReply(note="", explanation="The judge did not mention it.", used=False)
    for label, note in zip(labels, debate.notes, strict=True):
        answer = answers.get(label, missing)
        yield NoteOutcome(note=note.id, used=answer.used, explanation=answer.explanation)


def _earlier(debate: Debate, reply: VerdictReply) -> Iterator[EarlierDecision]:
    valid = [answer for answer in reply.earlier if answer.relation in set(Relation)]
    answers = {answer.source: answer for answer in reversed(valid)}
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


def _requirements(reply: VerdictReply, musts: Mapping[str, str]) -> tuple[Requirement, ...]:
    labelled = [
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
        for label, reply in labelled
    ]
    # Musts that the judge does not mention are unknown.
    unknown = RequirementStatus.UNKNOWN
    missing = [name for label, name in musts.items() if label not in dict(labelled)]
    return (*requirements, *(Requirement(text=name, status=unknown) for name in missing))


def contains_words(words: str, text: Sequence[str]) -> bool:
    """Whether the text contains these words consecutively, ignoring case and punctuation."""
    phrase = " ".join(words_of(words))
    return bool(phrase) and f" {phrase} " in f" {' '.join(text)} "


def verdict_part(debate: Debate, verdict: Verdict) -> Part:
    return Part(kind=PartKind.OWN, label="The verdict", text="\n".join(_lines(debate, verdict)))


def uncorrected_faults(
    debate: Debate, audit: Audit, draft: Verdict, verdict: Verdict
) -> Sequence[AuditFault]:
    """The faults that the judge did not correct: the verdict still has the quoted words.

    For a requirement wrongly called met, only the rows of met requirements count. For a dropped
    dissent, whose words are in a ballot, the dissent and its holder must have changed.
    """
    before, after = (words_of(verdict_part(debate, each).text) for each in (draft, verdict))
    was_met, is_met = (
        words_of("\n".join(_requirement_lines(each, RequirementStatus.MET)))
        for each in (draft, verdict)
    )

    def is_uncorrected(fault: AuditFault) -> bool:
        if fault.kind is AuditKind.DISSENT:
            is_same = (verdict.dissent, verdict.dissent_by) == (draft.dissent, draft.dissent_by)
            return is_same and contains_words(fault.words, after) == contains_words(
                fault.words, before
            )
        if fault.kind is AuditKind.REQUIREMENT and contains_words(fault.words, was_met):
            return contains_words(fault.words, is_met)
        return (
            contains_words(fault.words, after)
            if contains_words(fault.words, before)
            else after == before
        )

    return [fault for fault in audit.faults if is_uncorrected(fault)]


def open_faults(debate: Debate) -> Sequence[AuditFault]:
    """Faults that an audit found and the judge did not correct; empty without an audit."""
    audit, draft, verdict = debate.audit, debate.draft, debate.verdict
    return uncorrected_faults(debate, audit, draft, verdict) if audit and draft and verdict else ()


def is_doubted(debate: Debate, requirement: Requirement) -> bool:
    return any(
        fault.kind is AuditKind.REQUIREMENT
        and contains_words(requirement.text, words_of(fault.words))
        for fault in open_faults(debate)
    )


def decision_doubt(debate: Debate) -> str:
    return f" ({DOUBTED})" if open_faults(debate) else ""


def audit_words(debate: Debate) -> str:
    """The result of the audit in a sentence; empty if there was no audit."""
    audit, draft, verdict = debate.audit, debate.draft, debate.verdict
    if audit is None or draft is None or verdict is None:
        return ""
    if audit.failure:
        return f"{audit.auditor} was to audit the verdict and could not: {audit.failure}"
    if not audit.faults:
        return f"An audit of the verdict by {audit.auditor} found no fault."
    total = len(audit.faults)
    corrected = total - len(open_faults(debate))
    text = f"An audit of the verdict by {audit.auditor} found {quantity(total, 'fault')}"
    return f"{text}; the judge then changed the words of {corrected or 'none'}."


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
    """Id of the option that the judge may overrule only with a ground; empty: it is free to choose.

    In a review the findings bind the judge instead.
    """
    return "" if debate.setup.format == review.NAME else option_voted_for(debate)


def apply_vote(debate: Debate, verdict: Verdict, ground: str) -> Verdict:
    """The judge's verdict, or the vote's choice if the judge overruled it without a valid ground.

    `ground` is the broken requirement or the quote that the judge gives for overruling the vote.
    """
    voted = binding_option(debate)
    if not voted or verdict.is_undecided or options_of(debate).resolve(verdict.option) == voted:
        return verdict
    words, source = checked_ground(debate, ground)
    overrule = Overrule(vote=voted, judge=verdict.option, ground=words, source=source)
    options = options_of(debate)
    vote, short_ground = options.name(voted), short_name(ground, _GROUND_CHARS)
    if overrule.stands:
        # The words of a ground are checked. That a requirement is broken is the judge's opinion.
        reason = f"{source} says" if source else "in its view this breaks"
        text = f'The judge overruled the vote for "{vote}": {reason} "{words}".'
    else:
        verdict = _verdict_of_vote(debate, verdict, voted)
        judge = f'"{options.name(overrule.judge)}"' if overrule.judge else "none of the options"
        reason = "without a ground"
        if short_ground:
            reason = f"because of “{short_ground}”, which was not found as a requirement or a quote"
        text = (
            f"The judge would have decided for {judge}, {reason}: "
            f'the vote for "{vote}" stands, and the objection is the dissent.'
        )
    return verdict.model_copy(update={"overrule": overrule, "warnings": (text, *verdict.warnings)})


def checked_ground(debate: Debate, ground: str) -> tuple[str, str]:
    """The words of a valid ground and the id of their source; both empty if it is not valid.

    A requirement has no source. It must occur in a text of the team or in the playbook.
    """
    citations = check_citations(ground, debate.evidence)[1]
    verified = (citation for citation in citations if citation.status is CitationStatus.VERIFIED)
    if quote := next(verified, None):
        return quote.words, quote.source
    musts = musts_of(debate.setup.playbook)
    label = label_in(ground, tuple(musts))
    if label in musts:
        return musts[str(label)], ""
    claim = without_quotes(ground).strip(" \"'“”„")
    if len(words_of(claim)) < _LEAST_WORDS:
        return "", ""
    notes = (note.text for note in debate.notes)
    answers = (answer.text for answer in debate.answers.values())
    texts = (debate.setup.question, debate.setup.context, *notes, *answers, *musts.values())
    is_written = any(contains_words(claim, words_of(text)) for text in texts)
    return (claim, "") if is_written else ("", "")


def best_author(debate: Debate) -> str:
    """Id of the author of the best text for the winning option, or of the first text."""
    return next(iter((*best_texts(debate.tally), *format_of(debate).positions(debate))))


def author_of_vote(debate: Debate) -> str:
    """Id of the author of the best text for the option that won the vote; empty: no text is."""
    best = best_author(debate)
    return best if current_option(debate, best) == option_voted_for(debate) else ""


def _verdict_of_vote(debate: Debate, verdict: Verdict, voted: str) -> Verdict:
    """A verdict for the vote's option from the best text for it, with the judge's as the dissent.

    The judge's fields about its own decision are removed, and requirements become unknown. An
    option without a text, such as one that people added, is named.
    """
    best, decision, solution = author_of_vote(debate), options_of(debate).name(voted), ""
    if best:
        position = format_of(debate).positions(debate)[best]
        decision = first_sentence(position.answer) or first_sentence(position.text)
        solution = position.text
    reasons = tuple(
        f"{debate.setup.agent(ballot.voter).name}: {ballot.reasons[best]}"
        for ballot in counted_ballots(debate)
        if ballot.ranking[:1] == (best,)
    )
    unknown = {"status": RequirementStatus.UNKNOWN, "words": ""}
    objection = VerdictSection(title="The judge's objection in full", text=verdict.solution)
    return verdict.model_copy(
        update={
            "decision": decision,
            "option": voted,
            "reasons": reasons[:_MOST_REASONS],
            "solution": solution,
            "implementation": "",
            "tradeoffs": (),
            "recommendations": (),
            "overturned_by": (),
            "unmet_requirements": (),
            "requirements": tuple(row.model_copy(update=unknown) for row in verdict.requirements),
            "dissent": " ".join((verdict.decision, *verdict.reasons)),
            "dissent_by": JUDGE,
            "lone": tuple(point for point in verdict.lone if point.agent != best),
            "sections": (objection,) if verdict.solution else (),
        }
    )
