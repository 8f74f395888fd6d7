"""A debate as an architecture decision record, ready for `docs/decisions/` (pure)."""

from core.figures import day
from core.models import Debate, Verdict
from core.transcript.cited import cited_verdict
from core.transcript.decision import vote_words
from core.transcript.inert import inert_line
from core.transcript.people import adr_status
from core.transcript.words import bullets, confidence, name_of, nested, quoted

_TITLE_MAX_CHARS = 80


def adr(debate: Debate) -> str:
    """The decision record: context, decision, considered positions, consequences, dissent."""
    verdict = debate.verdict and cited_verdict(debate.verdict)
    facts = (
        f"Status: {adr_status(debate)}",
        f"Date: {day(debate.ended_at or debate.now)}",
        f"Asked by: {debate.setup.asked_by.name or debate.setup.asked_by.id}",
        f"Source: Moot debate `{debate.id}`",
    )
    parts = [
        f"# {inert_line(title_of(debate))}",
        bullets(facts),
        f"## Context\n\n{quoted(debate.setup.question)}",
    ]
    if debate.setup.context:
        parts.append(nested(debate.setup.context, 2))
    names = [f"{agent.name} ({agent.role})" for agent in debate.setup.agents]
    parts += [
        f"## Points of view\n\n{bullets(names)}\n\n{vote_words(debate)}",
    ]
    if verdict is None:
        parts.append(f"## Decision\n\nNone was reached. {inert_line(debate.failure)}".strip())
    else:
        solution = nested(verdict.solution, 2)
        parts.append(f"## Decision\n\n**{inert_line(verdict.decision)}**\n\n{solution}")
        parts += _outcome(debate, verdict)
    return "\n\n".join(part for part in parts if part) + "\n"


def title_of(debate: Debate) -> str:
    """What was decided, or asked, in one short line."""
    text = debate.verdict.decision if debate.verdict else debate.setup.question
    line = " ".join(text.split()).strip("*# ").rstrip(".")
    if len(line) <= _TITLE_MAX_CHARS:
        return line
    return line[:_TITLE_MAX_CHARS].rsplit(None, 1)[0].rstrip(",;: ") + "…"


def _outcome(debate: Debate, verdict: Verdict) -> list[str]:
    """What follows from the decision and what speaks against it."""
    # Assumptions that hold because nobody answered the question.
    items = (item for asked in debate.clarifications.values() for item in asked.items)
    assumptions = [
        f"{item.assumption} (asked by {', '.join(name_of(debate, who) for who in item.asked_by)}: "
        f"{item.question})"
        for item in items
        if not (item.number in debate.answers and debate.answers[item.number].text)
    ]
    sections = (
        ("Implementation", nested(verdict.implementation, 2)),
        ("Consequences", bullets((*verdict.tradeoffs, *verdict.recommendations))),
        ("Requirements that are not met", bullets(verdict.unmet_requirements)),
        ("Dissent", nested(verdict.dissent, 2)),
        ("Revisit when", bullets(verdict.overturned_by)),
        ("Open questions", bullets(verdict.open_questions)),
        ("Assumptions", bullets(assumptions)),
        (
            "Confidence",
            f"{confidence(verdict)}. {inert_line(' '.join(verdict.warnings))}".strip(),
        ),
    )
    return [f"## {title}\n\n{text}" for title, text in sections if text]
