"""Evidence in turns: the passages of sources in prompts, and the check of quotes (pure)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from core.acts.act import ACTS
from core.debate.contributions import Contribution
from core.debate.evidence import Citation, CitationStatus
from core.debate.state import Debate, cached_per_sources
from core.debate.turn import Act, Turn
from core.debate.verdict import Quoting
from core.evidence.citations import check_citations, render_citations
from core.evidence.passages import Passage, best_first, headings_of, passages_of
from core.figures import number, quantity
from core.request import ModelRequest, Part, PartKind
from core.rules.formats import review

Q = TypeVar("Q", bound=Quoting)
#: Most headings of a source in its line of the table of contents.
_HEADINGS = 12
_HEADING_CHARS = 60
#: Most characters about what the reader of a source left out.
_REMARK_CHARS = 600
_LOOK_UP = re.compile(r"[`*\s]*LOOK UP:[`*]*\s*(?P<words>[^\n]{2,300}?)[`*\s]*", re.IGNORECASE)
#: The subject of a review may be this many times as long as the evidence of a question.
_SUBJECT_FACTOR = 4


@cached_per_sources
def source_parts(debate: Debate) -> Sequence[Part]:
    """The table of contents and the best passages for the question, the same for all agents."""
    sources = debate.evidence
    if not sources:
        return ()
    by_source, counts = _shown_passages(debate)
    lines = list[str]()
    for source in sources:
        total, shown = counts[source.id], len(by_source[source.id])
        whole = "what was read is below" if source.warnings else "in full below"
        extent = whole if total == shown else f"{shown} of {quantity(total, 'passage')} below"
        remarks = "; ".join(map(_in_line, ("", *source.warnings)))[:_REMARK_CHARS]
        title, person = _in_line(source.reference.title), _in_line(source.reference.by.name)
        origin = f", brought by {person}" if person else ""
        size = quantity(len(source.text), "character")
        kind = source.reference.kind.value
        lines.append(f"{source.id}: {title} ({kind}{origin}; {size}, {extent}{remarks})")
        headings = [heading[:_HEADING_CHARS] for heading in headings_of(source)[:_HEADINGS]]
        if headings and total > 1:
            lines.append(f"    It has: {'; '.join(map(_in_line, headings))}")
    contents = Part(kind=PartKind.SOURCE, label="Sources: what there is", text="\n".join(lines))
    passages = [
        Part(
            kind=PartKind.SOURCE,
            label=f"Source {source.id}: {_in_line(source.reference.title)}",
            text=_laid_out(by_source[source.id]),
            trim_priority=3,
        )
        for source in sources
        if by_source[source.id]
    ]
    return (contents, *passages)


def quote_check_parts(debate: Debate, turn: Turn) -> Sequence[Part]:
    """Quotes of the agent's last text that were not found; for the judge, counts of all quotes."""
    contributions = debate.contributions.values()
    if turn.act is Act.SYNTHESIS:
        label, lines = "Quotes that were checked", list[str]()
        for agent in debate.setup.agents:
            texts = [
                contribution
                for contribution in contributions
                if contribution.turn.agent == agent.id and not contribution.carried_from
            ]
            if citations := [citation for text in texts for citation in text.citations]:
                count = sum(citation.status is CitationStatus.VERIFIED for citation in citations)
                failures = number(len(_unverified(citations)))
                lines.append(
                    f"{agent.name}: {quantity(count, 'quote')} verified, {failures} struck out"
                )
    else:
        label = "Quotes of your last text that were struck out: they do not stand in the source"
        texts = [text for text in contributions if text.turn.agent == turn.agent]
        citations = texts[-1].citations if texts and ACTS[turn.act].is_speech else ()
        lines = [
            f'{citation.source}: "{citation.words}" ({citation.fault})'
            for citation in _unverified(citations)
        ]
    return (Part(kind=PartKind.OTHER, label=label, text="\n".join(lines)),) if lines else ()


def may_cite(debate: Debate, turn: Turn) -> bool:
    cites = ACTS[turn.act].is_speech or turn.act in {Act.SYNTHESIS, Act.SHADOW}
    return bool(debate.evidence) and cites


def may_look_up(debate: Debate, turn: Turn) -> bool:
    """Whether the turn may ask for passages that its prompt does not include."""
    return (
        may_cite(debate, turn) and ACTS[turn.act].is_speech and bool(hidden_passage_counts(debate))
    )


