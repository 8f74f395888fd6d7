"""The verdict as text, decision first: plain for the terminal, Markdown for reports (pure)."""

from collections.abc import Iterator

from core.acts.verdict_faults import audit_words
from core.figures import money
from core.models import EXAMPLE, OFFLINE, Debate, Status, Verdict, VerdictSource
from core.rules.ending import how_it_ended, why_held
from core.rules.hinges import hinge_words
from core.rules.sealing import SEALED
from core.transcript.ballots import vote_lines
from core.transcript.cited import cited_verdict, source_names
from core.transcript.markdown import inert, inert_line
from core.transcript.sections import as_markdown, notes_section, verdict_sections
from core.transcript.single_answer import single_answer_section
from core.transcript.words import confidence_words, quoted

_SOURCES = {
    VerdictSource.JUDGE: "the judge",
    VerdictSource.FALLBACK_JUDGE: "another agent's model in the judge's place",
    VerdictSource.WINNER: "nobody: no judge gave a verdict, so the winning position stands",
}

#: What wrote in the judge's place where no model was asked.
_NO_MODEL = {
    OFFLINE: "rules, from checklists: no model was asked",
    EXAMPLE: "hand, as an example: no model was asked",
}


def decision_text(debate: Debate) -> str:
    """The decision alone, as Markdown that reads well as plain text; why there is none else."""
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    if verdict is None:
        return why_none(debate)
    sections = (*verdict_sections(debate, verdict), notes_section(debate, verdict))
    return "\n\n".join(
        [
            *(["Partial result: not all turns were taken."] if verdict.partial else []),
            *(f"Note: {inert_line(warning)}" for warning in verdict.warnings),
            inert(verdict.decision),
            *_standing(debate, verdict),
            *filter(None, (as_markdown(debate, section, 1) for section in sections)),
            *([alone] if (alone := single_answer_section(debate, level=1)) else ()),
            *_footnote(verdict),
            f"Cost: {money(debate.usage.cost)}.",
        ]
    )


def verdict_section(debate: Debate, *, level: int = 2, with_question: bool = True) -> str:
    """The verdict with all its fields, under a heading of that level.

    Args:
        debate: The debate.
        level: That of its heading.
        with_question: Whether to quote the question.
    """
    verdict, mark = debate.verdict and cited_verdict(debate, debate.verdict), "#" * level
    question = [quoted(debate.setup.question)] if with_question else []
    if verdict is None:
        return "\n\n".join([f"{mark} Decision", why_none(debate), *question, *_ending(debate)])
    warnings = [f"> **Note:** {inert_line(warning)}" for warning in verdict.warnings]
    author = _SOURCES[verdict.source]
    if verdict.source is not VerdictSource.WINNER:
        author = _NO_MODEL.get(debate.setup.judge.provider, author)
    parts = [
        f"{mark} Decision",
        *warnings,
        f"**{inert_line(verdict.decision)}**",
        *question,
        *_standing(debate, verdict),
        f"Written by {author}.",
        *(as_markdown(debate, s, level + 1) for s in verdict_sections(debate, verdict)),
        *_footnote(verdict),
    ]
    return "\n\n".join(parts)


def why_none(debate: Debate) -> str:
    """Why there is no verdict, and which one stood before it was debated after all."""
    if debate.is_sealed:
        return SEALED
    why = f"There is no decision. {inert_line(debate.failure)}".strip()
    if debate.status is Status.RUNNING:
        why = "None yet: the debate is running."
    earlier = debate.earlier_verdict
    if earlier is None:
        return why
    return f"{why}\n\nThe verdict before it was debated: {inert_line(earlier.decision)}"


def _standing(debate: Debate, verdict: Verdict) -> Iterator[str]:
    """How sure it is, the vote, why rounds were held and how they ended."""
    yield confidence_words(verdict)
    if cited := source_names(debate, verdict.model_dump_json()):
        yield inert_line(f"Sources: {cited}")
    if hangs_on := hinge_words(debate, verdict):
        yield inert_line(hangs_on)
    if playbook := debate.setup.playbook:
        yield f"Playbook: {inert_line(playbook.title)}"
    if audited := audit_words(debate):
        yield inert_line(audited)
    yield from vote_lines(debate)
    yield from _ending(debate)


def _ending(debate: Debate) -> Iterator[str]:
    for name, texts in (
        ("Why it was debated", why_held(debate)),
        ("How it ended", how_it_ended(debate)),
    ):
        if texts:
            yield inert_line(f"{name}: {' '.join(texts)}")


def _footnote(verdict: Verdict) -> Iterator[str]:
    """The judge's own number, where another one counts."""
    if verdict.judge_confidence is not None and verdict.confidence != verdict.judge_confidence:
        own = f"{verdict.judge_confidence} of 100"
        yield f"Footnote: the judge's own number, which does not count, was {own}."
