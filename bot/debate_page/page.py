"""A debate as an HTML page: first the decision, then the debate (pure)."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from core.debate.agents import EXAMPLE, OFFLINE
from core.debate.contributions import Contribution
from core.debate.evidence import Citation, Source
from core.debate.state import Debate
from core.figures import when
from core.rules.ending import state_words
from core.transcript.cited import link_citations, source_words
from core.transcript.decision import notes_section, single_answer_section, verdict_section
from core.transcript.markdown import PARSER, parse, visible
from core.transcript.people import follow_ups_section, team_section
from core.transcript.report import (
    about_rows,
    by_round,
    clarifications_section,
    guidance_words,
    is_solution,
    origin_words,
    round_name,
    spending_section,
    title_words,
)
from core.transcript.vote import vote_section
from core.transcript.words import as_markdown, name_of, nested, quotation

#: Most Markdown tokens of a section, so that a page takes little time to render.
_MOST_SIGNS = 30_000
#: Most characters of one text on a page.
MOST_CHARACTERS = 100_000
_CUT = "\n\n(Shortened: the debate's report has the full text.)"
_LINKS = ("http://", "https://", "mailto:", "#")
_DEEPEST = 6
#: Ids of sources in texts.
_SOURCE = re.compile(r"\b[ed][0-9]{1,4}\b")


class _Renderer(RendererHTML):
    """HTML renderer with scrollable tables, and with images replaced by their text and address."""

    def table_open(self, *_: Any) -> str:
        return '<div class="table" role="group" tabindex="0" aria-label="Table">\n<table>\n'

    def table_close(self, *_: Any) -> str:
        return "</table>\n</div>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        del options, env
        address = str(tokens[idx].attrs.get("src", ""))
        return escape(f"{tokens[idx].content} ({address})")

    def cited_text(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        """Text outside of links, with links to the sources it cites."""
        source_ids = tokens[idx].meta["sources"]

        def link(match: re.Match[str]) -> str:
            return f'<a href="#{match[0]}">{match[0]}</a>' if match[0] in source_ids else match[0]

        return _SOURCE.sub(link, escape(tokens[idx].content))


_RENDERER = _Renderer()


def html(text: str, level: int, sources: Collection[str] = ()) -> Markup:
    """Markdown as HTML.

    Text with too many tokens, or with too deep nesting, becomes plain text.

    Args:
        text: The Markdown.
        level: Headings are below this level, without gaps between levels.
        sources: Ids of sources that have an anchor on the page.
    """
    text = _shorten(text)
    tokens = parse(text, _MOST_SIGNS)
    if tokens is None:
        return Markup('<p class="plain">{}</p>').format(text)
    last, in_link = level, False
    for token in (item for block in tokens for item in (block, *(block.children or ()))):
        match token.type:
            case "heading_open":
                last = max(min(int(token.tag[1:]), last + 1, _DEEPEST), level + 1)
                token.tag = f"h{last}"
            case "heading_close":
                token.tag = f"h{last}"
            case "link_open":
                in_link, token.attrs = True, _link_attributes(str(token.attrs.get("href", "")))
            case "link_close":
                in_link = False
            case "text" if sources and not in_link:
                token.type, token.meta = "cited_text", {"sources": sources}
            case "th_open":
                token.attrs = {"scope": "col"}
            case "td_open":
                token.attrs = {}  # the Content-Security-Policy forbids its style
            case _:
                pass
    return Markup(_RENDERER.render(tokens, PARSER.options, {}))  # noqa: S704 - escaped above


def _link_attributes(address: str) -> dict[str, str | int | float]:
    """The attributes of a link; none if its scheme is not allowed."""
    is_safe = address.lower().startswith(_LINKS)
    return {"href": address, "rel": "noopener noreferrer nofollow"} if is_safe else {}


def line(text: str) -> Markup:
    """One line of Markdown as inline HTML."""
    fragment = html(" ".join(_shorten(text).split()), 1).strip()
    return Markup(fragment.removeprefix("<p>").removesuffix("</p>"))  # noqa: S704 - as above


def _shorten(text: str) -> str:
    text = visible(text)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}{_CUT}"


_FOLDER = Path(__file__).parent
_TEMPLATES = Environment(
    loader=FileSystemLoader(_FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    # Invisible characters can reverse or hide text.
    finalize=lambda value: visible(value) if type(value) is str else value,  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType] - jinja2 leaves it untyped
)
#: The style sheet of all pages.
STYLE = (_FOLDER / "page.css").read_text(encoding="utf-8")
#: Longest question in a heading, in characters; a longer one is shortened there and shown below.
_LONGEST_HEADING = 240
#: A note on the authors of the text.
_BY_MODELS = "Written by AI agents, who can be wrong: check what matters before you act on it."
_NOTES = {
    OFFLINE: "Built from checklists by rules: no AI model was asked.",
    EXAMPLE: "A written example, played by the real engine: no AI model was asked.",
}


@dataclass(frozen=True)
class PageSection:
    anchor: str
    title: str
    body: Markup


@dataclass(frozen=True, kw_only=True)
class PageTurn:
    title: Markup
    origin: Markup
    text: Markup
    warnings: Sequence[str] = ()


def page(debate: Debate, until: datetime) -> str:
    """The page of a debate; `until` is the end of the link's validity."""
    question = " ".join(visible(debate.setup.question).split())
    is_long = len(question) > _LONGEST_HEADING
    source_ids = {source.id for source in debate.sources}
    providers = {agent.provider for agent in (*debate.setup.agents, debate.setup.judge)}
    parts = {
        "decision": verdict_section(debate, with_question=False),
        "vote": vote_section(debate),
        "alone": single_answer_section(debate),
        "team": team_section(debate),
        "asked": follow_ups_section(debate),
        "notes": as_markdown(notes_section(debate, debate.verdict), 2),
        "clarifications": clarifications_section(debate),
        "cost": spending_section(debate),
    }
    partitions = {anchor: text.partition("\n\n") for anchor, text in parts.items()}
    sections = [
        PageSection(anchor, title.removeprefix("## "), html(body, 2, source_ids))
        for anchor, (title, _, body) in partitions.items()
        if title
    ]
    context = debate.setup.context
    return _TEMPLATES.get_template("page.html.j2").render(
        heading=f"{question[:_LONGEST_HEADING].rsplit(None, 1)[0]}…" if is_long else question,
        written_by=_NOTES.get("/".join(providers), _BY_MODELS),
        question=html(quotation(debate.setup.question), 1) if is_long else "",
        context=html(nested(context, 2), 2, source_ids) if context else "",
        status=state_words(debate),
        started=when(debate.started_at),
        until=when(until),
        debate_id=debate.id,
        before=[section for section in sections if section.anchor != "cost"],
        after=[section for section in sections if section.anchor == "cost"],
        rounds=[
            (
                number,
                round_name(number),
                [_page_turn(debate, contribution, source_ids) for contribution in contributions],
            )
            for number, contributions in by_round(debate).items()
        ],
        guidance=[
            (guidance.turn.round, *map(line, guidance_words(guidance)))
            for guidance in debate.guidance.values()
        ],
        evidence=list(_evidence(debate)),
        about=[(name, line(value)) for name, value in about_rows(debate)],
    )


