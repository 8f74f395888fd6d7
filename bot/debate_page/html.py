"""Markdown as HTML that does nothing: no tag, no image, no style, no link but to the web (pure)."""

import re
from collections.abc import Collection, Iterator, Sequence
from html import escape
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from core.transcript.markdown import PARSER, parsed, visible

#: Signs of a whole section of a page; it is made beside everything else, and shown often.
_MOST_SIGNS = 30_000
#: Characters of one text that a page shows.
MOST_CHARACTERS = 100_000
_CUT = "\n\n(Cut here: the debate's report has all of it.)"
_LINKS = ("http://", "https://", "mailto:", "#")
_DEEPEST = 6
#: How sources are cited.
_SOURCE = re.compile(r"\b[ed][0-9]{1,4}\b")


class _Renderer(RendererHTML):
    """The library's own, but for tables, which scroll on a phone, and images, which are words."""

    def table_open(self, *_: Any) -> str:
        return '<div class="table" role="group" tabindex="0" aria-label="Table">\n<table>\n'

    def table_close(self, *_: Any) -> str:
        return "</table>\n</div>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        del options, env
        address = str(tokens[idx].attrs.get("src", ""))
        return escape(f"{tokens[idx].content} ({address})")

    def footnoted(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        """Text outside of links, with a link to each source it cites."""
        known = tokens[idx].meta["sources"]

        def linked(found: re.Match[str]) -> str:
            return f'<a href="#{found[0]}">{found[0]}</a>' if found[0] in known else found[0]

        return _SOURCE.sub(linked, escape(tokens[idx].content))


_RENDERER = _Renderer()


def html(text: str, level: int, sources: Collection[str] = ()) -> Markup:
    """Markdown as HTML whose headings all lie below a heading of that level, none left out.

    Args:
        text: Markdown of anybody. Text that is no formatting, because it has too many signs or is
            far too deep, is shown as it is.
        level: That of the heading above it.
        sources: Ids of sources, which stand on the page under these names.
    """
    shown = _bounded(text)
    tokens = parsed(shown, _MOST_SIGNS)
    if tokens is None:
        return Markup('<p class="plain">{}</p>').format(shown)
    last, in_link = level, False
    for token in _all(tokens):
        match token.type:
            case "heading_open":
                last = max(min(int(token.tag[1:]), last + 1, _DEEPEST), level + 1)
                token.tag = f"h{last}"
            case "heading_close":
                token.tag = f"h{last}"
            case "link_open":
                in_link, address = True, str(token.attrs.get("href", ""))
                is_safe = address.lower().startswith(_LINKS)
                rel = "noopener noreferrer nofollow"
                token.attrs = {"href": address, "rel": rel} if is_safe else {}
            case "link_close":
                in_link = False
            case "text" if sources and not in_link:
                token.type, token.meta = "footnoted", {"sources": sources}
            case "th_open":
                token.attrs = {"scope": "col"}
            case "td_open":
                token.attrs = {}  # its style would not be obeyed
            case _:
                pass
    return Markup(_RENDERER.render(tokens, PARSER.options, {}))  # noqa: S704 - escaped above


def line(text: str) -> Markup:
    """One line of Markdown as HTML that stands in a line."""
    shown = html(" ".join(_bounded(text).split()), 1).strip()
    return Markup(shown.removeprefix("<p>").removesuffix("</p>"))  # noqa: S704 - as above


def _bounded(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[:MOST_CHARACTERS]}{_CUT}"


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    """Every token in reading order, those inside lines too."""
    for token in tokens:
        yield token
        yield from token.children or ()