def lookup_query(reply: str) -> str:
    match = _LOOK_UP.fullmatch(reply.strip())
    return match["words"].strip() if match else ""


def with_lookup_result(debate: Debate, request: ModelRequest, words: str) -> ModelRequest:
    room, lines = debate.setup.evidence_characters // 4, list[str]()
    visible = {passage for passages in _shown_passages(debate)[0].values() for passage in passages}
    everything = [passage for source in debate.evidence for passage in passages_of(source)]
    hidden = [passage for passage in everything if passage not in visible]
    for passage in best_first(hidden, words):
        if len(passage.text) <= room:
            room -= len(passage.text)
            under = f", {passage.heading}" if passage.heading else ""
            lines.append(f"{passage.source} ({passage.place}{under})\n{passage.text}")
    text = "\n\n".join(lines) or "Nothing fits these words."
    part = Part(kind=PartKind.SOURCE, label="What you looked up", text=text, trim_priority=3)
    *parts, task = request.parts
    instruction = "You have looked up what you wanted, quoted above. Now write your text."
    return replace(
        request, parts=(*parts, part, replace(task, text=f"{task.text}\n\n{instruction}"))
    )


def hidden_passage_counts(debate: Debate) -> Mapping[str, int]:
    by_source, counts = _shown_passages(debate)
    missing = {name: count - len(by_source[name]) for name, count in counts.items()}
    return {name: count for name, count in missing.items() if count}


def with_checked_quotes(debate: Debate, contribution: Contribution) -> Contribution:
    """The contribution with its quotes checked; quotes that are not found are struck out.

    Its answer and points are kept without quotes.
    """
    text, citations = check_citations(contribution.text, debate.evidence)
    count = len(_unverified(citations))
    warning = f"{quantity(count, 'quote')} not found in the sources, and struck out."
    return contribution.model_copy(
        update={
            "text": text,
            "answer": without_quotes(contribution.answer),
            "points": tuple(map(without_quotes, contribution.points)),
            "citations": citations,
            "warnings": (*contribution.warnings, *([warning] if count else ())),
        }
    )


def with_checked_evidence(debate: Debate, value: Q) -> Q:
    citations: dict[Citation, None] = {}

    def check(text: str) -> str:
        text, text_citations = check_citations(text, debate.evidence)
        citations.update(dict.fromkeys(text_citations))
        return text

    return value.with_texts(check).model_copy(update={"citations": tuple(citations)})


def without_quotes(text: str) -> str:
    return _in_line(render_citations(text, lambda _citation, _is_verified: ""))


@cached_per_sources
def _shown_passages(debate: Debate) -> tuple[Mapping[str, Sequence[Passage]], Mapping[str, int]]:
    """The passages of each source that prompts show, in order, and the number of all passages.

    The choice depends only on the question and its context. So all prompts begin with the same
    text, which vendors can cache.
    """
    sources, room = debate.evidence, debate.setup.evidence_characters
    room *= _SUBJECT_FACTOR if debate.setup.format == review.NAME else 1
    cut = {source.id: passages_of(source) for source in sources}
    counts = {name: len(passages) for name, passages in cut.items()}
    by_source = {name: list[Passage]() for name in cut}
    if sum(len(source.text) for source in sources) <= room:
        return cut, counts
    query = f"{debate.setup.question}\n{debate.setup.context}"
    everything = [passage for passages in cut.values() for passage in passages]
    # The first passage introduces its source; passages that fit the question have priority.
    first = [passages[0] for passages in cut.values() if passages]
    for passage in dict.fromkeys((*best_first(everything, query), *first)):
        if len(passage.text) <= room:
            by_source[passage.source].append(passage)
            room -= len(passage.text)
    for passages in by_source.values():
        passages.sort(key=lambda passage: passage.number)
    return by_source, counts


def _laid_out(passages: Sequence[Passage]) -> str:
    lines, previous = list[str](), 0
    for passage in passages:
        if passage.number != previous + 1:
            lines.append("[…]\n")
        under = f", {passage.heading}" if passage.heading else ""
        lines.append(f"({passage.place}{under})\n{passage.text}\n")
        previous = passage.number
    return "\n".join(lines).rstrip()


def _unverified(citations: Sequence[Citation]) -> Sequence[Citation]:
    return [
        citation
        for citation in citations
        if citation.status is CitationStatus.UNVERIFIED and citation.words
    ]


def _in_line(text: str) -> str:
    return " ".join(text.split())
