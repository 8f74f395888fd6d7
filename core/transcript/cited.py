"""Checked quotes in the form that people read: the words and a link to their place (pure)."""

import re
from collections.abc import Iterable
from urllib.parse import quote

from core.debate.evidence import Citation, Source
from core.debate.state import Debate
from core.debate.verdict import Verdict
from core.evidence.citations import RawCitation, citations_in, render_citations
from core.figures import quantity
from core.rules.formats.review import source_role
from core.transcript.markdown import plain_line
from core.transcript.words import table, titled

_SOURCE_ID = re.compile(r"\be\d{1,3}\b")
_CHECKED = (
    "Only quotes were checked: quotes with a place were found there, "
    "struck-out quotes were not found."
)


def link_citations(text: str, citations: Iterable[Citation]) -> str:
    """A checked text as Markdown, each verified quote with a link to its source, page or line.

    `text` is as recorded, with unverified quotes struck out.
    """
    by_words = {(citation.source, citation.words): citation for citation in citations}

    def show(mention: RawCitation, is_verified: bool) -> str:  # noqa: FBT001 - the port's
        citation = by_words.get((mention.source, mention.words))
        if not mention.words:
            return f"[{mention.source}]"
        if not is_verified:
            return f"~~“{mention.words}”~~ (not found in {mention.source})"
        # A message in a thread begins with its author, and so does its place.
        author = f"{citation.place.partition(', ')[0]}: " if citation else ""
        place = citation_place(citation) if citation else mention.source
        return f"“{mention.words.removeprefix(author)}” ({place})"

    return render_citations(text, show)


def decision_line(verdict: Verdict) -> str:
    # A decision that was recorded in part can have opening marks without closing ones.
    return plain_line(link_citations(verdict.decision, verdict.citations)).replace("**", "")


def decision_or_question(debate: Debate) -> str:
    return decision_line(debate.verdict) if debate.verdict else plain_line(debate.setup.question)


def cited_verdict(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict with the quotes in its texts as people read them, and its decision as one line.

    If the debate has sources, reasons without a quote say so.
    """
    linked = verdict.with_texts(lambda text: link_citations(text, verdict.citations))
    remark = " (no source quoted)" if debate.evidence else ""
    reasons = tuple(
        reason if citations_in(text) else f"{reason}{remark}"
        for text, reason in zip(verdict.reasons, linked.reasons, strict=True)
    )
    return linked.model_copy(update={"decision": decision_line(verdict), "reasons": reasons})


def citation_place(citation: Citation) -> str:
    words = ", ".join(filter(None, (citation.source, citation.place)))
    words = words.replace("[", "(").replace("]", ")")
    if not citation.address.startswith(("https://", "http://")):
        return words
    return f"[{words}]({quote(citation.address, safe=':/?#@!$&*+,;=%~-._')})"


def check_note(debate: Debate) -> str:
    reasons = debate.verdict.reasons if debate.verdict else ()
    return _CHECKED if any(map(citations_in, reasons)) else ""


def source_title(debate: Debate, source: Source) -> str:
    """A source's title; in a review with its role: "plan.md (the changed text)"."""
    role = source_role(debate, source)
    return f"{source.reference.title} ({role})" if role else source.reference.title


def source_names(debate: Debate, text: str) -> str:
    """The titles for source ids in a text: `e1 is load.md, e2 is costs.csv.`; empty without ids."""
    ids = set(_SOURCE_ID.findall(text))
    names = [
        f"{source.id} is {source_title(debate, source)}"
        for source in debate.evidence
        if source.id in ids
    ]
    return f"{', '.join(names)}." if names else ""


def source_words(source: Source) -> str:
    """A source in a few words: "load.md, 1,200 characters", or the reason why it was not read."""
    title = source.reference.title
    return (
        f"{title}: could not be read: {source.fault}"
        if source.fault
        else f"{title}, {quantity(len(source.text), 'character')}"
    )


def sources_section(debate: Debate) -> str:
    rows = [
        (
            source.id,
            source_title(debate, source),
            source.reference.by.display_name,
            source.fault or "; ".join((quantity(len(source.text), "character"), *source.warnings)),
            source.reference.address,
        )
        for source in debate.sources
        if source.text or source.fault
    ]
    return titled("Sources", table(("", "Title", "Brought by", "Read", "Where"), rows))
