"""The verdict as its auditor reads it, and what of its faults still stands (pure)."""

from collections.abc import Iterator, Sequence

from core.acts.context import name_of
from core.debate.state import Debate
from core.debate.verdict import (
    Audit,
    AuditFault,
    AuditKind,
    Requirement,
    RequirementStatus,
    Verdict,
)
from core.evidence.words import words_of
from core.figures import quantity
from core.request import Part, PartKind

#: What is said of a verdict with faults that an audit found and the judge did not mend.
DOUBTED = "an audit doubts words of this verdict"


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
        words_of("\n".join(_requirements(each, RequirementStatus.MET))) for each in (draft, verdict)
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


def _requirements(verdict: Verdict, *statuses: RequirementStatus) -> Iterator[str]:
    for requirement in verdict.requirements:
        text = f' (shown by "{requirement.words}")' if requirement.words else ""
        if requirement.status in statuses:
            yield f"Requirement: {requirement.text}: {requirement.status.value}{text}"


def _lines(debate: Debate, verdict: Verdict) -> Iterator[str]:
    yield f"Decision: {verdict.decision}"
    yield from (f"Reason: {reason}" for reason in verdict.reasons)
    holder = f" (held by {name_of(debate, verdict.dissent_by)})" if verdict.dissent_by else ""
    yield f"Dissent: {verdict.dissent or 'none'}{holder}"
    yield from _requirements(verdict, *RequirementStatus)
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
