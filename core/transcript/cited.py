"""Checked quotes as people read them: the words, and a link to where they stand (pure)."""

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
    "Only quotes were checked: those with a place were found there, those struck out were not."
)


def link_citations(text: str, citations: Iterable[Citation]) -> str:
    """A checked text as Markdown: each verified quote with its source, page or line as a link.

    `text`: as recorded, with unverified quotes struck out.
    """
    by_words = {(citation.source, citation.words): citation for citation in citations}

    def show(mention: RawCitation, is_verified: bool) -> str:  # noqa: FBT001 - the port's
        citation = by_words.get((mention.source, mention.words))
        if not mention.words:
            return f"[{mention.source}]"
        if not is_verified:
            return f"~~“{mention.words}”~~ (not found in {mention.source})"
        # A message of a thread begins with who wrote it, as its place does.
        who = f"{citation.place.partition(', ')[0]}: " if citation else ""
        place = where(citation) if citation else mention.source
        return f"“{mention.words.removeprefix(who)}” ({place})"

    return render_citations(text, show)


def decision_line(verdict: Verdict) -> str:
    # Where half of a sentence was recorded, its marks may have lost their other half.
    return plain_line(link_citations(verdict.decision, verdict.citations)).replace("**", "")


def decided_or_asked(debate: Debate) -> str:
    return decision_line(debate.verdict) if debate.verdict else plain_line(debate.setup.question)


def cited_verdict(debate: Debate, verdict: Verdict) -> Verdict:
    """The verdict with the quotes in its texts as people read them, its decision on a plain line.

    Reasons without a quote say so, if the debate has sources.
    """
    cited = verdict.with_texts(lambda text: link_citations(text, verdict.citations))
    bare = " (no source quoted)" if debate.evidence else ""
    reasons = tuple(
        reason if citations_in(text) else f"{reason}{bare}"
        for text, reason in zip(verdict.reasons, cited.reasons, strict=True)
    )
    return cited.model_copy(update={"decision": decision_line(verdict), "reasons": reasons})


def where(citation: Citation) -> str:
    words = ", ".join(filter(None, (citation.source, citation.place)))
    words = words.replace("[", "(").replace("]", ")")
    if not citation.address.startswith(("https://", "http://")):
        return words
    return f"[{words}]({quote(citation.address, safe=':/?#@!$&*+,;=%~-._')})"


def check_words(debate: Debate) -> str:
    reasons = debate.verdict.reasons if debate.verdict else ()
    return _CHECKED if any(map(citations_in, reasons)) else ""


def title_in(debate: Debate, source: Source) -> str:
    """A source's title; in a review with what it is: "plan.md (the changed text)"."""
    role = source_role(debate, source)
    return f"{source.reference.title} ({role})" if role else source.reference.title


def source_names(debate: Debate, text: str) -> str:
    """Which sources are meant by the ids in a text: `e1 is load.md, e2 is costs.csv.`; else ""."""
    ids = set(_SOURCE_ID.findall(text))
    named = [f"{it.id} is {title_in(debate, it)}" for it in debate.evidence if it.id in ids]
    return f"{', '.join(named)}." if named else ""


def source_words(source: Source) -> str:
    """A source in a few words: "load.md, 1,200 characters", or why it could not be read."""
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
            title_in(debate, source),
            source.reference.by.display_name,
            source.fault or "; ".join((quantity(len(source.text), "character"), *source.warnings)),
            source.reference.address,
        )
        for source in debate.sources
        if source.text or source.fault
    ]
    return titled("Sources", table(("", "Title", "Brought by", "Read", "Where"), rows))
