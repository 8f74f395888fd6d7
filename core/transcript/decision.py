"""The verdict as text, decision first: plain for the terminal, Markdown for reports (pure)."""

from collections.abc import Iterator, Sequence

from core.acts.verdict_faults import audit_words
from core.figures import money
from core.models import EXAMPLE, OFFLINE, Debate, Status, Verdict, VerdictSource
from core.rules.ending import how_it_ended, why_held
from core.rules.hinges import hinge_words
from core.rules.raised import first_turn
from core.rules.sealing import SEALED
from core.transcript.ballots import vote_lines
from core.transcript.cited import check_words, cited_verdict, earlier_words
from core.transcript.found import findings_table
from core.transcript.markdown import inert, inert_line
from core.transcript.options import criteria_table, criteria_title
from core.transcript.people import assumptions
from core.transcript.single_answer import single_answer_section
from core.transcript.words import (
    bullets,
    confidence_words,
    nested,
    quoted,
    table,
    turn_words,
)

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
    notes: list[str] = []
    outcomes = {outcome.note: outcome for outcome in verdict.notes}
    for note in debate.notes:
        # What the judge passes over is told as well.
        outcome = outcomes.get(note.id)
        used = "used" if outcome and outcome.used else "not used"
        why = outcome.explanation if outcome else "The judge says nothing about it."
        notes.append(f"{note.author.name or note.author.id}: “{note.text}” ({used}) {why}")
    return "\n\n".join(
        [
            *(["Partial result: not all turns were taken."] if verdict.partial else []),
            *(f"Note: {inert_line(warning)}" for warning in verdict.warnings),
            inert(verdict.decision),
            *_standing(debate, verdict),
            *_sections(debate, verdict, level=1),
            *([f"# What became of the notes\n\n{bullets(notes)}"] if notes else ()),
            *([alone] if (alone := single_answer_section(debate, level=1)) else ()),
            *_footnote(verdict),
            f"Cost: {money(debate.usage.cost)}.",
        ]
    )


def verdict_section(debate: Debate, *, level: int = 2, asked: bool = True) -> str:
    """The verdict with all its fields, under a heading of that level.

    Args:
        debate: The debate.
        level: That of its heading.
        asked: With the question.
    """
    verdict, mark = debate.verdict and cited_verdict(debate, debate.verdict), "#" * level
    question = [quoted(debate.setup.question)] if asked else []
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
        *_sections(debate, verdict, level=level + 1),
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


def _sections(debate: Debate, verdict: Verdict, *, level: int) -> Iterator[str]:
    """Every field that says something, what a reader needs first at the top."""
    texts: Sequence[tuple[str, str]] = (
        ("Findings", findings_table(debate)),
        ("Why", "\n\n".join(filter(None, (bullets(verdict.reasons), check_words(debate))))),
        *((inert_line(section.title), nested(section.text, level)) for section in verdict.sections),
        ("Dissent", nested(verdict.dissent, level)),
        ("What would overturn it", bullets(verdict.overturned_by)),
        ("Said by one agent only", bullets(lone_words(debate, verdict))),
        ("Earlier decisions", bullets(earlier_words(verdict))),
        ("Reasoning and solution", nested(verdict.solution, level)),
        ("Implementation", nested(verdict.implementation, level)),
        ("Requirements", requirements_table(verdict)),
        (
            "Requirements that are not met",
            "" if verdict.requirements else bullets(verdict.unmet_requirements),
        ),
        (criteria_title(debate), criteria_table(debate, verdict)),
        ("Trade-offs", bullets(verdict.tradeoffs)),
        ("Recommendations", bullets(verdict.recommendations)),
        ("Open questions", bullets(verdict.open_questions)),
        ("Assumptions", bullets(assumptions(debate))),
    )
    for title, text in texts:
        if text:
            yield f"{'#' * level} {title}\n\n{text}"


def lone_words(debate: Debate, verdict: Verdict) -> tuple[str, ...]:
    """What one agent alone raised and the decision leaves out, with where it stands."""
    return tuple(
        f"{point.kind.value.capitalize()}, {turn_words(debate, first_turn(debate, point))}: "
        f"{point.text}"
        for point in verdict.lone
    )


def requirements_table(verdict: Verdict) -> str:
    """The judge's table of requirements; empty in debates of older versions."""
    rows = [
        (requirement.text, requirement.status.value, requirement.words)
        for requirement in verdict.requirements
    ]
    return table(("Requirement", "Status", "Words that show it"), rows) if rows else ""
