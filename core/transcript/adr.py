"""A debate as an architecture decision record, ready for `docs/decisions/` (pure)."""

from collections.abc import Iterator
from dataclasses import replace

from core.acts.verdict_faults import decision_doubt
from core.debate.state import Debate
from core.debate.verdict import LIST_TITLES, OVERTURNED_BY
from core.figures import day
from core.rules.ending import ending_sentences, round_reasons
from core.transcript.ballots import vote_lines
from core.transcript.cited import cited_verdict, decided_or_asked, title_in
from core.transcript.decision import (
    REASONS,
    SOLUTION,
    decided_lines,
    verdict_sections,
    why_none,
)
from core.transcript.markdown import inert_line, shown_as_is
from core.transcript.options import positions_words
from core.transcript.people import adr_status, outcome_words, standing_words
from core.transcript.sections import as_markdown, body_words, line_words
from core.transcript.words import bullets, confidence_words, nested, quotation

_TITLE_MAX_CHARS = 80
#: What such records call some sections.
_TITLES = {LIST_TITLES["tradeoffs"]: "Consequences", OVERTURNED_BY: "Revisit when"}
#: What stands right below the decision.
_UNTITLED = {REASONS, SOLUTION}


def adr(debate: Debate) -> str:
    """The decision record: context, decision, considered positions, consequences, dissent."""
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    parts = [
        f"# {shown_as_is(title_of(debate))}{decision_doubt(debate)}",
        bullets(_facts(debate)),
        f"## Context\n\n{quotation(debate.setup.question)}",
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
        parts += ["## Decision", *decided_lines(debate, verdict)]
        sections = [*verdict_sections(debate, verdict)]
        parts += [body_words(each, 2) for each in sections if each.title in _UNTITLED]
        for section in sections:
            if section.title not in _UNTITLED:
                title = _TITLES.get(section.title, section.title)
                parts.append(as_markdown(replace(section, title=title), 2))
        parts.append(f"## Confidence\n\n{confidence_words(verdict).removeprefix('Confidence: ')}")
    if debate.outcome:
        parts.append(f"## How it turned out\n\n{inert_line(outcome_words(debate.outcome))}")
    names = ", ".join(f"{agent.name} ({agent.role})" for agent in debate.setup.agents)
    playbook = debate.setup.playbook
    held_as = f"Playbook: {playbook.title}." if playbook else ""
    vote = [line_words(line).removeprefix("Vote: ") for line in vote_lines(debate, verdict)]
    lines = (f"Agents: {names}.", held_as, *vote, *round_reasons(debate), *ending_sentences(debate))
    how = bullets(filter(None, lines))
    parts.append(f"## How it was decided\n\n{how}")
    return "\n\n".join(part for part in parts if part) + "\n"


def _facts(debate: Debate) -> Iterator[str]:
    """State of the decision, date, who decided and who asked."""
    state = standing_words(debate)
    still = f" ({state})" if state and not debate.decision else ""
    yield f"Status: {adr_status(debate)}{still}"
    yield f"Date: {day(debate.ended_at or debate.now)}"
    if newest := debate.decision:
        at = debate.times.get(f"decision/{newest.origin}", debate.now)
        yield f"Decided by: {newest.by.display_name}, {day(at)}"
        if newest.why.strip():
            yield f"Why: {newest.why}"
    yield f"Asked by: {debate.setup.asked_by.display_name}"
    yield f"Source: Moot debate `{debate.id}`"


def _sources(debate: Debate) -> Iterator[str]:
    """What was read, by the names by which it is cited."""
    for source in debate.evidence:
        title, address = title_in(debate, source), source.reference.address
        is_link = address.startswith(("https://", "http://")) and address != source.reference.title
        yield inert_line(f"{source.id}: {title}" + (f" ({address})" if is_link else ""))


def title_of(debate: Debate) -> str:
    """What was decided, or asked, in one short line."""
    line = decided_or_asked(debate).rstrip(".")
    if len(line) <= _TITLE_MAX_CHARS:
        return line
    return line[:_TITLE_MAX_CHARS].rsplit(None, 1)[0].rstrip(",;: ") + "…"
