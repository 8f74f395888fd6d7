"""A debate as an architecture decision record, ready for `docs/decisions/` (pure)."""

from collections.abc import Iterator

from core.figures import day
from core.models import Debate, Verdict
from core.rules.ending import how_it_ended, why_held
from core.transcript.ballots import vote_words
from core.transcript.cited import cited_verdict, earlier_words, title_in
from core.transcript.decision import requirements_table, why_none
from core.transcript.found import findings_table
from core.transcript.markdown import inert_line
from core.transcript.options import (
    criteria_table,
    criteria_title,
    cross_check_words,
    gap_words,
    positions_words,
)
from core.transcript.people import adr_status, assumptions, outcome_words, standing_words
from core.transcript.words import bullets, confidence_words, nested, quoted

_TITLE_MAX_CHARS = 80


def adr(debate: Debate) -> str:
    """The decision record: context, decision, considered positions, consequences, dissent."""
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    decided = list[str]()
    if newest := debate.decision:
        at = debate.times.get(f"decision/{newest.origin}", debate.now)
        who = inert_line(newest.by.name or newest.by.id)
        decided.append(f"Decided by: {who}, {day(at)}")
        if newest.why.strip():
            decided.append(f"Why: {inert_line(newest.why)}")
    standing = standing_words(debate)
    still = f" ({standing})" if standing and not debate.decision else ""
    facts = (
        f"Status: {adr_status(debate)}{still}",
        f"Date: {day(debate.ended_at or debate.now)}",
        *decided,
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
    if read := [*_sources(debate)]:
        parts.append(f"## Sources\n\n{bullets(read)}")
    if considered := [*positions_words(debate)]:
        parts.append(f"## Options considered\n\n{bullets(considered)}")
    if verdict is None:
        parts.append(f"## Decision\n\n{why_none(debate)}")
    else:
        notes = [f"> **Note:** {inert_line(warning)}" for warning in verdict.warnings]
        reasons, solution = bullets(verdict.reasons), nested(verdict.solution, 2)
        decision = ("## Decision", *notes, f"**{inert_line(verdict.decision)}**", reasons, solution)
        parts += [*decision, *_outcome(debate, verdict)]
    if debate.outcome:
        parts.append(f"## How it turned out\n\n{inert_line(outcome_words(debate.outcome))}")
    names = ", ".join(f"{agent.name} ({agent.role})" for agent in debate.setup.agents)
    playbook = debate.setup.playbook
    held_as = f"Playbook: {playbook.title}." if playbook else ""
    said = (f"Agents: {names}.", held_as, vote_words(debate), cross_check_words(debate))
    how = bullets(
        filter(None, (*said, gap_words(debate), *why_held(debate), *how_it_ended(debate)))
    )
    parts.append(f"## How it was decided\n\n{how}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _sources(debate: Debate) -> Iterator[str]:
    """What was read, by the names by which it is cited."""
    for source in debate.evidence:
        title, address = title_in(debate, source), source.reference.address
        is_link = address.startswith(("https://", "http://")) and address != source.reference.title
        yield inert_line(f"{source.id}: {title}" + (f" ({address})" if is_link else ""))


def title_of(debate: Debate) -> str:
    """What was decided, or asked, in one short line."""
    text = debate.verdict.decision if debate.verdict else debate.setup.question
    line = " ".join(text.split()).strip("*# ").rstrip(".")
    if len(line) <= _TITLE_MAX_CHARS:
        return line
    return line[:_TITLE_MAX_CHARS].rsplit(None, 1)[0].rstrip(",;: ") + "…"


def _outcome(debate: Debate, verdict: Verdict) -> list[str]:
    """What follows from the decision and what speaks against it."""
    sections = (
        ("Findings", findings_table(debate)),
        *((inert_line(section.title), nested(section.text, 2)) for section in verdict.sections),
        ("Implementation", nested(verdict.implementation, 2)),
        ("Consequences", bullets((*verdict.tradeoffs, *verdict.recommendations))),
        ("Requirements", requirements_table(verdict)),
        (
            "Requirements that are not met",
            "" if verdict.requirements else bullets(verdict.unmet_requirements),
        ),
        (criteria_title(debate), criteria_table(debate, verdict)),
        ("Dissent", nested(verdict.dissent, 2)),
        ("Revisit when", bullets(verdict.overturned_by)),
        ("Earlier decisions", bullets(earlier_words(verdict))),
        ("Open questions", bullets(verdict.open_questions)),
        ("Assumptions", bullets(assumptions(debate))),
        ("Confidence", confidence_words(verdict).removeprefix("Confidence: ")),
    )
    return [f"## {title}\n\n{text}" for title, text in sections if text]
