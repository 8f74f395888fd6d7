"""A debate as an architecture decision record, ready for `docs/decisions/` (pure)."""

from collections.abc import Iterator
from dataclasses import replace

from core.acts.verdict import decision_doubt
from core.debate.state import Debate
from core.debate.verdict import LIST_TITLES, OVERTURNED_BY, Verdict
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
from core.transcript.words import (
    as_markdown,
    blocks,
    body_words,
    bullets,
    confidence_words,
    line_words,
    nested,
    quotation,
    titled,
)

_TITLE_MAX_CHARS = 80
_TITLES = {LIST_TITLES["tradeoffs"]: "Consequences", OVERTURNED_BY: "Revisit when"}
_UNTITLED = {REASONS, SOLUTION}


def adr(debate: Debate) -> str:
    verdict = debate.verdict and cited_verdict(debate, debate.verdict)
    decided, titled_sections = [why_none(debate)], list[str]()
    if verdict:
        sections = [*verdict_sections(debate, verdict)]
        untitled = [body_words(each, 2) for each in sections if each.title in _UNTITLED]
        decided = [*decided_lines(debate, verdict), *untitled]
        for section in sections:
            if section.title not in _UNTITLED:
                title = _TITLES.get(section.title, section.title)
                titled_sections.append(as_markdown(replace(section, title=title), 2))
        sure = confidence_words(verdict).removeprefix("Confidence: ")
        titled_sections.append(titled("Confidence", sure))
    turned_out = inert_line(outcome_words(debate.outcome)) if debate.outcome else ""
    document = blocks(
        f"# {shown_as_is(title_of(debate))}{decision_doubt(debate)}",
        bullets(_facts(debate)),
        titled("Context", quotation(debate.setup.question), nested(debate.setup.context, 2)),
        titled("Sources", bullets(_sources(debate))),
        titled("Options considered", bullets(positions_words(debate))),
        titled("Decision", *decided),
        *titled_sections,
        titled("How it turned out", turned_out),
        titled("How it was decided", bullets(_how_decided(debate, verdict))),
    )
    return f"{document}\n"


def _how_decided(debate: Debate, verdict: Verdict | None) -> Iterator[str]:
    yield f"Agents: {', '.join(f'{agent.name} ({agent.role})' for agent in debate.setup.agents)}."
    if playbook := debate.setup.playbook:
        yield f"Playbook: {playbook.title}."
    yield from (line_words(line).removeprefix("Vote: ") for line in vote_lines(debate, verdict))
    yield from (*round_reasons(debate), *ending_sentences(debate))


def _facts(debate: Debate) -> Iterator[str]:
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
    for source in debate.evidence:
        title, address = title_in(debate, source), source.reference.address
        is_link = address.startswith(("https://", "http://")) and address != source.reference.title
        yield inert_line(f"{source.id}: {title}" + (f" ({address})" if is_link else ""))


def title_of(debate: Debate) -> str:
    line = decided_or_asked(debate).rstrip(".")
    if len(line) <= _TITLE_MAX_CHARS:
        return line
    return line[:_TITLE_MAX_CHARS].rsplit(None, 1)[0].rstrip(",;: ") + "…"