def absent() -> str:
    return _TEMPLATES.get_template("absent.html.j2").render()


def _page_turn(debate: Debate, contribution: Contribution, source_ids: Collection[str]) -> PageTurn:
    title = line(title_words(debate, contribution))
    origin = line(origin_words(debate, contribution))
    if contribution.carried_from or contribution.call is None:
        return PageTurn(title=title, origin=origin, text=Markup())
    if is_solution(debate, contribution):
        text = Markup("<p>Its text is the solution in the decision above.</p>")
    else:
        markdown = link_citations(contribution.text, contribution.citations)
        text = html(nested(markdown, 4), 4, source_ids)
    return PageTurn(title=title, origin=origin, text=text, warnings=contribution.warnings)


def _evidence(debate: Debate) -> Iterator[tuple[Source, str, Sequence[tuple[str, Citation]]]]:
    """Every source with a text or a fault, its description, and its quotes by speaker."""
    quotes = [
        (name_of(debate, contribution.turn.agent), citation)
        for contribution in debate.contributions.values()
        if not contribution.carried_from
        for citation in contribution.citations
    ]
    if debate.verdict:
        quotes += [("the judge", citation) for citation in debate.verdict.citations]
    for source in debate.sources:
        if source.text or source.fault:
            source_quotes = [(name, quote) for name, quote in quotes if quote.source == source.id]
            yield source, source_words(source), source_quotes
