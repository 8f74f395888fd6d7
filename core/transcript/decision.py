"""The verdict as text: plain for the terminal and files, Markdown for reports (pure)."""

from collections.abc import Iterator, Sequence

from core.figures import money, number
from core.models import Debate, Verdict, VerdictSource
from core.transcript.cited import cited_verdict, evidence_rows
from core.transcript.inert import inert, inert_line
from core.transcript.words import bullets, confidence, name_of, nested, table

_SOURCES = {
    VerdictSource.JUDGE: "the judge",
    VerdictSource.FALLBACK_JUDGE: "another agent's model in the judge's place",
    VerdictSource.WINNER: "nobody: the judge could not be asked, so the winning position stands",
}


def decision_text(debate: Debate) -> str:
    """The decision alone, as Markdown that reads well as plain text; why there is none else."""
    verdict = debate.verdict and cited_verdict(debate.verdict)
    if verdict is None:
        return f"There is no decision. {inert_line(debate.failure)}".strip()
    notes: list[str] = []
    outcomes = {outcome.note: outcome for outcome in verdict.notes}
    for note in debate.notes:
        # What the judge passes over is told as well.
        outcome = outcomes.get(note.id)
        used = "used" if outcome and outcome.used else "not used"
        why = outcome.explanation if outcome else "The judge says nothing about it."
        notes.append(f"{note.author.name or note.author.id}: “{note.text}” ({used}) {why}")
    cost = money(debate.usage.cost)
    return "\n\n".join(
        [
            *(f"Note: {inert_line(warning)}" for warning in verdict.warnings),
            inert(verdict.decision),
            *_sections(debate, verdict, level=1),
            *([f"# What became of the notes\n\n{bullets(notes)}"] if notes else ()),
            f"Confidence: {confidence(verdict)}. {vote_words(debate)} Cost: {cost}.",
        ]
    )


def verdict_section(debate: Debate, *, level: int = 2) -> str:
    """The verdict with all its fields, under a heading of that level."""
    verdict, mark = debate.verdict and cited_verdict(debate.verdict), "#" * level
    if verdict is None:
        return f"{mark} Decision\n\nThere is no decision. {inert_line(debate.failure)}".strip()
    warnings = [f"> **Note:** {inert_line(warning)}" for warning in verdict.warnings]
    parts = [
        f"{mark} Decision",
        *warnings,
        f"**{inert_line(verdict.decision)}**",
        f"Confidence {confidence(verdict)}. Written by {_SOURCES[verdict.source]}.",
        *_sections(debate, verdict, level=level + 1),
    ]
    return "\n\n".join(parts)


def vote_words(debate: Debate) -> str:
    """The vote in one sentence."""
    tally = debate.tally
    if tally is None or not tally.voters:
        return "There was no vote." if tally is None else "No ballot could be counted."
    names = [name_of(debate, winner) for winner in tally.winners]
    lead = (
        f"{names[0]} won the vote" if len(names) == 1 else f"The vote is tied: {', '.join(names)}"
    )
    points = ", ".join(f"{name_of(debate, s.position)} {number(s.points)}" for s in tally.scores)
    close = "; the top two are within one point" if tally.controversial else ""
    return f"{lead} ({points}{close})."


def _sections(debate: Debate, verdict: Verdict, *, level: int) -> Iterator[str]:
    """Every field that says something, in reading order."""
    assumptions: list[str] = []
    for item in (item for asked in debate.clarifications.values() for item in asked.items):
        answer = debate.answers.get(item.number)
        if answer is None or not answer.text:
            assumed = item.assumption or "nothing in particular"
            assumptions.append(f"{item.question} NA; assumed: {assumed}")
    texts: Sequence[tuple[str, str]] = (
        ("Why", bullets(verdict.reasons)),
        ("Evidence", _evidence(verdict)),
        ("Reasoning and solution", nested(verdict.solution, level)),
        ("Implementation", nested(verdict.implementation, level)),
        ("Trade-offs", bullets(verdict.tradeoffs)),
        ("Recommendations", bullets(verdict.recommendations)),
        ("Requirements", _requirements(verdict)),
        (
            "Requirements that are not met",
            "" if verdict.requirements else bullets(verdict.unmet_requirements),
        ),
        ("Open questions", bullets(verdict.open_questions)),
        ("Assumptions", bullets(assumptions)),
        ("Dissent", nested(verdict.dissent, level)),
        ("What would overturn it", bullets(verdict.overturned_by)),
    )
    for title, text in texts:
        if text:
            yield f"{'#' * level} {title}\n\n{text}"


def _evidence(verdict: Verdict) -> str:
    """What each reason rests on; empty where the debate had no sources."""
    rows = evidence_rows(verdict)
    return table(("Reason", "Status", "Words that show it"), rows) if rows else ""


def _requirements(verdict: Verdict) -> str:
    """The judge's table of requirements; empty in debates of older versions."""
    rows = [(one.text, one.status.value, one.words) for one in verdict.requirements]
    return table(("Requirement", "Status", "Words that show it"), rows) if rows else ""
